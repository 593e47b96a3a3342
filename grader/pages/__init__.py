"""Pages for people: feedback for a student, reports for an instructor.

Each page is one file that asks no host for anything. Everything that comes from a student is
escaped and bounded.
"""
