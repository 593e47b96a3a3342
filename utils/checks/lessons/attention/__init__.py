"""Checks of lesson 02, attention."""
