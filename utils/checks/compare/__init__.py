"""Hold what was observed against what is expected."""
