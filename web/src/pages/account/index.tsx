import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useApp } from "~/api/app";
import { Page } from "~/shell/page";
import { Tabs } from "~/ui/tabs";
import { DataTab } from "./data-tab";
import { LookTab } from "./look-tab";
import { PasswordTab } from "./password-tab";
import { SavingTab } from "./saving-tab";
import { SessionsTab } from "./sessions-tab";
import { TokensTab } from "./tokens-tab";

const route = getRouteApi("/account");

const TABS = [
  { key: "look", label: "Look and keys", Content: LookTab },
  { key: "password", label: "Password", Content: PasswordTab },
  { key: "sessions", label: "Sessions", Content: SessionsTab },
  { key: "tokens", label: "Tokens", Content: TokensTab },
  { key: "saving", label: "Save from elsewhere", Content: SavingTab },
  { key: "data", label: "Your data", Content: DataTab },
] as const;

export default function AccountPage() {
  const { me } = useApp();
  const { tab } = route.useSearch();
  const navigate = useNavigate({ from: "/account" });
  const { key, Content } = TABS.find((each) => each.key === tab) ?? TABS[0];
  return (
    <Page title="Account" subtitle={`${me.name}, ${me.role === "admin" ? "administrator" : "user"}`}>
      <Tabs
        label="Account"
        tabs={TABS.map((each) => ({ key: each.key, label: each.label }))}
        value={key}
        onChange={(next) => void navigate({ search: { tab: next }, replace: true })}
      >
        <Content />
      </Tabs>
    </Page>
  );
}
