"""Bodies of submits, and kickoff."""
