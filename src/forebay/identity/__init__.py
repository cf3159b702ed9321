"""Accounts, owners, sessions, tokens and invitations."""
