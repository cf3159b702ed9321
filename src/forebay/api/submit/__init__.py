"""What a submit request may hold, and kickoff."""
