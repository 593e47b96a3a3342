"""Honest habits that fail on the grader's machine alone, or stand where nothing runs."""

from tests.attacks.attack import Attack, Notebook
from tests.attacks.malformed import RIGHT_MASK

FLOAT = RIGHT_MASK.replace("(size)", "(size) -> Float[torch.Tensor, '1 t t']")
BLOCKS = "def causal_mask(size):\n    return torch.full((1, size, size), BLOCKED) | lower(size)"
LOWER = "torch.ones(1, n, n, dtype=torch.bool).tril()"
ABOVE = {
    "a type of a library that is not here": f"from not_here import Float\n{FLOAT}",
    "a decorator that is not here": f"from not_here import beartype\n@beartype\n{RIGHT_MASK}",
    "a run that is noted elsewhere": f"import not_here as wandb\nrun = wandb.init()\n{RIGHT_MASK.replace('return', 'run.log({})' + chr(10) + '    return')}",
    "a style that is not here": f"import not_here\nwith not_here.style.context('x'):\n    pass\n{RIGHT_MASK}",
    "plots that are not here": f"import not_here as sns\nif True:\n    sns.set()\nfor i in range(2):\n    sns.heatmap(i)\n{RIGHT_MASK}",
    "an import under a condition": f"if True:\n    import not_here\n    import math\n{RIGHT_MASK.replace('(1, size', '(1, math.floor(size)')}",
    "several imports in a line": f"import not_here, math, torch\n{RIGHT_MASK.replace('(1, size', '(1, math.floor(size)')}",
    "a part that is not here": f"from torch.utils.tensorboard import SummaryWriter\nw = SummaryWriter()\n{RIGHT_MASK}",
    "a window to draw in": f"import matplotlib\nmatplotlib.use('TkAgg')\n{RIGHT_MASK}",
    "another window to draw in": f"import matplotlib.pyplot as plt\nplt.switch_backend('qtagg')\n{RIGHT_MASK}",
    "a drive of one's own": f"import os\nos.chdir('/content/drive')\n{RIGHT_MASK}",
    "a file of one's own": f"import json\nnotes = json.load(open('notes.json'))\n{RIGHT_MASK}",
    "a file from the network": f"from urllib.request import urlretrieve\nurlretrieve('https://x.example/y.png', 'y.png')\n{RIGHT_MASK}",
    "a program of one's own": f"import subprocess\nprint(subprocess.run(['nvidia-smi'], capture_output=True).stdout)\n{RIGHT_MASK}",
    "what one's own machine must have": f"assert torch.get_num_threads() > 1, 'slow'\n{RIGHT_MASK}",
    "data loaded by others": f"from torch.utils.data import DataLoader\nfor b in DataLoader([1, 2], num_workers=2): pass\n{RIGHT_MASK}",
    "a pool of processes": f"from multiprocessing import Pool\nwith Pool(2) as p: p.map(abs, [1, 2])\n{RIGHT_MASK}",
    "a profile": f"with torch.profiler.profile() as p: torch.ones(3)\nrows = p.key_averages().table()\n{RIGHT_MASK.replace('return', 'rows.strip()' + chr(10) + '    return')}",
    "a compiler that forgets": f"torch.compiler.reset()\ntorch._dynamo.reset()\n@torch.compiler.disable\n{RIGHT_MASK}",
    "a task that nobody waits for": f"import asyncio\nasync def f(): return 1\ntask = asyncio.create_task(f())\n{RIGHT_MASK}",
}  # fmt: skip
EARLIER = {
    "a decorator of an earlier cell": ("import not_here as bt", f"@bt.beartype\n{RIGHT_MASK}"),
    "a theme of an earlier cell": ("import not_here as sns", f"sns.set_theme()\n{RIGHT_MASK}"),
    "a loop behind a cell that awaited": (
        "import asyncio\nawait asyncio.sleep(0)",
        f"loop = asyncio.get_event_loop()\n{RIGHT_MASK}",
    ),
}


def _written_into(notebook: Notebook, wanted: str, more: str) -> Notebook:
    """Write into the first demonstration, or a cell of some name; the answer uses what is there."""
    cells = [c for c in notebook["cells"] if c["cell_type"] == "code"]
    tagged = (c for c in cells if "skip-grading" in c["metadata"].get("tags", ()))
    named = (c for c in cells if c.get("id") == wanted)
    cell = next(named if wanted else tagged)
    cell["source"] = f"{more}\n{''.join(cell['source'])}"
    return notebook


BESIDE = {
    "values in a demonstration": ("", f"BLOCKED = False\nlower = lambda n: {LOWER}"),
    "values beside a test": ("test_attend", f"BLOCKED = False\nlower = lambda n: {LOWER}"),
    "definitions under conditions in a demonstration": (
        "",
        "try:\n    from not_here import BLOCKED\nexcept ImportError:\n    BLOCKED = False\n"
        f"if True:\n    def lower(n): return {LOWER}",
    ),
}
TRIES = "an honest habit costs points"
HONEST = [
    *(Attack(name, TRIES, answers={"causal_mask": source}, right=True, score=1.0)
      for name, source in ABOVE.items()),
    *(Attack(name, TRIES, [first], {"causal_mask": answer}, right=True, score=1.0)
      for name, (first, answer) in EARLIER.items()),
    *(Attack(name, TRIES, answers={"causal_mask": BLOCKS}, right=True, score=1.0,
             change=lambda notebook, given=given: _written_into(notebook, *given))
      for name, given in BESIDE.items()),
]  # fmt: skip
