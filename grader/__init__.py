"""What instructors run: build the notebooks, grade submissions, report."""
