"""Processes that run submissions: a pool, warm fork servers, and what passes between them."""
