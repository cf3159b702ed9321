"""The HTTP API: routes over `forebay.db` and the engine, for one owner at a time."""
