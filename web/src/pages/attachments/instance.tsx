import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { FileText, RefreshCw } from "lucide-react";
import { type AttachmentFile, type InstanceDetail, instanceQuery, retryFiles } from "~/api/attachments";
import { bytes } from "~/format";
import { useTopics } from "~/live";
import { Failed } from "~/shell/failed";
import { Page } from "~/shell/page";
import { toast } from "~/shell/toasts";
import { Loaded } from "~/shell/trouble";
import { Button, buttonClass } from "~/ui/button";
import { Facts } from "~/ui/facts";
import { type Column, Table } from "~/ui/list";
import { Notice } from "~/ui/notice";
import { Pill } from "~/ui/pill";
import { Section } from "~/ui/section";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { Why } from "~/why/why";
import { plural, sentence, statusWord } from "~/words";
import css from "./attachments.module.css";
import { DeliveryTable } from "./delivery-table";
import { FILE_STATUSES, filesWords, nameOf, VOUCHERS } from "./words";

const route = getRouteApi("/attachments/$id");

export default function InstancePage() {
  const { id } = route.useParams();
  const query = useQuery(instanceQuery(id));
  const instance = query.data;
  const jobId = instance?.waitingJobId;
  useTopics("jobs", ...(jobId ? [`items:${jobId}`] : []));
  return (
    <Page
      title={instance ? nameOf(instance) : "Attachments"}
      subtitle={
        <>
          <Link to="/attachments">Attachments</Link>
          {instance && `, ${filesWords(instance)}`}
        </>
      }
      actions={instance && <Voucher instance={instance} />}
    >
      <Loaded query={query} what="The instance" loading={<SkeletonRows rows={6} height={40} />}>
        {(found) => <Whole instance={found} />}
      </Loaded>
    </Page>
  );
}

function Voucher({ instance }: { instance: InstanceDetail }) {
  if (!instance.voucherUrl) return null;
  return (
    <a href={instance.voucherUrl} className={buttonClass("primary")} target="_blank" rel="noreferrer">
      <FileText /> <span>{VOUCHERS[instance.voucher]}</span>
    </a>
  );
}

function Whole({ instance }: { instance: InstanceDetail }) {
  return (
    <div className="stack">
      {instance.why && (
        <Notice kind={instance.problem ? "error" : "info"} title={VOUCHERS[instance.voucher]}>
          {sentence(instance.why)}
        </Notice>
      )}
      {instance.waitingJobId && <Why jobId={instance.waitingJobId} />}
      <Files instance={instance} />
      {instance.facts.length > 0 && (
        <Section title="Form">
          <Facts facts={instance.facts.map(({ name, value }) => [name, value])} />
        </Section>
      )}
      <Section title="Facts">
        <Facts
          facts={[
            ["Sender", instance.source],
            ["Key", <code key="key">{instance.key}</code>],
            ["State", instance.state && statusWord(instance.state)],
            ["Received", <Time key="received" value={instance.receivedAt} />],
            ["Form read", instance.readAt && <Time value={instance.readAt} />],
            ["All files settled", instance.settledAt && <Time value={instance.settledAt} />],
            ["Size", instance.bytes > 0 && bytes(instance.bytes)],
            [
              "Job",
              instance.jobId && (
                <Link to="/jobs/$jobId" params={{ jobId: instance.jobId }}>
                  {instance.jobId}
                </Link>
              ),
            ],
          ]}
        />
      </Section>
      <Section title="Deliveries">
        <DeliveryTable deliveries={instance.deliveries} isOfInstance />
      </Section>
    </div>
  );
}

function Files({ instance }: { instance: InstanceDetail }) {
  const retry = useMutation({
    mutationFn: retryFiles,
    onSuccess: (files) => toast(`${plural(files, "file")} ${files === 1 ? "is" : "are"} downloaded again.`),
  });
  const columns: Column<AttachmentFile>[] = [
    { key: "name", title: "File", isClear: true, cell: (file) => <Named file={file} /> },
    {
      key: "status",
      title: "Status",
      isClear: true,
      cell: ({ status }) => <Pill status={FILE_STATUSES[status].status}>{FILE_STATUSES[status].word}</Pill>,
    },
    { key: "size", title: "Size", number: true, cell: ({ size }) => size !== null && bytes(size) },
    {
      key: "hash",
      title: "SHA-256",
      cell: ({ sha256 }) =>
        sha256 && (
          <span className={css.hash} title={sha256}>
            {sha256.slice(0, 12)}…
          </span>
        ),
    },
    { key: "attempts", title: "Attempts", number: true, cell: ({ attempts }) => attempts },
    { key: "why", title: "Reason", isClear: true, cell: (file) => <Reason file={file} /> },
    {
      key: "again",
      title: <span className="only-heard">Again</span>,
      isClear: true,
      cell: (file) =>
        file.status === "FAILED" && (
          <Button
            icon
            look="plain"
            aria-label={`Download ${file.name} again`}
            onClick={() => retry.mutate({ fileId: file.id })}
          >
            <RefreshCw />
          </Button>
        ),
    },
  ];
  return (
    <Section
      title="Files"
      beside={
        instance.files.failed > 0 && (
          <Button busy={retry.isPending} onClick={() => retry.mutate({ instanceId: instance.id })}>
            Retry those that failed
          </Button>
        )
      }
    >
      <Failed of={retry} what="Nothing was started again." />
      {instance.allFiles.length > 0 ? (
        <Table label="Files of the instance" columns={columns} rows={instance.allFiles} rowKey={({ id }) => id} />
      ) : (
        <p className="muted">{instance.readAt ? "The form has no files." : "The form has not been read yet."}</p>
      )}
    </Section>
  );
}

function Named({ file }: { file: AttachmentFile }) {
  if (!file.fileId) return file.name;
  return (
    <a href={`/api/files/${file.fileId}/content`} download={file.name}>
      {file.name}
    </a>
  );
}

function Reason({ file }: { file: AttachmentFile }) {
  if (file.removedAt)
    return (
      <>
        Removed <Time value={file.removedAt} />
      </>
    );
  return (
    <>
      {file.status !== "DOWNLOADED" && file.error && sentence(file.error)}{" "}
      {file.nextRetryAt && (
        <>
          Tried again <Time value={file.nextRetryAt} />
        </>
      )}
    </>
  );
}
