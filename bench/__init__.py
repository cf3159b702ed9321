"""The benchmark: forebay beside the limits of its PostgreSQL and beside two peers, as ratios of one run."""
