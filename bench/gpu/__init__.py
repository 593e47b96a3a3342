"""Lesson 06 and training on a GPU."""
