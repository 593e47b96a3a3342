"""Pages of one's own, each one file for any browser: the trained tagger, texts by meaning."""
