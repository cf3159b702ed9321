import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type Account, changeUser, usersQuery } from "~/api/admin";
import { useApp } from "~/api/app";
import { Failed } from "~/shell/failed";
import { type RowProps, useListKeys } from "~/shell/list-keys";
import { toast } from "~/shell/toasts";
import { Loaded } from "~/shell/trouble";
import { Button, buttonClass } from "~/ui/button";
import { Actions, Entries, Entry, Side, What } from "~/ui/entries";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { AdminPage } from "./admin-page";

export default function UsersPage() {
  const query = useQuery(usersQuery);
  return (
    <AdminPage
      title="Users"
      subtitle="Who may sign in."
      actions={
        <Link to="/admin/invitations" className={buttonClass("primary")}>
          Invite
        </Link>
      }
    >
      <Loaded query={query} what="The users" loading={<SkeletonRows rows={4} height={64} />}>
        {(users) => <Users users={users} />}
      </Loaded>
    </AdminPage>
  );
}

function Users({ users }: { users: Account[] }) {
  const navigate = useNavigate();
  const keys = useListKeys({
    group: "Users",
    count: users.length,
    onOpen: (index) => void navigate({ to: "/admin/owners", search: { q: users[index]!.name } }),
  });
  return (
    <Entries label="Users">
      {users.map((user, index) => (
        <User key={user.id} user={user} rowProps={keys.rowProps(index)} />
      ))}
    </Entries>
  );
}

function User({ user, rowProps }: { user: Account; rowProps: RowProps }) {
  const { me } = useApp();
  const isDisabled = user.disabledAt !== null;
  const change = useMutation({
    mutationFn: (body: Parameters<typeof changeUser>[1]) => changeUser(user.name, body),
    onSuccess: (_, body) =>
      toast(`${user.name} is ${wordOf(body)}.`, {
        label: "Undo",
        run: () => change.mutate(body.role ? { role: user.role } : { disabled: isDisabled }),
      }),
  });
  const isMe = user.name === me.name;
  return (
    <Entry {...rowProps}>
      <What
        name={
          <>
            {user.name}
            {isMe && <span className="muted">you</span>}
          </>
        }
      >
        <Side>
          {user.role === "admin" ? "Administrator" : "User"}, added <Time value={user.createdAt} />
          {user.signedInAt ? (
            <>
              , signed in <Time value={user.signedInAt} />
            </>
          ) : (
            ", has not signed in yet"
          )}
          {user.disabledAt && (
            <>
              , disabled <Time value={user.disabledAt} />
            </>
          )}
        </Side>
      </What>
      <Actions>
        <Button
          busy={change.isPending}
          disabled={isMe}
          title={isMe ? "Another administrator can change your role" : undefined}
          aria-label={`${user.role === "admin" ? "Make a user of" : "Make an administrator of"} ${user.name}`}
          onClick={() => change.mutate({ role: user.role === "admin" ? "user" : "admin" })}
        >
          {user.role === "admin" ? "Make a user" : "Make an administrator"}
        </Button>
        <Button
          look={isDisabled ? "normal" : "danger"}
          busy={change.isPending}
          disabled={isMe}
          title={isMe ? "You cannot lock yourself out" : undefined}
          aria-label={`${isDisabled ? "Enable" : "Disable"} ${user.name}`}
          onClick={() => change.mutate({ disabled: !isDisabled })}
        >
          {isDisabled ? "Enable" : "Disable"}
        </Button>
      </Actions>
      <Failed of={change} what={`${user.name} was not changed.`} />
    </Entry>
  );
}

function wordOf(body: Parameters<typeof changeUser>[1]): string {
  if (body.role) return body.role === "admin" ? "an administrator now" : "a user now";
  return body.disabled ? "disabled: sessions and tokens no longer work" : "enabled again";
}
