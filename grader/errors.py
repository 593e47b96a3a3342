"""The one exception that means "the user can mend this": shown as a message, never a traceback."""


class CourseError(Exception):
    """Something in the course or in the request is wrong; the message says what and what to do."""
