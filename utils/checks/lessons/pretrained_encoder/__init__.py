"""Lesson 07, a published model in the student's own encoder: probes and answers."""
