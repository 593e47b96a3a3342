"""What the user can fix: shown as a message, never as a traceback."""


class CourseError(Exception):
    """An error in the course or the request; the message says what is wrong and what to do."""


class UsageError(CourseError):
    """A command that names what there is not; the command line ends with status 2."""
