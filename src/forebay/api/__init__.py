"""The HTTP API: routes over the database and the engine. Each request acts for one owner."""
