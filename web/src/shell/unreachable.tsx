import { type ErrorComponentProps, useRouter } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { appQuery } from "~/api/app";
import { queryClient } from "~/api/client";
import { newKey } from "~/api/links";
import { ProblemError } from "~/api/problem";
import { Button } from "~/ui/button";
import { Field } from "~/ui/field";
import { Notice } from "~/ui/notice";
import { sentence } from "~/words";
import { givenBy } from "./given";
import { keepLink } from "./outbox";
import { RequestId } from "./request-id";
import css from "./unreachable.module.css";

const AGAIN_MS = 5000;

/** Instead of the app, when the server gave no answer at the start: a link can be kept meanwhile, also one that was shared to
 * /save, and the app opens as soon as there is an answer. */
export default function Unreachable({ error }: ErrorComponentProps) {
  const ask = useAsking();
  const detail = error instanceof ProblemError ? error.detail : String(error);
  return (
    <main className={css.page}>
      <p className={css.brand}>
        <img src="/icons/icon.svg" alt="" />
        forebay
      </p>
      <h1>{hasNoAnswer(error) ? "There is no connection" : "The app cannot start"}</h1>
      <Notice kind="error" title={sentence(detail)} actions={<Button onClick={ask}>Try again</Button>}>
        The app opens by itself as soon as the server answers. <RequestId error={error} />
      </Notice>
      {"indexedDB" in globalThis && <KeepLink />}
    </main>
  );
}

/** Whether there was no answer, or none of this server, but of what stands before it. */
function hasNoAnswer(error: unknown): boolean {
  return error instanceof ProblemError && error.isPassing;
}

/** Ask now and then, and when the network is back. Only an answer renders the page anew: what is typed here stays. */
function useAsking(): () => void {
  const router = useRouter();
  const ask = () =>
    void queryClient.fetchQuery({ ...appQuery, staleTime: 0 }).then(
      () => router.invalidate(),
      () => undefined, // it is said already
    );
  useEffect(() => {
    const timer = setInterval(() => document.hidden || ask(), AGAIN_MS);
    globalThis.addEventListener("online", ask);
    return () => {
      clearInterval(timer);
      globalThis.removeEventListener("online", ask);
    };
  });
  return ask;
}

function KeepLink() {
  const search = Object.fromEntries(new URLSearchParams(location.search));
  const given = givenBy(search, location.hash.slice(1));
  const [url, setUrl] = useState(given.url);
  const [kept, setKept] = useState<string>();
  const [trouble, setTrouble] = useState<string>();
  return (
    <form
      className={css.form}
      onSubmit={(event) => {
        event.preventDefault();
        const { title, note } = url === given.url ? given : { title: "", note: "" };
        setTrouble(undefined);
        keepLink({ key: newKey(), url: url.trim(), ...(title && { title }), ...(note && { note }) }).then(
          () => {
            setKept(url.trim());
            setUrl("");
          },
          (error: unknown) => setTrouble(error instanceof Error ? error.message : String(error)),
        );
      }}
    >
      <Field
        label="Save a link"
        type="url"
        inputMode="url"
        placeholder="https://"
        required
        maxLength={8192}
        value={url}
        onChange={(event) => setUrl(event.target.value)}
      />
      <Button type="submit" look="primary">
        Save
      </Button>
      {trouble !== undefined && <p role="alert">{`It was not kept: ${trouble}.`}</p>}
      <p role="status">{kept && `Kept on this device, sent when you are online: ${kept}`}</p>
    </form>
  );
}
