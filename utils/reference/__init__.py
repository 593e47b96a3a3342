"""Right implementations built on torch's own functions: oracles and stand-ins."""
