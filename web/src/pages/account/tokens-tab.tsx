import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { makeToken, revokeToken, type Scope, type Token, tokensQuery } from "~/api/account";
import { useIsAdmin } from "~/api/app";
import { ProblemError } from "~/api/problem";
import { Failed } from "~/shell/failed";
import { toast } from "~/shell/toasts";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { Copy } from "~/ui/copy";
import { Actions, Entries, Entry, Side, What } from "~/ui/entries";
import { Check, Field, Select } from "~/ui/field";
import { Empty } from "~/ui/notice";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { sentence } from "~/words";
import css from "./account.module.css";

const SCOPES: Record<Scope, string> = {
  read: "See everything that is yours",
  write: "Submit, change and delete what is yours",
  admin: "Administer: see all owners, pause queues, change accounts",
};
const LASTS = [
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "A year" },
  { value: "", label: "Until you revoke it" },
];

export function TokensTab() {
  const query = useQuery(tokensQuery);
  return (
    <div className={css.section}>
      <p className="muted">A token lets a program act for you, as a script or another server.</p>
      <NewToken />
      <Loaded query={query} what="The tokens" loading={<SkeletonRows rows={2} height={64} />}>
        {(tokens) => {
          const open = tokens.filter((token) => token.revokedAt === null);
          return open.length > 0 ? (
            <Entries label="Tokens">
              {open.map((token) => (
                <TokenLine key={token.id} token={token} />
              ))}
            </Entries>
          ) : (
            <Empty title="You have no token" />
          );
        }}
      </Loaded>
    </div>
  );
}

function NewToken() {
  const isAdmin = useIsAdmin();
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<Scope[]>(["read", "write"]);
  const [days, setDays] = useState("90");
  const make = useMutation({
    mutationFn: () => makeToken({ name: name.trim(), scopes, expiresInDays: days ? Number(days) : null }),
    onSuccess: () => setName(""),
  });
  const wrong = make.error instanceof ProblemError ? (make.error.at("name") ?? make.error.detail) : undefined;
  return (
    <>
      <form
        className={css.form}
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate();
        }}
      >
        <Field
          label="Name of a new token"
          placeholder="What will use it"
          value={name}
          maxLength={100}
          wrong={wrong && sentence(wrong)}
          onChange={(event) => setName(event.target.value)}
        />
        <fieldset className={css.scopes}>
          <legend className="only-heard">What it may do</legend>
          {(Object.keys(SCOPES) as Scope[])
            .filter((scope) => scope !== "admin" || isAdmin)
            .map((scope) => (
              <Check
                key={scope}
                label={SCOPES[scope]}
                checked={scopes.includes(scope)}
                onChange={(event) =>
                  setScopes((now) => (event.target.checked ? [...now, scope] : now.filter((each) => each !== scope)))
                }
              />
            ))}
        </fieldset>
        <Select label="Valid for" value={days} onChange={setDays} options={LASTS} />
        <Button type="submit" look="primary" busy={make.isPending} disabled={!name.trim() || scopes.length === 0}>
          Make the token
        </Button>
      </form>
      {make.data && (
        <section className={css.secret} role="status" aria-label="New token">
          <h2>The token {make.data.name}</h2>
          <p>Keep it now: it is not shown again.</p>
          <Copy text={make.data.token} label="the token" />
        </section>
      )}
    </>
  );
}

function TokenLine({ token }: { token: Token }) {
  const revoke = useMutation({
    mutationFn: () => revokeToken(token.id),
    onSuccess: () => toast(`${token.name} no longer works.`),
  });
  return (
    <Entry>
      <What
        name={
          <>
            {token.name} <span className="muted">…{token.hint}</span>
          </>
        }
      >
        <Side>
          {token.scopes.map((scope) => SCOPES[scope as Scope] ?? scope).join("; ")}.{" "}
          {token.usedAt ? (
            <>
              Used <Time value={token.usedAt} />
            </>
          ) : (
            "Never used"
          )}
          {token.expiresAt && (
            <>
              , ends <Time value={token.expiresAt} />
            </>
          )}
        </Side>
      </What>
      <Actions>
        <Button
          look="danger"
          busy={revoke.isPending}
          aria-label={`Revoke ${token.name}`}
          onClick={() => revoke.mutate()}
        >
          Revoke
        </Button>
      </Actions>
      <Failed of={revoke} what={`${token.name} was not revoked.`} />
    </Entry>
  );
}
