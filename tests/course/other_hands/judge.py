"""Judge every answer in this folder and list the named causes that nobody has judged yet.

`python -m tests.course.other_hands.judge` prints them: read each, and enter it in judged.json as
true (it states a fault of the answer, or leads straight to one) or false.
"""

import json
from pathlib import Path

from tests.course.other_hands import forms, judged

BOOK = Path(__file__).with_name("judged.json")


def main() -> None:
    """Print what is named anew."""
    known = json.loads(BOOK.read_text())
    for form in forms():
        mistake = None if form.is_right else judged(form).mistake
        if mistake is not None and mistake.name not in known.get(form.id, {}):
            print(f"{form.id}: {' | '.join(form.causes)}\n  {mistake.name}: {mistake.message}\n")


if __name__ == "__main__":
    main()
