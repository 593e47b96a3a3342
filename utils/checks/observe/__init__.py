"""Call the student's object and give back plain data."""
