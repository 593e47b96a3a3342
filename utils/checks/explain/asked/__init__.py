"""The student's own object is asked again."""
