import { useQuery } from "@tanstack/react-query";
import {
  type AttachmentStatus,
  type Quota,
  quotaQuery,
  type Sender,
  sendersQuery,
  statusQuery,
} from "~/api/attachments";
import { duration, exact } from "~/format";
import { useTopics } from "~/live";
import { Page } from "~/shell/page";
import { Loaded } from "~/shell/trouble";
import { Copy } from "~/ui/copy";
import { Entries, Entry, Side, What } from "~/ui/entries";
import { Facts } from "~/ui/facts";
import { Notice } from "~/ui/notice";
import { Pill } from "~/ui/pill";
import { Prose } from "~/ui/prose";
import { Section } from "~/ui/section";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { sentence } from "~/words";
import css from "./attachments.module.css";
import { AttachmentPlaces } from "./places";
import { healthWords } from "./words";

export default function StatusPage() {
  useTopics("jobs");
  const status = useQuery(statusQuery);
  const quota = useQuery(quotaQuery);
  const senders = useQuery(sendersQuery);
  return (
    <Page title="Status of attachments">
      <AttachmentPlaces />
      <Loaded query={status} what="The status" loading={<SkeletonRows rows={9} height={32} />}>
        {(found) => <Worker status={found} />}
      </Loaded>
      <Section title="Senders">
        <Loaded query={senders} what="The senders" loading={<SkeletonRows rows={2} height={56} />}>
          {(found) =>
            found.length > 0 ? (
              <Senders senders={found} quotas={quota.data ?? []} />
            ) : (
              <p className="muted">No sender is set up for you.</p>
            )
          }
        </Loaded>
      </Section>
    </Page>
  );
}

function Worker({ status }: { status: AttachmentStatus }) {
  return (
    <div className="stack">
      <Notice kind={status.isHealthy ? "info" : "error"} title={healthWords(status)}>
        {status.lastError && sentence(status.lastError)}
      </Notice>
      <Facts
        facts={[
          ["Running", status.isRunning ? "Yes" : "No"],
          ["Healthy", status.isHealthy ? "Yes" : "No"],
          ["Up for", status.upSinceSeconds !== null && duration(Math.round(status.upSinceSeconds))],
          ["Last file", status.lastProcessed ? <Time key="last" value={status.lastProcessed} /> : "None yet"],
          ["Waiting", exact(status.pendingCount)],
          ["Downloaded", exact(status.processedCount)],
          ["Failed", exact(status.failedCount)],
          ["Last error", status.lastError ? sentence(status.lastError) : "None"],
        ]}
      />
    </div>
  );
}

function Senders({ senders, quotas }: { senders: Sender[]; quotas: Quota[] }) {
  return (
    <Entries label="Senders">
      {senders.map((sender) => {
        const quota = quotas.find(({ source }) => source === sender.name);
        return (
          <Entry key={sender.name}>
            <What name={sender.name}>
              <Side>
                {sender.isReady ? <Pill status="DONE">Set up</Pill> : <Pill status="PARKED" />} for {sender.owner}
              </Side>
              {sender.problem && (
                <Side>
                  <Prose text={sentence(sender.problem)} />
                </Side>
              )}
              <Copy text={`${location.origin}${sender.path}`} label="the address of the webhook" />
            </What>
            {quota && <QuotaBar quota={quota} />}
          </Entry>
        );
      })}
    </Entries>
  );
}

function QuotaBar({ quota }: { quota: Quota }) {
  const { perDay, perSecond, used, nextAt } = quota;
  return (
    <div className={css.quota}>
      {perDay !== null && (
        <meter
          aria-label={`Requests to ${quota.source} today`}
          min={0}
          max={perDay}
          high={perDay * 0.8}
          optimum={0}
          value={used}
        />
      )}
      <Side>
        {perDay === null ? exact(used) : `${exact(used)} of ${exact(perDay)}`} requests in 24 hours
        {perSecond !== null && `, at most ${perSecond} a second`}
        {nextAt && perDay !== null && used >= perDay && (
          <>
            ; the next is allowed <Time value={nextAt} />
          </>
        )}
      </Side>
    </div>
  );
}
