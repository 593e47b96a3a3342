"""JupyterLab for learners: their own copies of the lessons, and the place to hand them in."""
