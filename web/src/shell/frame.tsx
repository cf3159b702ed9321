import { Link, Outlet, useNavigate, useRouter, useRouterState } from "@tanstack/react-router";
import {
  Command as CommandIcon,
  Ellipsis,
  HelpCircle,
  Keyboard,
  LogOut,
  Moon,
  PanelLeft,
  Plus,
  Radio,
  Sun,
  User,
} from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { signOut, useApp } from "~/api/app";
import { live } from "~/live";
import { Button } from "~/ui/button";
import { Menu } from "~/ui/menu";
import { Box, fillBox, usePasteAnywhere } from "./box";
import { type Command, useCommands } from "./commands";
import { useOutbox } from "./device";
import css from "./frame.module.css";
import { useKeys } from "./keys";
import { LiveLine } from "./live-line";
import { currentLook, setLook } from "./look";
import { PANEL_SLOT } from "./panel-slot";
import { entriesFor, type RailEntry } from "./rail";
import { RailLink } from "./rail-link";
import { Toasts } from "./toasts";

type Open = "palette" | "help" | "more" | undefined;

/** What every page shares: rail, top bar with the box, content, panel, tray, toasts and keys. */
export function Frame({ rail }: { rail: RailEntry[] }) {
  const app = useApp();
  const navigate = useNavigate();
  const { history } = useRouter();
  const [open, setOpen] = useState<Open>();
  const entries = useMemo(() => entriesFor(app, rail), [app, rail]);
  const close = () => setOpen(undefined);
  const later = useLater();
  const here = useRouterState({ select: (state) => state.location.pathname });
  const isHome = here === "/";

  useKeys();
  usePasteAnywhere();
  useFocusAfterNavigation();
  useOutbox();
  useCommands([
    ...entries.map(
      (entry): Command => ({
        id: `go ${entry.to}`,
        title: entry.title,
        group: "Go to",
        keys: entry.key && `g ${entry.key}`,
        icon: entry.icon,
        run: () => void navigate({ to: entry.to }),
      }),
    ),
    { id: "account", title: "Account", group: "Go to", icon: User, run: () => void navigate({ to: "/account" }) },
    { id: "box", title: "Save or search", group: "Do", keys: "/", icon: Plus, run: () => fillBox() },
    {
      id: "palette",
      title: "All commands",
      group: "Do",
      keys: "mod+k",
      icon: CommandIcon,
      run: () => setOpen("palette"),
      hidden: true,
    },
    { id: "help", title: "Keys", group: "Do", keys: "?", icon: Keyboard, run: () => setOpen("help") },
    { id: "live", title: "Pause or continue updates", group: "Do", keys: "l", icon: Radio, run: () => live.toggle() },
    { id: "rail", title: "Narrow or widen the rail", group: "Do", keys: "[", icon: PanelLeft, run: toggleRail },
    { id: "theme", title: "Switch between light and dark", group: "Do", icon: Sun, run: toggleTheme },
    { id: "sign-out", title: "Sign out", group: "Do", icon: LogOut, run: () => void signOut() },
  ]);

  const main = entries.filter((entry) => entry.isMain).slice(0, 4);
  const isElsewhere = !main.some(({ to }) => here === to || (to !== "/" && here.startsWith(`${to}/`)));
  return (
    <div className={css.frame}>
      <a className={css.skip} href="#main">
        Skip to the content
      </a>
      <nav className={css.rail} aria-label="Pages">
        <Link to="/" className={css.brand}>
          <img src="/icons/icon.svg" alt="" />
          <span>forebay</span>
        </Link>
        <ul className={css.links}>
          {entries.map((entry, index) => (
            <li key={entry.to} data-first={entry.section !== entries[index - 1]?.section || undefined}>
              <RailLink entry={entry} className={css.link!} />
            </li>
          ))}
        </ul>
        <div className={css.foot}>
          <LiveLine />
        </div>
      </nav>
      <header className={css.bar}>
        {isHome ? (
          <Link to="/" className={css.small}>
            <img src="/icons/icon.svg" alt="" />
            <span>forebay</span>
          </Link>
        ) : (
          <Box />
        )}
        <div className={css.right}>
          <Button look="plain" icon aria-label="All commands" shortcut="Ctrl+K" onClick={() => setOpen("palette")}>
            <CommandIcon />
          </Button>
          <span className={css.onlyWide}>
            <Button look="plain" icon aria-label="Keys" shortcut="?" onClick={() => setOpen("help")}>
              <HelpCircle />
            </Button>
          </span>
          <Menu
            align="end"
            button={{ look: "plain", icon: true, "aria-label": `Account of ${app.me.name}`, children: <User /> }}
            items={[
              { label: `Account of ${app.me.name}`, icon: <User />, onSelect: () => void navigate({ to: "/account" }) },
              { label: "Light or dark", icon: <Moon />, onSelect: toggleTheme },
              null,
              { label: "Sign out", icon: <LogOut />, onSelect: () => void signOut() },
            ]}
          />
        </div>
      </header>
      <main id="main" className={css.main} tabIndex={-1}>
        <Outlet />
      </main>
      <aside id={PANEL_SLOT} className={css.slot} />
      <div className={css.stale}>
        <LiveLine />
      </div>
      <nav className={css.bottom} aria-label="Main pages">
        {main.map((entry) => (
          <RailLink key={entry.to} entry={entry} className={css.tab!} />
        ))}
        <button
          type="button"
          className={css.tab}
          data-status={isElsewhere ? "active" : undefined}
          onClick={() => setOpen("more")}
        >
          <Ellipsis aria-hidden="true" />
          <span>More</span>
        </button>
      </nav>
      <div className={css.corner}>
        <Toasts />
        {later && <later.Tray here={here} onGo={(href) => history.push(href)} />}
      </div>
      {later && <later.DropAnywhere />}
      {later && <later.SignInDialog name={app.me.name} />}
      {later && open === "palette" && <later.Palette onClose={close} onText={(text) => fillBox(text)} />}
      {later && open === "help" && <later.Help onClose={close} />}
      {later && open === "more" && <later.AllPages entries={entries} onClose={close} />}
    </div>
  );
}

/** What is not needed for the first picture: it is loaded right after, and then opens at once. */
function useLater() {
  const [loaded, setLoaded] = useState<typeof import("./later")>();
  useEffect(() => {
    void import("./later").then(setLoaded);
  }, []);
  return loaded;
}

/** After a change of page, the focus is on its heading. */
function useFocusAfterNavigation(): void {
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe("onRendered", ({ pathChanged, fromLocation }) => {
        if (!pathChanged || !fromLocation || document.querySelector("dialog[open]")) return;
        document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
      }),
    [router],
  );
}

function toggleRail(): void {
  setLook({ rail: currentLook().rail === "narrow" ? undefined : "narrow" });
}

function toggleTheme(): void {
  const isDark =
    (currentLook().theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  setLook({ theme: isDark ? "light" : "dark" });
}
