"""Checks of lesson 06, training."""
