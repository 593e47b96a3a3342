"""Checks of lesson 03, multi-head attention."""
