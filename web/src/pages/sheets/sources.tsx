import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type Source, scanSource, sourcesQuery } from "~/api/sheets";
import { Page } from "~/shell/page";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { List, Row } from "~/ui/list";
import { Empty } from "~/ui/notice";
import { SkeletonRows } from "~/ui/skeleton";
import { Places } from "./places";

const AFTER: Record<string, string> = {
  keep: "stay there",
  delete: "are deleted there once they have come",
  move: "are moved there once they have come",
};

/** Folders and servers from which files become sheets by themselves. */
export default function SourcesPage() {
  const query = useQuery(sourcesQuery);
  return (
    <Page
      title="Sources"
      subtitle="Folders and servers from which files become sheets by themselves."
      actions={<Places />}
    >
      <Loaded query={query} what="The sources" loading={<SkeletonRows rows={3} height={56} />}>
        {({ sources }) =>
          sources.length > 0 ? (
            <List label="Sources">
              {sources.map((source) => (
                <li key={source.name}>
                  <SourceLine source={source} />
                </li>
              ))}
            </List>
          ) : (
            <Empty title="No sources">
              A source is a folder, an S3 bucket or an FTP server that is looked through on a schedule. The
              administrator declares them in the configuration of this server.
            </Empty>
          )
        }
      </Loaded>
    </Page>
  );
}

function SourceLine({ source }: { source: Source }) {
  const scan = useMutation({ mutationFn: () => scanSource(source.name) });
  const begun = scan.data?.scans[0];
  return (
    <Row>
      <span className="grow">
        <strong>{source.name}</strong>{" "}
        <span className="muted">
          {source.kind}, {source.patterns.join(", ")}
          {source.recursive && ", with folders inside"}
        </span>
        <br />
        <span className="muted">
          {source.schedule ? `Looked through at ${source.schedule} (${source.timezone})` : "Looked through on demand"}.
          The files of {source.owner} {AFTER[source.after] ?? source.after}.
        </span>
        {scan.error && <span role="alert"> {scan.error.message}</span>}
      </span>
      {begun && (
        <Link to="/jobs/$jobId" params={{ jobId: begun.jobId }}>
          Looking: job {begun.jobId}
        </Link>
      )}
      <Button busy={scan.isPending} onClick={() => scan.mutate()}>
        Look now
      </Button>
    </Row>
  );
}
