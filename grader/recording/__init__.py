"""Record what was graded: graded copy, verdict.json and gradebook, a batch at a time."""
