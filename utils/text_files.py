"""Read text that a person wrote, with whatever editor, on whatever system.

Windows' Notepad puts a mark in front of UTF-8, its PowerShell and Excel's "Unicode text" write
UTF-16, and each system has line ends of its own. None of that is part of the text.
"""

import json
from pathlib import Path


def read_text(path: Path) -> str:
    """Read a file as `as_text` does.

    Raises:
        OSError: it cannot be read.
        UnicodeDecodeError: it is no text in any form of Unicode.

    """
    return as_text(path.read_bytes())


def as_text(data: bytes, errors: str = "strict") -> str:
    """Return bytes as text: UTF-8, UTF-16 or UTF-32, no mark in front, lines ended as on Unix.

    Raises:
        UnicodeDecodeError: they are none of these, unless `errors` is "replace".

    """
    text = data.decode(json.detect_encoding(data), errors)  # by its mark, else by where zeros are
    return text.replace("\r\n", "\n").replace("\r", "\n")
