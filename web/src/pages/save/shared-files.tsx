import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { bytes } from "~/format";
import { handOver } from "~/shell/handover";
import { placeOf } from "~/shell/intent";
import { Button } from "~/ui/button";
import { List } from "~/ui/list";
import { Notice } from "~/ui/notice";
import css from "./save.module.css";

const SHARED = "shared"; // the service worker keeps them there

async function sharedFiles(): Promise<File[]> {
  const cache = await caches.open(SHARED);
  const requests = await cache.keys();
  return Promise.all(
    requests.map(async (request) => {
      const kept = (await cache.match(request))!;
      const name = decodeURIComponent(new URL(request.url).pathname.split("/").at(-1)!);
      return new File([await kept.blob()], name, { type: kept.headers.get("Content-Type") ?? "" });
    }),
  );
}

const DOES = {
  "/sheets/new": "Make a sheet of it",
  "/bookmarks/import": "Import its links",
  "/articles/import": "Make an article of it",
} as const;

/** Files that were shared to the app. Nothing is done with them until the person says so: other sites can post, too. */
export function SharedFiles() {
  const navigate = useNavigate();
  const { data } = useQuery({ queryKey: ["shared files"], queryFn: sharedFiles, gcTime: 0 });
  const take = async (file: File, place: keyof typeof DOES) => {
    await caches.delete(SHARED);
    handOver([file]);
    void navigate({ to: place });
  };
  if (data?.length === 0) return <Notice title="The shared files are not here any more.">Share them again.</Notice>;
  return (
    <section className={css.form} aria-labelledby="shared">
      <h2 id="shared">Shared with forebay</h2>
      <List label="Shared files">
        {(data ?? []).map((file) => {
          const place = placeOf(file.name);
          return (
            <li key={file.name} className={css.file}>
              <span className="grow cut">{file.name}</span>
              <span className="muted">{bytes(file.size)}</span>
              {place ? (
                <Button look="primary" onClick={() => void take(file, place)}>
                  {DOES[place]}
                </Button>
              ) : (
                <span className="muted">No place here for that kind of file</span>
              )}
            </li>
          );
        })}
      </List>
    </section>
  );
}
