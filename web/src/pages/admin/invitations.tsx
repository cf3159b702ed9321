import { useMutation, useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import { type Invitation, invitationsQuery, invite, revokeInvitation } from "~/api/admin";
import { Failed } from "~/shell/failed";
import { type RowProps, useListKeys } from "~/shell/list-keys";
import { toast } from "~/shell/toasts";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { Copy } from "~/ui/copy";
import { Actions, Entries, Entry, Side, What } from "~/ui/entries";
import { Empty } from "~/ui/notice";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import css from "./admin.module.css";
import { AdminPage } from "./admin-page";
import { QrCode } from "./qr-code";

const WORDS = { user: "user", admin: "administrator" } as const;

export default function InvitationsPage() {
  const query = useQuery(invitationsQuery);
  const make = useMutation({ mutationFn: invite });
  return (
    <AdminPage
      title="Invitations"
      subtitle="A link makes one account. It is valid for a week, and shown only once."
      actions={
        <>
          <Button busy={make.isPending && make.variables === "admin"} onClick={() => make.mutate("admin")}>
            Invite an administrator
          </Button>
          <Button look="primary" busy={make.isPending && make.variables === "user"} onClick={() => make.mutate("user")}>
            Invite a user
          </Button>
          <Failed of={make} what="No invitation was made." />
        </>
      }
    >
      {make.data && (
        <section className={css.card} aria-label="New invitation" role="status">
          <h2>The link for a new {WORDS[make.data.role]}</h2>
          <div className={css.link}>
            <div>
              <p>Send it now: it is not shown again. Who opens it first chooses a name and a password.</p>
              <Copy text={absolute(make.data.link)} label="the link" />
            </div>
            <QrCode
              text={absolute(make.data.link)}
              label={`The link for a new ${WORDS[make.data.role]} as a QR code`}
            />
          </div>
        </section>
      )}
      <Loaded query={query} what="The invitations" loading={<SkeletonRows rows={2} height={64} />}>
        {(open) =>
          open.length > 0 ? (
            <Invitations invitations={open} />
          ) : (
            !make.data && (
              <Empty title="No invitation is open">
                Invite somebody: you get a link to send. Accounts are made only by invitation.
              </Empty>
            )
          )
        }
      </Loaded>
    </AdminPage>
  );
}

function Invitations({ invitations }: { invitations: Invitation[] }) {
  const list = useRef<HTMLDivElement>(null);
  const keys = useListKeys({
    group: "Invitations",
    count: invitations.length,
    // An invitation has no page: Enter goes to what can be done with it.
    onOpen: (index) => list.current?.querySelectorAll("li")[index]?.querySelector("button")?.focus(),
  });
  return (
    <div ref={list}>
      <Entries label="Open invitations">
        {invitations.map((each, index) => (
          <Open key={each.id} invitation={each} rowProps={keys.rowProps(index)} />
        ))}
      </Entries>
    </div>
  );
}

function Open({ invitation, rowProps }: { invitation: Invitation; rowProps: RowProps }) {
  const revoke = useMutation({
    mutationFn: () => revokeInvitation(invitation.id),
    onSuccess: () => toast("The link no longer works."),
  });
  return (
    <Entry {...rowProps}>
      <What name={`For a new ${WORDS[invitation.role]}`}>
        <Side>
          By {invitation.createdBy}, <Time value={invitation.createdAt} />; ends <Time value={invitation.expiresAt} />
        </Side>
      </What>
      <Actions>
        <Button look="danger" busy={revoke.isPending} onClick={() => revoke.mutate()}>
          Revoke
        </Button>
      </Actions>
      <Failed of={revoke} what="The link was not revoked." />
    </Entry>
  );
}

/** The server gives a path where it does not know its own address. */
function absolute(link: string): string {
  return new URL(link, location.origin).href;
}
