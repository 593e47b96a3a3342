"""What students get: the course without solutions, hidden tests and grader, as one zip file."""
