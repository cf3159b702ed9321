import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type Account, doctorQuery, type Finding, type Setting, settingsQuery, usersQuery } from "~/api/admin";
import { useApp } from "~/api/app";
import { queryClient } from "~/api/client";
import { steerQueue } from "~/api/ops";
import { ProblemError } from "~/api/problem";
import { Failed } from "~/shell/failed";
import { toast } from "~/shell/toasts";
import { Loaded } from "~/shell/trouble";
import { Button, buttonClass } from "~/ui/button";
import { Copy } from "~/ui/copy";
import { Facts } from "~/ui/facts";
import { Notice } from "~/ui/notice";
import { Prose } from "~/ui/prose";
import { Section } from "~/ui/section";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { plural, sentence } from "~/words";
import css from "./admin.module.css";
import { AdminPage } from "./admin-page";
import { fixOf, PAGES, pausedQueue } from "./fix";

/** The setting of each place, and where it is if that is not set. */
const PLACES: [string, string, string][] = [
  ["FOREBAY_DATABASE_URL", "Database", "PostgreSQL in the data folder"],
  ["FOREBAY_STORAGE_URL", "Files", "blobs in the data folder"],
  ["FOREBAY_DATA_DIR", "Data folder", ""],
];

/** What somebody wants to know who has just installed it: where data lies, who may sign in, what is missing. */
export default function InstallationPage() {
  const { version, pipelines } = useApp();
  const settings = useQuery(settingsQuery);
  const users = useQuery(usersQuery);
  const loading = <SkeletonRows rows={2} height={180} />;
  return (
    <AdminPage
      title="Administration"
      subtitle={`forebay ${version} with ${plural(pipelines.filter((each) => !each.internal).length, "pipeline")}.`}
    >
      <Loaded query={settings} what="The settings" loading={loading}>
        {(inForce) => (
          <Loaded query={users} what="The users" loading={loading}>
            {(accounts) => (
              <>
                <div className={css.cards}>
                  <Places settings={inForce.settings} />
                  <People users={accounts} />
                  <section className={css.card}>
                    <h2>Backup</h2>
                    <p>One file with the database and all stored files; everything keeps running meanwhile.</p>
                    <Copy text="forebay backup forebay.tar" label="the command" />
                  </section>
                </div>
                <Findings />
              </>
            )}
          </Loaded>
        )}
      </Loaded>
    </AdminPage>
  );
}

function Places({ settings }: { settings: Setting[] }) {
  return (
    <section className={css.card}>
      <h2>Where data lies</h2>
      <Facts
        facts={PLACES.map(([variable, word, otherwise]) => {
          const found = settings.find((setting) => setting.variable === variable);
          return [word, found && placeOf(found, otherwise)];
        })}
      />
      <Link to="/admin/settings">All settings</Link>
    </section>
  );
}

function placeOf(setting: Setting, otherwise: string): string {
  if (setting.value === null || setting.value === "") return otherwise;
  return setting.isSecret ? `as ${setting.variable} says` : String(setting.value);
}

function People({ users }: { users: Account[] }) {
  const open = users.filter((user) => user.disabledAt === null);
  const admins = open.filter((user) => user.role === "admin").map((user) => user.name);
  return (
    <section className={css.card}>
      <h2>Who may sign in</h2>
      <p>
        {plural(open.length, "account")}. Administrators: {admins.join(", ") || "none"}.
      </p>
      <Link to="/admin/invitations">Invite somebody</Link>
    </section>
  );
}

const LEVELS: Finding["level"][] = ["FAIL", "WARN", "OK"];

function Findings() {
  const query = useQuery(doctorQuery);
  const isElsewhere = query.error instanceof ProblemError && query.error.isGone;
  return (
    <Section title="What is missing">
      {isElsewhere ? (
        <div className={css.card}>
          <p>This API cannot examine its installation. On its machine, this does:</p>
          <Copy text="forebay doctor" label="the command" />
        </div>
      ) : (
        <Loaded query={query} what="The findings" loading={<SkeletonRows rows={4} height={64} />}>
          {({ findings, at }) => {
            const shown = LEVELS.slice(0, 2).flatMap((level) => findings.filter((each) => each.level === level));
            const well = findings.filter((each) => each.level === "OK");
            return (
              <>
                <p className="muted">
                  {shown.length === 0 ? "Nothing is missing" : plural(shown.length, "finding")}; examined{" "}
                  <Time value={at} />.
                </p>
                {shown.map((finding) => (
                  <FindingCard key={`${finding.about} ${finding.text}`} finding={finding} />
                ))}
                {well.length > 0 && (
                  <details>
                    <summary>{plural(well.length, "check")} without a finding</summary>
                    <ul>
                      {well.map((finding) => (
                        <li key={`${finding.about} ${finding.text}`}>
                          {finding.about}: {finding.text}
                        </li>
                      ))}
                    </ul>
                  </details>
                )}
              </>
            );
          }}
        </Loaded>
      )}
    </Section>
  );
}

/** What is missing, why, and the command or the button that gets it. */
function FindingCard({ finding }: { finding: Finding }) {
  const { command, words } = fixOf(finding.fix ?? "");
  const queue = pausedQueue(finding.fix);
  const page = PAGES[finding.about];
  const resume = useMutation({
    mutationFn: (name: string) => steerQueue(name, "resume"),
    onSuccess: (_, name) => {
      toast(`${name} runs again.`);
      // The server examines at most once a minute: what is done is taken off here.
      queryClient.setQueryData(doctorQuery.queryKey, (report) =>
        report ? { ...report, findings: report.findings.filter((each) => each.fix !== finding.fix) } : report,
      );
    },
  });
  return (
    <Notice
      kind={finding.level === "FAIL" ? "error" : "warn"}
      title={<Prose text={`${finding.about[0]!.toUpperCase()}${finding.about.slice(1)}: ${finding.text}`} />}
      actions={
        (queue || page) && (
          <>
            {queue && (
              <Button look="primary" busy={resume.isPending} onClick={() => resume.mutate(queue)}>
                Resume {queue}
              </Button>
            )}
            <Failed of={resume} what="The queue was not resumed." />
            {page && (
              <Link to={page.to} className={buttonClass()}>
                {page.title}
              </Link>
            )}
          </>
        )
      }
    >
      {words && <Prose text={sentence(words)} />}
      {command && !queue && <Copy text={command} label={`the command for ${finding.about}`} />}
    </Notice>
  );
}
