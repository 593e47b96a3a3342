"""The students' bundle: the course without solutions, hidden tests and grader, as one zip file."""
