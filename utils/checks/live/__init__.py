"""What a check does beside judging where a student waits for it: in notebooks only."""
