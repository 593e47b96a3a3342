"""Errors that a reader of the course can mend: in a notebook they show their message alone."""


class UserError(Exception):
    """The message says what is wrong and what would help."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows instead of a traceback, whose lines would all be the course's own."""
        return [f"{type(self).__name__}: {self}"]
