import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type ListedSheet, sheetsQuery } from "~/api/sheets";
import { bytes, exact } from "~/format";
import { useTopics } from "~/live";
import { useListKeys } from "~/shell/list-keys";
import { Page } from "~/shell/page";
import { Loaded } from "~/shell/trouble";
import { TrySheet } from "~/shell/try-sample";
import { Bar } from "~/ui/bar";
import { buttonClass } from "~/ui/button";
import { List } from "~/ui/list";
import { More } from "~/ui/more";
import { Empty } from "~/ui/notice";
import { Pill } from "~/ui/pill";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { plural, sentence } from "~/words";
import { Places } from "./places";
import css from "./sheets.module.css";

export default function SheetsPage() {
  const navigate = useNavigate();
  useTopics("jobs");
  const query = useInfiniteQuery(sheetsQuery());
  const sheets = query.data?.pages.flatMap((page) => page.sheets) ?? [];
  const open = (index: number) => {
    const sheet = sheets[index];
    if (sheet) void navigate(placeOf(sheet));
  };
  const keys = useListKeys({ group: "Sheets", count: sheets.length, onOpen: open });
  return (
    <Page
      title="Sheets"
      actions={
        <>
          <Places />
          <Link to="/sheets/new" className={buttonClass("primary")}>
            New sheet
          </Link>
        </>
      }
    >
      <Loaded query={query} what="The sheets" loading={<SkeletonRows rows={8} height={56} />}>
        {() =>
          sheets.length > 0 ? (
            <List label="Sheets">
              {sheets.map((sheet, index) => (
                <li key={sheet.id} {...keys.rowProps(index)} className={css.item}>
                  <SheetLine sheet={sheet} />
                </li>
              ))}
            </List>
          ) : (
            <Empty
              title="No sheets yet"
              actions={
                <>
                  <Link to="/sheets/new" className={buttonClass("primary")}>
                    New sheet
                  </Link>
                  <TrySheet />
                </>
              }
            >
              A sheet is a table of products, as CSV or Excel, or a ZIP of pictures. Each row is looked up in catalogues
              and at providers, and what is found stands beside it. Drop a file anywhere to begin.
            </Empty>
          )
        }
      </Loaded>
      <More
        hasMore={query.hasNextPage}
        isLoading={query.isFetchingNextPage}
        onMore={() => void query.fetchNextPage()}
      />
    </Page>
  );
}

function isUploading(sheet: ListedSheet): boolean {
  return sheet.intakeJobId === null && sheet.state !== "CANCELLED";
}

/** An upload that is not complete is continued; everything else is looked at. */
function placeOf(sheet: ListedSheet) {
  return isUploading(sheet)
    ? ({ to: "/sheets/new", search: { job: sheet.jobId } } as const)
    : ({ to: "/sheets/$jobId", params: { jobId: sheet.jobId } } as const);
}

function SheetLine({ sheet }: { sheet: ListedSheet }) {
  const { counters } = sheet;
  return (
    <Link {...placeOf(sheet)} className={css.line}>
      <span className={css.what}>
        <span className={css.name}>{sheet.name}</span>
        <span className={css.side}>
          {[sheet.kind?.toUpperCase(), sheet.size !== null && bytes(sheet.size), sheet.source && `from ${sheet.source}`]
            .filter(Boolean)
            .join(", ")}
        </span>
      </span>
      <span className={css.what}>
        {counters && counters.total > 0 && <Bar counts={{ ...counters }} label={sheet.name} />}
        <span className={css.side}>{progressWords(sheet)}</span>
      </span>
      <span>{sheet.problem ? <Pill status="ERROR" /> : sheet.state && <Pill status={sheet.state} />}</span>
      <span className={css.age}>
        <Time value={sheet.createdAt} />
      </span>
    </Link>
  );
}

function progressWords(sheet: ListedSheet): string {
  const { counters, problem } = sheet;
  if (problem) return sentence(problem);
  if (isUploading(sheet)) {
    return `${bytes(sheet.received)} of ${bytes(sheet.size ?? 0)} have come`;
  }
  if (!counters) return "The rows were deleted";
  if (counters.total === 0) return sheet.readAt ? "No rows" : "Being read";
  return `${exact(counters.total - counters.pending)} of ${plural(counters.total, "row")}`;
}
