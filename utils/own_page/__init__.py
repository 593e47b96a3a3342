"""A page of one's own: the trained tagger, running in any browser, in one file."""
