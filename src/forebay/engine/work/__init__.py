"""The worker: claims, runs and settles tasks, and renews leases."""
