"""Who is asking: sessions, tokens, the service key."""
