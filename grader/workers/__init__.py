"""Processes that run submissions: a pool, its fork server, and what passes between them."""
