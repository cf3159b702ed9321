"""Incoming webhooks: requests that a source signs over the raw body, each processed once.

SOURCE = WebhookSource("github", schemes.GITHUB, secrets)

@router.post("/webhooks/github")
async def receive(request: Request, pools: RolePoolsDep) -> Response:
    delivery = await read_delivery(request, SOURCE)
    async with pools.own(who) as conn:
        if await claim(conn, who.owner_id, delivery):
            await pipeline.submit(conn, ...)  # commits together with the claim, or not at all
    return Response(status_code=204)
"""
