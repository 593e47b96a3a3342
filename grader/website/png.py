"""The size of a PNG picture, from its header (PNG specification, section 11.2.2)."""

import struct


def size(content: bytes) -> tuple[int, int]:
    """Return width and height in pixels.

    Raises:
        ValueError: this is no PNG file.

    """
    if content[:8] != b"\x89PNG\r\n\x1a\n" or content[12:16] != b"IHDR":
        raise ValueError("this is no PNG file")
    width, height = struct.unpack(">II", content[16:24])
    return int(width), int(height)
