"""Checks of lesson 04, positional encoding."""
