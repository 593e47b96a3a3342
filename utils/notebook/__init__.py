"""A student's own notebooks: what they define, and what later lessons take from them."""
