"""The lessons' own solutions, for measurements: as a student with everything solved has them."""

import re
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from utils.notebook.export_script import needed_parts, source_of_parts

SOLUTIONS = Path(__file__).resolve().parents[1] / "solutions"
NEEDED = (
    "TransformerEncoder", "Tagger", "build_vocab", "collate", "bucket_batches", "train_step",
    "tag_sentences",
)  # fmt: skip
NO_CODE = re.compile(r"\[markdown\]|test=")  # in a cell's header
CELL = re.compile(r"(?m)^(?=# %%)")  # to cut a statement out of a whole lesson takes long
CARRIED = re.compile(r"(?m)^\w+ = carry\(.*$")  # a lesson takes an earlier one's definition


@cache
def solution(names: tuple[str, ...] = NEEDED) -> dict[str, Any]:
    """Run the definitions in the lessons' texts that the names need; none is a stand-in."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(SOLUTIONS.glob("0*.py"))]
    sources = [cell for text in texts for cell in CELL.split(CARRIED.sub("", text))]
    source = source_of_parts(needed_parts(sources, names))
    module = ModuleType(f"solution_{'_'.join(names)}")
    sys.modules[module.__name__] = module  # torch.compile looks for it there
    exec(compile(source, "<solutions>", "exec"), vars(module))
    return vars(module)


def cells(lesson: str) -> list[str]:
    """Return the sources of a lesson's code cells in order, without its tests."""
    text = (SOLUTIONS / f"{lesson}.py").read_text(encoding="utf-8")
    found = re.findall(r"(?ms)^# %%([^\n]*)\n(.*?)(?=^# %%|\Z)", text)
    return [source for header, source in found if not NO_CODE.search(header)]
