"""Measurements, side by side in one run: shared machines are too noisy for single numbers."""
