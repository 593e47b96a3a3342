"""Grades on many machines, by Dask: batches go out as JSON, outcomes come back as JSON."""
