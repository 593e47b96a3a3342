"""Count how the answers in this folder fare: `python -m tests.course.other_hands.table`.

The table in docs/measured.md holds these numbers. Which causes are true is in judged.json, as a
person judged each.
"""

import json
from collections import Counter

from tests.course.other_hands import Form, forms, judged
from tests.course.other_hands.judge import BOOK


def main() -> None:
    """Print the counts."""
    found = list(forms())
    right = [f for f in found if f.is_right]
    print("right, all asked:", _share([judged(f).passed for f in right if not f.demands]))
    core = [judged(f).earned >= 0.8 for f in right if f.demands]
    print("right idea, at least 80%:", _share(core))
    wrong = [f for f in found if not f.is_right]
    print("wrong, refused:", _share([not judged(f).passed for f in wrong]))
    for faults in (1, 2):
        some = [_cause(f) for f in wrong if len(f.causes) == faults]
        print(f"{faults} faults, cause true:", _share([cause == "true" for cause in some]))
    print("all wrong:", dict(Counter(map(_cause, wrong))))


def _cause(form: Form) -> str:
    """Return what a wrong answer is told: a true or a false cause, a symptom, or numbers alone."""
    verdict = judged(form)
    if verdict.mistake is not None:
        true = json.loads(BOOK.read_text())[form.id][verdict.mistake.name]
        return "true" if true else "false"
    return "symptom" if verdict.symptoms else "numbers or a sentence on the form"


def _share(holds: list[bool]) -> str:
    return f"{sum(holds)} of {len(holds)}"


if __name__ == "__main__":
    main()
