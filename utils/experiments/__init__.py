"""Small tasks and models for the lessons."""
