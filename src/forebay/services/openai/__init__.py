"""The client of OpenAI-compatible services, including self-hosted ones: chat, embeddings, speech.

    service = read_service("caption service", "FOREBAY_CAPTION", url, model, key)
    client = OpenAiClient(http, service, "notes.caption")
    answer = await client.post("chat/completions", {"messages": [...]}, Completion)

Requests go through the egress proxy. Failures become errors of steps (`errors`).
"""
