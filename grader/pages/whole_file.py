"""Write a file in one step, so that nobody ever reads half of it."""

from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Write a file beside its place and move it there.

    Raises:
        OSError: the disk refuses; what was there before is untouched.

    """
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_bytes(data)
    fresh.replace(path)
