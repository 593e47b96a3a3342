"""The verbs that make the course, for those who write it: a class is taught without them."""
