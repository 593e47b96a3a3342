"""Errors that a reader of the course can fix; a notebook shows only their message."""


class UserError(Exception):
    """An error whose message says what is wrong and what would help."""

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows instead of a traceback, which would hold only course code."""
        return [f"{type(self).__name__}: {self}"]
