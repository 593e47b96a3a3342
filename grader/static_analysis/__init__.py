"""Read a submission's code without running it."""
