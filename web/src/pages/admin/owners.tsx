import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useId, useState } from "react";
import { changeOwner, type Owner, ownersQuery } from "~/api/admin";
import { bytes, exact, short } from "~/format";
import { Failed } from "~/shell/failed";
import { useListKeys } from "~/shell/list-keys";
import { toast } from "~/shell/toasts";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { Actions, Entries, Entry, Side, What } from "~/ui/entries";
import { Field } from "~/ui/field";
import { More } from "~/ui/more";
import { Empty } from "~/ui/notice";
import { SkeletonRows } from "~/ui/skeleton";
import css from "./admin.module.css";
import { AdminPage } from "./admin-page";
import { LimitsDialog } from "./limits-dialog";
import { placeOf, shareOf, WEIGHTS } from "./weights";

const route = getRouteApi("/admin/owners");

export default function OwnersPage() {
  const { q } = route.useSearch();
  const navigate = useNavigate({ from: "/admin/owners" });
  const query = useInfiniteQuery(ownersQuery(q ?? ""));
  const owners = query.data?.pages.flatMap((page) => page.owners) ?? [];
  return (
    <AdminPage
      title="Owners"
      subtitle="Whose work runs here. An owner with twice the weight gets twice the share of the workers while all have work."
    >
      <form
        className={css.search}
        onSubmit={(event) => {
          event.preventDefault();
          const name = String(new FormData(event.currentTarget).get("q")).trim();
          void navigate({ search: name ? { q: name } : {}, replace: true });
        }}
      >
        <Field label="Names that begin with" type="search" name="q" key={q} defaultValue={q ?? ""} />
      </form>
      <Loaded query={query} what="The owners" loading={<SkeletonRows rows={5} height={72} />}>
        {() =>
          owners.length > 0 ? (
            <Owners owners={owners} />
          ) : (
            <Empty
              title={q ? `No owner begins with ${q}` : "No owner yet"}
              actions={q && <Button onClick={() => void navigate({ search: {} })}>Show all</Button>}
            >
              An account becomes an owner with its first job.
            </Empty>
          )
        }
      </Loaded>
      <More
        hasMore={query.hasNextPage}
        isLoading={query.isFetchingNextPage}
        onMore={() => void query.fetchNextPage()}
      />
    </AdminPage>
  );
}

function Owners({ owners }: { owners: Owner[] }) {
  const [limited, setLimited] = useState<string>();
  const keys = useListKeys({
    group: "Owners",
    count: owners.length,
    onOpen: (index) => setLimited(owners[index]!.id),
  });
  const shown = owners.find((owner) => owner.id === limited);
  return (
    <>
      <Entries label="Owners">
        {owners.map((owner, index) => (
          <Entry key={owner.id} {...keys.rowProps(index)}>
            <OwnerLine
              key={owner.weight}
              owner={owner}
              others={owners.filter((each) => each.id !== owner.id)}
              onLimits={() => setLimited(owner.id)}
            />
          </Entry>
        ))}
      </Entries>
      {shown && <LimitsDialog owner={shown} onClose={() => setLimited(undefined)} />}
    </>
  );
}

interface OwnerLineProps {
  owner: Owner;
  others: Owner[];
  onLimits: () => void;
}

function OwnerLine({ owner, others, onLimits }: OwnerLineProps) {
  const [place, setPlace] = useState(placeOf(owner.weight));
  const id = useId();
  const change = useMutation({
    mutationFn: (weight: number) => changeOwner(owner.name, { weight }),
    onSuccess: (_, weight) =>
      toast(`${owner.name} has the weight ${weight}.`, {
        label: "Undo",
        run: () => change.mutate(owner.weight),
      }),
  });
  const weight = place === placeOf(owner.weight) ? owner.weight : WEIGHTS[place]!;
  const share = shareOf(
    weight,
    others.map((each) => each.weight),
  );
  return (
    <>
      <What name={owner.name}>
        <Side>
          {used(owner.openJobs, "open jobs")}, {used(owner.openItems, "open items")}
        </Side>
        <Side>
          {used(owner.submitsPerMinute, "submits a minute")}; {exact(owner.storedFiles)} files,{" "}
          {bytes(owner.storedBytes)}
        </Side>
      </What>
      <What>
        <div className={css.weight}>
          <label htmlFor={id} className="muted">
            Weight<span className="only-heard"> of {owner.name}</span>
          </label>
          <input
            id={id}
            type="range"
            min={0}
            max={WEIGHTS.length - 1}
            value={place}
            aria-valuetext={String(weight)}
            onChange={(event) => setPlace(Number(event.target.value))}
          />
          <output htmlFor={id}>{weight}</output>
        </div>
        <Side>
          {others.length > 0
            ? `${Math.round(share * 100)} % of the workers while all owners listed here have work`
            : "All of the workers: nobody else is listed here"}
        </Side>
      </What>
      <Actions>
        <Button
          busy={change.isPending}
          disabled={weight === owner.weight}
          aria-label={`Save the weight of ${owner.name}`}
          onClick={() => change.mutate(weight)}
        >
          Save
        </Button>
        <Button aria-label={`Limits of ${owner.name}`} aria-haspopup="dialog" onClick={onLimits}>
          Limits
        </Button>
      </Actions>
      <Failed of={change} what={`The weight of ${owner.name} was not changed.`} />
    </>
  );
}

function used({ used: now, most, isDefault }: Owner["openJobs"], what: string): string {
  return `${now === null ? "at most " : `${short(now)} of `}${short(most)} ${what}${isDefault ? "" : " (own limit)"}`;
}
