"""Checks of lesson 01, why recurrence is not enough."""
