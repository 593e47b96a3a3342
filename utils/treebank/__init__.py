"""Data for lesson 06: treebank files, a synthetic substitute for them, and simple taggers."""
