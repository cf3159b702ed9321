"""Authentication: sessions, tokens and the service token."""
