"""Grade a class: what waits in submitted/, each graded by an engine, recorded batch by batch."""
