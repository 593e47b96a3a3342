"""Embedded words and their positions."""
