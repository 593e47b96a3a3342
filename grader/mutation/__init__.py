"""Mistakes made by machine: every one-place change of a right answer, with what it amounts to.

`arithmetic`, `tensors` and `statements` change a syntax tree, and `words` says how. `mutants` lists
the changes of a source, `trial` runs them, and `fingerprint_files` keeps what the wrong ones give,
for the checks.
"""
