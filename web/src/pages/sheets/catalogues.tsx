import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useApp } from "~/api/app";
import { type Catalogue, cataloguesQuery, dropCatalogue, shareCatalogue } from "~/api/sheets";
import { useTopics } from "~/live";
import { Failed, Said } from "~/shell/failed";
import { Page } from "~/shell/page";
import { toast } from "~/shell/toasts";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { Field } from "~/ui/field";
import { List, Row } from "~/ui/list";
import { Empty } from "~/ui/notice";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { beginUpload } from "~/uploads/upload";
import { plural } from "~/words";
import { Places } from "./places";
import css from "./sheets.module.css";

/** The products in which rows are looked up first. */
export default function CataloguesPage() {
  useTopics("jobs");
  const query = useQuery(cataloguesQuery);
  return (
    <Page title="Catalogues" subtitle="Your own products: rows are looked up here first." actions={<Places />}>
      <LoadFile />
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
              A catalogue is a file of products that is kept here, as your own stock. Give it a name and choose its file
              above.
            </Empty>
          )
        }
      </Loaded>
    </Page>
  );
}

const NAME = /^[a-z][a-z0-9_-]{0,49}$/;

/** Load a file into a catalogue, a new one or one that is there: products with the same key are replaced. */
function LoadFile() {
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const isName = NAME.test(name);
  const load = useMutation({
    mutationFn: (file: File) => beginUpload(file, { catalogue: name }),
    onSuccess: ({ jobId }) => void navigate({ to: "/sheets/$jobId", params: { jobId } }),
  });
  return (
    <form className={css.options} onSubmit={(event) => event.preventDefault()}>
      <Field
        label="Catalogue to load"
        value={name}
        placeholder="stock"
        wrong={name && !isName ? "Small letters, digits, - and _, beginning with a letter." : undefined}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Field
        label="File of products"
        type="file"
        disabled={!isName || load.isPending}
        onChange={(event) => {
          const file = event.currentTarget.files?.[0];
          if (file) load.mutate(file);
        }}
      />
      <Said error={load.error} />
    </form>
  );
}

function CatalogueLine({ catalogue }: { catalogue: Catalogue }) {
  const { me } = useApp();
  const [asks, setAsks] = useState(false);
  const isMine = catalogue.owner === me.name;
  const share = useMutation({
    mutationFn: () => shareCatalogue(catalogue.name, !catalogue.shared),
    onSuccess: () => toast(catalogue.shared ? "It is yours alone now." : "All users can look rows up in it now."),
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
      <Failed of={share} what={`${catalogue.name} was not ${catalogue.shared ? "made yours alone" : "shared"}.`} />
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
      <Said error={drop.error} />
    </Dialog>
  );
}
