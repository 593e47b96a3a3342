"""The published model of lesson 07: its files, its words, and what is measured with it."""
