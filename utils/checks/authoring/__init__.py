"""Building blocks for the authors of probes and mistakes."""
