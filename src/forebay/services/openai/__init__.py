"""Services that speak OpenAI's HTTP protocol, as many servers of one's own do: chat, embeddings, speech.

    service = read_service("caption service", "FOREBAY_CAPTION", url, model, key)
    client = OpenAiClient(http, service, "notes.caption")
    answer = await client.post("chat/completions", {"messages": [...]}, Completion)

Requests go through the egress client. Answers become errors that say what a step has to do (`errors`).
"""
