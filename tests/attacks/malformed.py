"""Notebooks that are broken, rearranged or dressed up."""

import json

from tests.attacks.attack import Attack

ALL = 1.0


def changed(name, tries, change, **options):
    return Attack(name, tries, change=change, right=True, **options)


def only(data: bytes):
    return lambda _: data


def edited(edit):
    """An edit of each test cell's metadata or source."""

    def change(notebook):
        for cell in notebook["cells"]:
            if is_test(cell):
                edit(cell)
        return notebook

    return change


def is_test(cell):
    """Test cells are called test_<exercise>; one exercise is itself called test_attention."""
    name = str(cell.get("id", ""))
    return name.startswith("test_") and name != "test_attention"


def annotated(notebook):
    """Annotations of a kind that is not defined; nobody asks for them."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["source"] = cell["source"].replace(": Tensor,", ': Float["b t"],')
    return notebook


def imports_more(notebook):
    cell = next(c for c in notebook["cells"] if "import torch" in c["source"])
    cell["source"] = (
        f"import not_here as nh; import json\nfrom not_here.plots import draw\n{cell['source']}"
    )
    return notebook


def helped(notebook):
    """An answer that calls a helper, which was written into the first demonstration."""
    demonstration = next(
        c for c in notebook["cells"] if "skip-grading" in c["metadata"].get("tags", ())
    )
    for cell in notebook["cells"]:
        if cell.get("id") == "causal_mask":
            helper = cell["source"].replace("causal_mask", "lower_half")
            demonstration["source"] = f"{helper}\n{demonstration['source']}"
            cell["source"] = "def causal_mask(size):\n    return lower_half(size)"
    return notebook


def beside_its_test(notebook):
    by_id = {cell.get("id"): cell for cell in notebook["cells"]}
    answer, test = by_id["causal_mask"], by_id["test_causal_mask"]
    test["source"] = f"{answer['source']}\n{test['source']}"
    answer["source"] = "def causal_mask(size):\n    raise NotImplementedError"
    return notebook


def guess_beside_its_test(notebook):
    by_id = {cell.get("id"): cell for cell in notebook["cells"]}
    answer, test = by_id["predict_score_spread"], by_id["test_predict_score_spread"]
    test["source"] = f"{answer['source']}\n{test['source']}"
    answer["source"] = ""
    return notebook


def without_tests(notebook):
    kept = [c for c in notebook["cells"] if not is_test(c)]
    return notebook | {"cells": kept}


def twice(notebook):
    return notebook | {"cells": [*notebook["cells"], *notebook["cells"]]}


def tests_first(notebook):
    tests = [c for c in notebook["cells"] if is_test(c)]
    return notebook | {"cells": [*tests, *without_tests(notebook)["cells"]]}


def no_metadata(notebook):
    return notebook | {"cells": [c | {"metadata": {}} for c in notebook["cells"]], "metadata": {}}


def points_changed(cell):
    cell["metadata"]["nbgrader"]["points"] = 10**6


def hands_marks(cell):
    cell["source"] = "40.0"


def unlocked(cell):
    cell["metadata"]["nbgrader"].update(locked=False, grade=False, solution=True)


def tagged(cell):
    cell["metadata"]["tags"] = ["skip-grading"]


def dressed(cell):
    cell["outputs"] = [{"output_type": "execute_result", "execution_count": 1, "metadata": {},
                        "data": {"text/plain": "1000.0", "text/html": "<script>alert(1)</script>"}}]  # fmt: skip


def text_added(source, kind="markdown", **more):
    """A text cell of the student's own, put in front."""

    def change(notebook):
        cell = {"cell_type": kind, "source": source, "metadata": {}} | more
        return notebook | {"cells": [cell, *notebook["cells"]]}

    return change


BROKEN = {
    "no file": b"", "not JSON": b"{", "not UTF-8": b"\xff\xfe{\x00}\x00", "a list": b"[]", "null": b"null",
    "format 3": json.dumps({"worksheets": [], "nbformat": 3}).encode(), "no cells": b'{"nbformat": 4}',
    "deep JSON": b"[" * 10**6, "too large": b" " * (17 << 20), "too many cells": json.dumps({"cells": [{}] * 3000}).encode(),
    "a huge integer": b'{"cells": ' + b"9" * 10**5 + b"}",
}  # fmt: skip

MALFORMED = [
    *(changed(name, "one student's file stops the batch", only(data), status=("malformed",), score=0.0)
      for name, data in BROKEN.items()),
    changed("tests deleted", "no test, no failure", without_tests, score=ALL),
    changed("every cell twice", "points count twice", twice, score=ALL),
    changed("tests before their exercises", "tests fail or pass before anything is defined", tests_first, score=ALL),
    changed("no metadata", "the grader does not find the cells", no_metadata, score=ALL),
    changed("points changed", "a test is worth a million", edited(points_changed), score=ALL),
    changed("tests unlocked", "tests count as answers", edited(unlocked), score=ALL),
    changed("tests tagged as demonstrations", "tests are skipped", edited(tagged), score=ALL),
    changed("outputs dressed up", "old outputs count as results", edited(dressed), score=ALL),
    Attack("tests that hand out marks", "the submitted test's value is the score",
           change=edited(hands_marks)),
    changed("cells of strange types", "the reader stumbles",
            lambda n: n | {"cells": [None, 3, {"cell_type": "video"}, *n["cells"]]}, score=ALL),
    changed("a million empty outputs", "the reader is kept busy",
            lambda n: n | {"cells": [n["cells"][0] | {"outputs": [{}] * 10**5}, *n["cells"][1:]]}, score=ALL),
    changed("no kernel named", "the grader finds no kernel", lambda n: n | {"metadata": {}}, score=ALL),
    changed("another kernel named", "the grader starts another program",
            lambda n: n | {"metadata": {"kernelspec": {"name": "bash", "language": "bash"}}}, score=ALL),
]  # fmt: skip

# Right answers, and something that must not keep the page from being written, or run on it.
PAGES = [
    changed("a pasted picture", "an honest habit stops the feedback of the whole class", score=ALL,
            change=text_added("![image.png](attachment:image.png)",
                              attachments={"image.png": {"image/png": "iVBORw0KGgo="}})),
    changed("a picture that is not there", "the page stops at it", text_added("![a](attachment:b.png)"), score=ALL),
    changed("a lone surrogate in a text", "no file can hold it", text_added("a\ud800b"), score=ALL),
    changed("a lone surrogate in code", "no file can hold it", text_added("'a\ud800b'", "code"), score=ALL),
    changed("a hundred thousand brackets", "the page takes minutes", text_added("[" * 10**5), score=ALL),
    changed("a script in a text", "it runs with the rights of whoever opens the page",
            text_added("<script>document.title='got you'</script>"), score=ALL),
    changed("a link that is a program", "it runs with the rights of whoever clicks",
            text_added("[a](javascript:alert(1))"), score=ALL),
    changed("a character of 5,000 digits", "the judge ends with an error", text_added("&#" + "9" * 5000 + ";"), score=ALL),
]  # fmt: skip

RIGHT_MASK = "def causal_mask(size):\n    return torch.ones(1, size, size, dtype=torch.bool).tril()"
HABITS = {
    "a magic beside the shell's name": "# as get_ipython() does it:\n%matplotlib inline",
    "more magics than most people write": "%time 1\n" * 15 + "!ls\n" * 15,
    "the shell by its import": "from IPython import get_ipython\n"
                               "get_ipython().run_line_magic('matplotlib', 'inline')",
    "a top-level await": "import asyncio\nawait asyncio.sleep(0)",
    "the value of a magic": "r = %timeit -o 1\nfiles = !ls\nhere = %pwd\n"
                            "print(f'{r.average:.2f}', len(files), here.upper())",
    "what earlier cells showed": "print(_, In[-1:], len(Out))\ndel _",
    "a look for where NaN comes from": "import torch\ntorch.autograd.set_detect_anomaly(True)",
    "a breakpoint and a question left behind": "import pdb\nbreakpoint()\npdb.set_trace()\nname = input('Who?')",
    "a look for errors, left behind": "from IPython.core.debugger import set_trace\nset_trace()",
    "a style of what is not installed here": "import not_here as nh, json\nnh.set_theme()\njson.dumps(1)",
    "the course's modules loaded anew": "import sys\nfor name in [n for n in sys.modules if n[:5] == 'utils']:\n"
                                        "    del sys.modules[name]\nfrom utils import plots",
}  # fmt: skip
HARMLESS = [
    changed("a future import in an early cell", "annotations that later cells never evaluate stop them",
            annotated, score=ALL, code=["from __future__ import annotations"]),
    changed("imports of what is not installed here", "an import that nothing needs costs all below it",
            imports_more, score=ALL),
    changed("a helper in a demonstration", "what is not run is not defined", helped, score=ALL),
    changed("an answer beside its test", "a cell that is not run costs its answer", beside_its_test, score=ALL),
    changed("a guess beside its test", "a cell that is not run costs its answer", guess_beside_its_test, score=ALL),
    Attack("as many threads as a large machine has", "torch ends a process that does not get them", right=True,
           score=ALL, lesson="06_training", code=["import torch; torch.set_num_threads(64)"]),
    *(Attack(name, "what Jupyter runs costs the cell's answer", right=True, score=ALL,
             answers={"causal_mask": f"{habit}\n{RIGHT_MASK}"}) for name, habit in HABITS.items()),
    Attack("prints and warns", "noise costs points", right=True, score=ALL,
           last=["import warnings, sys\nprint('x' * 10000)\nwarnings.warn('careful')\nsys.stderr.write('oh')"]),
    Attack("noise inside an answer", "noise costs points", right=True, score=ALL, answers={
        "causal_mask": "import warnings\ndef causal_mask(size):\n    print('hello'); warnings.warn('careful')\n"
                       "    return torch.ones(1, size, size, dtype=torch.bool).tril()"}),
    Attack("merely slow", "slowness costs points", right=True, score=ALL, answers={
        "causal_mask": "import time\ndef causal_mask(size):\n    time.sleep(0.1)\n"
                       "    return torch.ones(1, size, size, dtype=torch.bool).tril()"}),
    Attack("a cell that fails", "one error costs all that follows", right=True, score=ALL, code=["1 / 0"]),
    Attack("magics and shell commands", "notebook habits cost points", right=True, score=ALL,
           code=["%matplotlib inline\n!pip list\n%timeit 1"]),
    Attack("files of one's own", "harmless writing costs points", right=True, score=ALL,
           code=["open('notes.txt', 'w').write('x')\nprint(open('notes.txt').read())"]),
    Attack("comparing with torch", "a scratch cell is taken for a shortcut", right=True, score=ALL,
           last=["import torch.nn.functional as F\nq = torch.randn(1, 2, 3)\n"
                 "print(F.scaled_dot_product_attention(q, q, q) - scaled_dot_product_attention(q, q, q)[0])"]),
]  # fmt: skip
