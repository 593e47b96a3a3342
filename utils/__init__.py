"""The code that the course's notebooks import: checks, plots, tasks and data."""
