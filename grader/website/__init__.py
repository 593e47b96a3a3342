"""The course as a public web site: lessons with their experiments' results and without answers.

Sphinx builds it from `site/` and from the notebooks; nothing is fetched, no lesson is run.
"""
