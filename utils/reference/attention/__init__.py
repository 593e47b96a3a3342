"""Attention, its masks and its heads."""
