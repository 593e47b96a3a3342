"""A class's hub: JupyterHub on one machine, from a clone of the course."""
