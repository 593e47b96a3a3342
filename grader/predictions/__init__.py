"""Score what students hand in for the test sentences of the last lesson: a bonus, never a loss."""
