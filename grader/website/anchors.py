"""Anchors of sections, which links name."""

import re


def heading_slug(title: str) -> str:
    """Return a section's anchor without its number, so that links outlive a section before it."""
    words = re.sub(r"^\d+\.\s*", "", title).lower()
    return re.sub(r"[^a-z0-9]+", "-", words).strip("-")
