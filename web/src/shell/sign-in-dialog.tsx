import { type FormEvent, useEffect, useState } from "react";
import { api, queryClient, take } from "~/api/client";
import { ProblemError } from "~/api/problem";
import { onSignInNeeded, toSignInPage } from "~/api/session";
import { live } from "~/live";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { Field } from "~/ui/field";
import { sentence } from "~/words";

/** The session has ended: sign in again, and the page goes on where it was. */
export function SignInDialog({ name }: { name: string }) {
  const [done, setDone] = useState<(() => void) | undefined>();
  const [wrong, setWrong] = useState("");
  const [busy, setBusy] = useState(false);
  useEffect(() => onSignInNeeded(() => new Promise((resolve) => setDone(() => resolve))), []);
  if (!done) return null;
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const given = { name: String(form.get("name")), password: String(form.get("password")) };
    setBusy(true);
    setWrong("");
    try {
      await take(api.POST("/api/session", { body: given }));
      if (given.name !== name) return location.reload(); // somebody else: nothing of the former person may stay
      setDone(undefined);
      done();
      await queryClient.invalidateQueries();
      live.reconnect();
    } catch (error) {
      const wait = error instanceof ProblemError && error.retryAfter ? `, in ${error.retryAfter} seconds` : "";
      setWrong(sentence(`${error instanceof ProblemError ? error.detail : String(error)}${wait}`));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title="Your session has ended" mustAnswer onClose={() => {}}>
      <p className="muted">Sign in again. What you see and what you typed stays.</p>
      <form className="stack" onSubmit={submit}>
        <Field label="Name" name="name" defaultValue={name} autoComplete="username" required />
        <Field
          label="Password"
          name="password"
          type="password"
          autoComplete="current-password"
          wrong={wrong}
          required
        />
        <div className="row">
          <Button type="submit" look="primary" busy={busy}>
            Sign in
          </Button>
          <Button look="plain" onClick={toSignInPage}>
            Use a link instead
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
