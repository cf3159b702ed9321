"""The worker: claim, run, settle, renew leases."""
