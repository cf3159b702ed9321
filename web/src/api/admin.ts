import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, queryClient, type Schema, take } from "./client";
import { forward, pageFrom } from "./pages";

export type Account = Schema<"AccountRow">;
export type Invitation = Schema<"InvitationRow">;
export type Owner = Schema<"Owner">;
export type Setting = Schema<"Setting">;
export type Finding = Schema<"DoctorFinding">;

export const usersQuery = queryOptions({
  queryKey: ["users"],
  queryFn: ({ signal }) => take(api.GET("/api/users", { signal })),
});

export const invitationsQuery = queryOptions({
  queryKey: ["invitations"],
  queryFn: ({ signal }) => take(api.GET("/api/users/invitations", { signal })),
});

export function ownersQuery(prefix: string) {
  return infiniteQueryOptions({
    queryKey: ["owners", prefix],
    queryFn: ({ signal, pageParam }) =>
      take(
        api.GET("/api/owners", {
          params: { query: { userId: "all", prefix, ...pageFrom(pageParam) } },
          signal,
        }),
      ),
    ...forward,
  });
}

export const settingsQuery = queryOptions({
  queryKey: ["settings"],
  queryFn: ({ signal }) => take(api.GET("/api/settings", { signal })),
});

/** The findings of `forebay doctor`. The API of a test or an embedded one has none: it answers 404. */
export const doctorQuery = queryOptions({
  queryKey: ["doctor"],
  queryFn: ({ signal }) => take(api.GET("/api/doctor", { signal })),
  staleTime: 60_000,
});

export async function changeUser(name: string, body: Schema<"ChangeAccount">): Promise<void> {
  await take(api.PATCH("/api/users/{name}", { params: { path: { name } }, body }));
  await queryClient.invalidateQueries({ queryKey: ["users"] });
}

export async function changeOwner(name: string, body: Schema<"ChangeOwner">): Promise<void> {
  await take(api.PATCH("/api/owners/{name}", { params: { path: { name } }, body }));
  void queryClient.invalidateQueries({ queryKey: ["lanes"] });
  await queryClient.invalidateQueries({ queryKey: ["owners"] });
}

export async function invite(role: Invitation["role"]): Promise<Schema<"Invited">> {
  const made = await take(api.POST("/api/users/invitations", { body: { role } }));
  void queryClient.invalidateQueries({ queryKey: ["invitations"] });
  return made;
}

export async function revokeInvitation(id: string): Promise<void> {
  await take(api.DELETE("/api/users/invitations/{invitation_id}", { params: { path: { invitation_id: id } } }));
  await queryClient.invalidateQueries({ queryKey: ["invitations"] });
}
