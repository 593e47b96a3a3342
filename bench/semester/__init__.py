"""A semester of a made-up class, from the roster to the archive."""
