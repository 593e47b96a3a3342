"""Fetch what lessons 06 and 07 take from publishers: `make offline`, before a journey, say."""

import os
import sys
from importlib.util import find_spec

from utils.download import DownloadError
from utils.published import ENGLISH, MODEL, MODEL_PACKAGE, Published


def needs() -> dict[str, Published]:
    """Return what is not here yet; one's own (COURSE_DATA, COURSE_MODEL) counts as here."""
    found: dict[str, Published] = {}
    if not os.environ.get("COURSE_DATA"):
        found["the text of lessons 06 and 07"] = ENGLISH
    if not (os.environ.get("COURSE_MODEL") or find_spec(MODEL_PACKAGE)):
        found |= {"the model of lesson 07": MODEL}
    return {what: published for what, published in found.items() if not published.is_kept}


def offer() -> str:
    """Return one line on what would be fetched later; "" if nothing is."""
    listed = ", ".join(f"{what} ({needed.megabytes} MB)" for what, needed in needs().items())
    command = "python -m utils.offline" if sys.platform == "win32" else "make offline"
    return listed and (
        f"Fetched when a lesson first needs it: {listed}. To have it now and then work without a "
        f"network: {command}"
    )


def main() -> None:
    """Fetch everything that is not here."""
    failed = False
    for what, needed in needs().items():
        sys.stdout.write(f"{what}: {needed.name}, {needed.licence}, about {needed.megabytes} MB\n")
        try:
            for file in needed.files:
                needed.fetched(file)
        except DownloadError as error:
            failed = True
            sys.stdout.write(f"  {error}\n")
    if failed:
        sys.exit("Not everything is here. Run the same command again when the network is back.")
    sys.stdout.write("The text and the model are here: every lesson works without a network.\n")


if __name__ == "__main__":
    main()
