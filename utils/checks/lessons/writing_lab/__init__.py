"""Lab 06b, a language model from the student's own encoder: probes and answers."""
