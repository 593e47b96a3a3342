"""Tried from scratch when all others held: more ways around what observes, and more honest habits."""

import json

from tests.attacks.attack import LESSON, Attack, Notebook
from tests.attacks.lent import ENCODER
from tests.attacks.malformed import RIGHT_MASK
from tests.course.lesson_runs import all_lessons

STEPS = """
import sys
f = sys._getframe()
while f:
    for step in f.f_locals.get('steps') or ():
        if isinstance(step, dict) and step.get('exercise'): step['exercise'] = 'causal_mask'
    f = f.f_back
"""
LOOSE = """
import sys, torch
import utils.checks.observe.observe as o
torch.autograd.grad = lambda ys, xs, **_: [torch.zeros_like(x) for x in xs]
torch.equal = torch.Tensor.__eq__ = lambda *_: True
o._seen = lambda *_: o.Observation({})
o.explain_exception = lambda _: None
"""
NO_ENTRIES = "import torch\ndef causal_mask(size): return torch.empty(0, 1 << 20, 1 << 20)"
ROADS = [
    Attack("the steps of the run rewritten", "one exercise is observed in all others' places", [STEPS]),
    Attack("what observes is patched from end to end", "nothing is compared, nothing fails", [LOOSE]),
    Attack("a shape of billions without an entry", "the judge reserves memory for it", answers={"causal_mask": NO_ENTRIES}),
]  # fmt: skip

HABITS = {
    "a captured cell": f"%%capture out\nimport torch\n{RIGHT_MASK}",
    "a counter of calls": RIGHT_MASK.replace("return", "global calls\n    calls += 1\n    return") + "\ncalls = 0",
    "a cache": f"from functools import lru_cache\n@lru_cache\n{RIGHT_MASK}",
    "a progress bar": "from tqdm.auto import tqdm\ndef causal_mask(size):\n    rows = [[j <= i for j in range(size)] for i in tqdm(range(size))]\n    return torch.tensor([rows])",
    "a thousand prints": RIGHT_MASK.replace("return", "for n in range(1000): print(n, end=' ')\n    return"),
    "a function that torch scripts": f"@torch.jit.script\n{RIGHT_MASK.replace('(size)', '(size: int)').replace('(1, size, size,', '([1, size, size],')}",
    "a function that torch compiles": f"@torch.compile\n{RIGHT_MASK}",
    "line ends of another system": RIGHT_MASK.replace("    ", "\t").replace("\n", "\r\n"),
    "tasks that wait for one another": f"import asyncio\nasync def f(): return 1\nnumbers = [n async for n in (await f() for _ in [1])]\nawait asyncio.gather(f(), f())\n{RIGHT_MASK}",
    "figures that nobody closed": f"import matplotlib.pyplot as plt\nfor _ in range(25): plt.subplots()\nplt.show()\n{RIGHT_MASK}",
}  # fmt: skip
LEFT_OPEN = {
    "inference mode that nobody leaves": "import torch; kept = torch.inference_mode(); kept.__enter__()",
    "a mode that sees every function": "from torch.overrides import TorchFunctionMode\nclass M(TorchFunctionMode):\n    def __torch_function__(self, f, t, a=(), k=None): return f(*a, **(k or {}))\nM().__enter__()",
}


def _in_own_cells(place: str, lesson: str, own: str | None = None) -> Attack:
    """Leave each stub in its cell; the answers stand below their tests, or all at the end."""

    def change(notebook: Notebook) -> Notebook:
        answers = {
            cell["id"]: cell["source"] for cell in notebook["cells"] if cell.get("id") in ids
        }
        stubs = {cell.get("id"): cell["source"] for cell in released["cells"]}
        cells, last = [], []
        for cell in notebook["cells"]:
            name = str(cell.get("id"))
            cells.append(
                cell | {"source": stubs[name] if own is None else own} if name in ids else cell
            )
            if (tested := name.removeprefix("test_")) != name and tested in ids:
                new = {
                    "cell_type": "code",
                    "source": answers[tested],
                    "metadata": {},
                    "outputs": [],
                }
                (cells if place == "below" else last).append(new)
        return notebook | {"cells": [*cells, *last]}

    ids = {exercise.id for exercise in all_lessons()[lesson].exercises}
    released = json.loads(all_lessons()[lesson].release_path.read_text(encoding="utf-8"))
    kept = "stubs left" if own is None else "cells emptied"
    return Attack(f"answers of {lesson} {place}, {kept}", "an honest habit costs points",
                  change=change, right=True, score=1.0, lesson=lesson)  # fmt: skip


HONEST = [
    *(Attack(name, "an honest habit costs points", answers={"causal_mask": source}, right=True, score=1.0)
      for name, source in HABITS.items()),
    *(Attack(name, "an honest habit costs points", [code], right=True, score=1.0)
      for name, code in LEFT_OPEN.items()),
    _in_own_cells("below", LESSON), _in_own_cells("at the end", LESSON, "# see below"),
    _in_own_cells("below", ENCODER, "# see below"), _in_own_cells("at the end", ENCODER),
]  # fmt: skip
