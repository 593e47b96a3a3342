"""A notebook's cells without Jupyter: their code, their names, and stubs of what is absent."""
