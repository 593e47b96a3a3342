"""Grade a course folder, and show what the gradebook holds."""
