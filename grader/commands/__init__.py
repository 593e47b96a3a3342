"""One module for each verb of `python -m grader`."""
