import { useMutation, useQuery } from "@tanstack/react-query";
import { endSessions, type Session, sessionsQuery } from "~/api/account";
import { toast } from "~/shell/toasts";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { List } from "~/ui/list";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { plural } from "~/words";
import css from "./account.module.css";
import { agentWords } from "./agent";

export function SessionsTab() {
  const query = useQuery(sessionsQuery);
  const end = useMutation({
    mutationFn: (ids: string[]) => endSessions(ids),
    onSuccess: (_, ids) => toast(`${plural(ids.length, "session")} ended.`),
    onError: (error) => toast(error.message),
  });
  return (
    <div className={css.section}>
      <Loaded query={query} what="The sessions" loading={<SkeletonRows rows={2} height={64} />}>
        {(sessions) => {
          const others = sessions.filter((session) => !session.current).map((session) => session.id);
          return (
            <>
              <List label="Sessions">
                {sessions.map((session) => (
                  <li key={session.id} className={css.item}>
                    <What session={session} />
                    {!session.current && (
                      <Button busy={end.isPending} onClick={() => end.mutate([session.id])}>
                        End
                      </Button>
                    )}
                  </li>
                ))}
              </List>
              {others.length > 0 && (
                <span className="row">
                  <Button look="danger" busy={end.isPending} onClick={() => end.mutate(others)}>
                    End all others
                  </Button>
                </span>
              )}
            </>
          );
        }}
      </Loaded>
    </div>
  );
}

function What({ session }: { session: Session }) {
  return (
    <div className={css.what}>
      <span className={css.name}>
        {agentWords(session.agent)}
        {session.current && ", this one"}
      </span>
      <span className={css.side}>
        {session.ip && `From ${session.ip}, `}seen <Time value={session.seenAt} />
      </span>
      <span className={css.side}>
        Ends <Time value={session.expiresAt} />
      </span>
    </div>
  );
}
