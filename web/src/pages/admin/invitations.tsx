import { useMutation, useQuery } from "@tanstack/react-query";
import { type Invitation, invitationsQuery, invite, revokeInvitation } from "~/api/admin";
import { toast } from "~/shell/toasts";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { Copy } from "~/ui/copy";
import { List } from "~/ui/list";
import { Empty } from "~/ui/notice";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import css from "./admin.module.css";
import { AdminPage } from "./admin-page";

const WORDS = { user: "user", admin: "administrator" } as const;

export default function InvitationsPage() {
  const query = useQuery(invitationsQuery);
  const make = useMutation({ mutationFn: invite, onError: (error) => toast(error.message) });
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
        </>
      }
    >
      {make.data && (
        <section className={css.card} aria-label="New invitation" role="status">
          <h2>The link for a new {WORDS[make.data.role]}</h2>
          <p>Send it now: it is not shown again. Who opens it first chooses a name and a password.</p>
          <Copy className={css.command} text={absolute(make.data.link)} label="the link" />
        </section>
      )}
      <Loaded query={query} what="The invitations" loading={<SkeletonRows rows={2} height={64} />}>
        {(open) =>
          open.length > 0 ? (
            <List label="Open invitations">
              {open.map((each) => (
                <Open key={each.id} invitation={each} />
              ))}
            </List>
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

function Open({ invitation }: { invitation: Invitation }) {
  const revoke = useMutation({
    mutationFn: () => revokeInvitation(invitation.id),
    onSuccess: () => toast("The link no longer works."),
    onError: (error) => toast(error.message),
  });
  return (
    <li className={css.item}>
      <span className={css.name}>For a new {WORDS[invitation.role]}</span>
      <span className={css.side}>
        By {invitation.createdBy}, <Time value={invitation.createdAt} />; ends <Time value={invitation.expiresAt} />
      </span>
      <div className={css.actions}>
        <Button look="danger" busy={revoke.isPending} onClick={() => revoke.mutate()}>
          Revoke
        </Button>
      </div>
    </li>
  );
}

/** The server gives a path where it does not know its own address. */
function absolute(link: string): string {
  return new URL(link, location.origin).href;
}
