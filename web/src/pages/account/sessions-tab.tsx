import { useMutation, useQuery } from "@tanstack/react-query";
import { endSessions, type Session, sessionsQuery } from "~/api/account";
import { Failed } from "~/shell/failed";
import { toast } from "~/shell/toasts";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { Actions, Entries, Entry, Side, What } from "~/ui/entries";
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
  });
  return (
    <div className={css.section}>
      <Loaded query={query} what="The sessions" loading={<SkeletonRows rows={2} height={64} />}>
        {(sessions) => {
          const others = sessions.filter((session) => !session.current).map((session) => session.id);
          return (
            <>
              <Entries label="Sessions">
                {sessions.map((session) => (
                  <Entry key={session.id}>
                    <About session={session} />
                    {!session.current && (
                      <Actions>
                        <Button busy={end.isPending} onClick={() => end.mutate([session.id])}>
                          End
                        </Button>
                      </Actions>
                    )}
                  </Entry>
                ))}
              </Entries>
              <Failed of={end} what="Not every session was ended." />
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

function About({ session }: { session: Session }) {
  return (
    <What name={`${agentWords(session.agent)}${session.current ? ", this one" : ""}`}>
      <Side>
        {session.ip && `From ${session.ip}, `}seen <Time value={session.seenAt} />
      </Side>
      <Side>
        Ends <Time value={session.expiresAt} />
      </Side>
    </What>
  );
}
