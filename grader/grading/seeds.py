"""Seeds of hidden orders: the same bytes of the same student are graded alike, however often.

Each is made from a seed that the course's folder keeps. So a submission that is graded again, on
another machine too, after a worker or the grader itself was killed, meets the same orders.
"""

import hmac
import secrets
from pathlib import Path
from typing import Final

from grader.errors import CourseError

FILE: Final = "seed"  # in .course/
LENGTH: Final = 16  # bytes of a submission's seed
KEPT_LENGTH: Final = 32
_REMEDY: Final = "Remove it, then run the same command: it makes a new one."


def kept_seed(folder: Path) -> bytes:
    """Return the seed that a course's folder keeps; the first call makes it.

    Raises:
        CourseError: it cannot be read, written, or is no seed.

    """
    path = folder / ".course" / FILE
    try:
        if not path.exists():
            fresh = path.with_suffix(".new")
            fresh.write_bytes(secrets.token_bytes(KEPT_LENGTH))
            fresh.chmod(0o600)
            fresh.replace(path)
        seed = path.read_bytes()
    except OSError as error:
        raise CourseError(f"{path} cannot be used: {error.strerror}. {_REMEDY}") from None
    if len(seed) != KEPT_LENGTH:
        raise CourseError(f"{path} holds no seed. {_REMEDY}")
    return seed


def seed_of(kept: bytes, student: str, lesson: str, digest: str) -> bytes:
    """Return a submission's seed, from which the kept one cannot be computed."""
    of = "\0".join((student, lesson, digest)).encode()
    return hmac.new(kept, of, "sha256").digest()[:LENGTH]
