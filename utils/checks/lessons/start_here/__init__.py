"""Checks of lesson 00, how the course works."""
