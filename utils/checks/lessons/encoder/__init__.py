"""Checks of lesson 05, the encoder."""
