import { useQuery } from "@tanstack/react-query";
import { type Provider, providersQuery } from "~/api/sheets";
import { duration, exact } from "~/format";
import { Page } from "~/shell/page";
import { Loaded } from "~/shell/trouble";
import { type Column, Table } from "~/ui/list";
import { Empty, Notice } from "~/ui/notice";
import { SkeletonRows } from "~/ui/skeleton";
import { sentence } from "~/words";
import { Places } from "./places";
import { stateWords } from "./provider-words";

const COLUMNS: Column<Provider>[] = [
  { key: "name", title: "Provider", isClear: true, cell: (each) => <strong>{each.name}</strong> },
  { key: "state", title: "State", isClear: true, cell: stateWords },
  { key: "priority", title: "Priority", cell: (each) => each.priority, number: true },
  { key: "strategies", title: "Looks up by", cell: (each) => each.strategies.join(", ") },
  { key: "asked", title: "Asked", cell: (each) => exact(each.asked), number: true },
  { key: "answered", title: "Answered", cell: (each) => exact(each.answered), number: true },
  { key: "notFound", title: "Not found", cell: (each) => exact(each.notFound), number: true },
  { key: "throttled", title: "Throttled", cell: (each) => exact(each.throttled), number: true },
  { key: "failed", title: "Failed", cell: (each) => exact(each.failed), number: true },
  { key: "remembered", title: "From memory", cell: (each) => exact(each.remembered), number: true },
  {
    key: "seconds",
    title: "Answers in",
    cell: (each) => (each.seconds === null ? "" : duration(each.seconds)),
    number: true,
  },
];

/** Where rows are looked up, and how it goes. */
export default function ProvidersPage() {
  const query = useQuery(providersQuery);
  return (
    <Page
      title="Providers"
      subtitle="Where rows are looked up. The numbers are those of the workers that run now."
      actions={<Places />}
    >
      <Loaded query={query} what="The providers" loading={<SkeletonRows rows={4} />}>
        {({ providers, problem }) => (
          <>
            {problem && (
              <Notice kind="error" title="The declarations of providers have errors.">
                {sentence(problem)}
              </Notice>
            )}
            {providers
              .filter((each) => each.problem)
              .map((each) => (
                <Notice key={each.name} kind="warn" title={`${each.name} cannot be asked.`}>
                  {sentence(each.problem!)}
                </Notice>
              ))}
            {providers.length > 0 ? (
              <Table label="Providers" columns={COLUMNS} rows={providers} rowKey={(each) => each.name} />
            ) : (
              <Empty title="No providers" />
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}
