"""The lessons' pictures."""
