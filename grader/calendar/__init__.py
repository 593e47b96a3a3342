"""When work is due: due dates, extensions, and what lateness costs."""
