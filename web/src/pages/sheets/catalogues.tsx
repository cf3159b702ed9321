import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useApp } from "~/api/app";
import { type Catalogue, cataloguesQuery, dropCatalogue, shareCatalogue } from "~/api/sheets";
import { useTopics } from "~/live";
import { Page } from "~/shell/page";
import { toast } from "~/shell/toasts";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { List, Row } from "~/ui/list";
import { Empty } from "~/ui/notice";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { plural } from "~/words";
import { Places } from "./places";

/** The products in which rows are looked up first. */
export default function CataloguesPage() {
  useTopics("jobs");
  const query = useQuery(cataloguesQuery);
  return (
    <Page title="Catalogues" subtitle="Your own products: rows are looked up here first." actions={<Places />}>
      <Loaded query={query} what="The catalogues" loading={<SkeletonRows rows={4} height={56} />}>
        {({ catalogues }) =>
          catalogues.length > 0 ? (
            <List label="Catalogues">
              {catalogues.map((each) => (
                <li key={`${each.owner} ${each.name}`}>
                  <CatalogueLine catalogue={each} />
                </li>
              ))}
            </List>
          ) : (
            <Empty title="No catalogues yet">
              A catalogue is a file of products that is kept here. Load one with{" "}
              <code>forebay catalogue load NAME FILE</code>.
            </Empty>
          )
        }
      </Loaded>
    </Page>
  );
}

function CatalogueLine({ catalogue }: { catalogue: Catalogue }) {
  const { me } = useApp();
  const [asks, setAsks] = useState(false);
  const isMine = catalogue.owner === me.name;
  const share = useMutation({
    mutationFn: () => shareCatalogue(catalogue.name, !catalogue.shared),
    onSuccess: () => toast(catalogue.shared ? "It is yours alone now." : "All users can look rows up in it now."),
    onError: (error) => toast(error.message),
  });
  return (
    <Row>
      <span className="grow">
        <strong>{catalogue.name}</strong>{" "}
        <span className="muted">
          {catalogue.shared && "shared with all users"}
          {!isMine && catalogue.owner && ` by ${catalogue.owner}`}
        </span>
        <br />
        <span className="muted">
          {plural(catalogue.products, "product")}, <Time value={catalogue.updatedAt ?? catalogue.createdAt} />
        </span>
      </span>
      {isMine && me.role === "admin" && (
        <Button busy={share.isPending} onClick={() => share.mutate()}>
          {catalogue.shared ? "Stop sharing" : "Share"}
        </Button>
      )}
      {isMine && (
        <Button look="danger" onClick={() => setAsks(true)}>
          Delete
        </Button>
      )}
      {asks && <DropDialog catalogue={catalogue} onClose={() => setAsks(false)} />}
    </Row>
  );
}

function DropDialog({ catalogue, onClose }: { catalogue: Catalogue; onClose: () => void }) {
  const drop = useMutation({ mutationFn: () => dropCatalogue(catalogue.name), onSuccess: onClose });
  return (
    <Dialog
      title={`Delete ${catalogue.name}?`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button look="danger" busy={drop.isPending} onClick={() => drop.mutate()}>
            Delete {plural(catalogue.products, "product")}
          </Button>
        </>
      }
    >
      <p>Its products cannot be brought back. What was found in it stays in the sheets.</p>
      {drop.error && <p role="alert">{drop.error.message}</p>}
    </Dialog>
  );
}
