"""What a learner has done: written by the checks in notebooks, read by the start page."""
