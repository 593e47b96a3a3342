"""Fetch a file once, and verify that it is the right one.

It is verified before it gets its final name, and again whenever it is used: by its git blob id in
the publisher's repository (the SHA-1 of `blob LENGTH`, a zero byte, and the content), or by the
SHA-256 of its content.
"""

import contextlib
import hashlib
import http.client
import os
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from tqdm import tqdm

from utils.errors import UserError

OWN_FOLDER = "transformer-encoder-course"
CHUNK = 1 << 16  # bytes
TIMEOUT = 20.0  # seconds without a byte
MOST = 1 << 28  # bytes; nothing that the course fetches is nearly as large
STALE = 24 * 3600  # seconds after which a partial file belongs to no running process
HALF = ".part"
Check = Callable[[Path], bool]  # whether a file is the right one


class DownloadError(UserError):
    """A file could not be fetched; the message says which and why."""


def cache_folder() -> Path:
    """Return where fetched files are kept: COURSE_CACHE, else the user's cache folder."""
    if chosen := os.environ.get("COURSE_CACHE"):
        return Path(chosen).expanduser()
    home = {"darwin": "~/Library/Caches", "win32": os.environ.get("LOCALAPPDATA", "~")}
    usual = os.environ.get("XDG_CACHE_HOME") or home.get(sys.platform, "~/.cache")
    return Path(usual).expanduser() / OWN_FOLDER


def blob_id(path: Path) -> str:
    """Return git's id of a file's content, 40 hexadecimal digits."""
    content = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    return _digest(path, content)


def is_blob(expected: str) -> Check:
    """Return a check of a file by its git blob id."""
    return lambda path: blob_id(path) == expected


def has_sha256(expected: str) -> Check:
    """Return a check of a file by the SHA-256 of its content."""
    return lambda path: _digest(path, hashlib.sha256()) == expected


def _digest(path: Path, content: Any) -> str:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            content.update(chunk)
    digits: str = content.hexdigest()
    return digits


def fetch(url: str, is_right: Check, path: Path) -> Path:
    """Return a path that holds the right file, fetched from `url` if necessary.

    Several processes may do so at once. A bar shows progress; TQDM_DISABLE=1 hides it.

    Args:
        url: where the publisher has it.
        is_right: tells it from any other file.
        path: where it is kept.

    Raises:
        DownloadError: there is no connection or no space, or the content is not as expected.

    """
    try:
        if not (path.is_file() and is_right(path)):
            path.parent.mkdir(parents=True, exist_ok=True)
            _remove_stale(path)
            _fetch_anew(url, is_right, path)
    except (OSError, http.client.HTTPException) as error:
        if isinstance(error, HTTPError):
            error.close()  # it holds the server's answer, with an open connection
        why = error.reason if type(error) is URLError else error
        host = urlsplit(url).netloc
        raise DownloadError(f"{path.name} could not be fetched from {host}: {why}") from None
    return path


def _fetch_anew(url: str, is_right: Check, path: Path) -> None:
    """Download under a temporary name, verify, then rename: no partial file gets the final name."""
    handle, name = tempfile.mkstemp(HALF, f"{path.name}-", path.parent)
    half = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            _copy(url, path.name, file)
        if not is_right(half):
            raise DownloadError(f"the file at {url} is not the one that the course expects")
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)


def _copy(url: str, name: str, file: BinaryIO) -> None:
    with urllib.request.urlopen(url, timeout=TIMEOUT) as response:
        length = response.headers.get("Content-Length", "")
        total = int(length) if length.isdigit() else None
        with tqdm(
            desc=name,
            total=total,
            unit="B",
            unit_scale=True,
            file=sys.stdout,
            disable=bool(os.environ.get("TQDM_DISABLE")),
        ) as bar:
            while chunk := response.read(CHUNK):
                file.write(chunk)
                bar.update(len(chunk))
                if file.tell() > MOST:
                    raise DownloadError(f"{url} is larger than {MOST} bytes")


def _remove_stale(path: Path) -> None:
    """Remove partial files left by a process that was killed long ago."""
    for half in path.parent.glob(f"{path.name}-*{HALF}"):
        with contextlib.suppress(FileNotFoundError):
            if half.stat().st_mtime < time.time() - STALE:
                half.unlink()
