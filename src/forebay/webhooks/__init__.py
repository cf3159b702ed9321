"""Incoming webhooks: requests that a source signs over the raw body, each processed once.

    SOURCE = WebhookSource("github", GITHUB, [secret])

    @router.post("/webhooks/github", status_code=204)
    async def receive(request: Request, pools: RolePoolsDep) -> None:
        delivery = await read_delivery(request, SOURCE)
        who = await for_owner(pools, "ann")
        async with pools.own(who) as conn:
            if await claim(conn, who.owner_id, delivery):
                await pipeline.submit(conn, ...)  # commits together with the claim, or not at all

`signatures` has the schemes of the sources, `lark` that of Lark; `receiving` reads requests, and `db` stores
deliveries. Usage: docs/howto/webhooks.md.
"""
