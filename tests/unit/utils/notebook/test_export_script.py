"""The script that is made of a notebook's cells: the student's own definitions, and no others."""

import ast

import pytest

from utils.notebook.export_script import (
    NEEDED,
    NotDefinedYet,
    needed_parts,
    source_of_parts,
    write_script,
)

CELLS = [
    "",  # IPython's In begins with an empty string
    "%matplotlib inline\nimport math\nimport os\nfrom utils.notebook.carry import carry",
    "Encoder = carry('05_encoder', 'TransformerEncoder')",
    "def token_loss(logits, tags):\n    # mine\n    return math.log(logits)",
    "def train_step(model, batch):\n    return token_loss(model, batch)",
    "def make_model():\n    return Encoder(width)",
    "width, depth = 3, 4\nprint(width)",
    "def batches(generator):\n    return []",
    "def dev_accuracy(model):\n    return 0.5",
    "class Settings:\n    epochs = 3\n\nsettings = Settings()",
    "model = make_model(\n",  # a slip, run and mended
    "losses = [train_step(None, None) for _ in range(10**9)]",
]


def source(cells, *names):
    return source_of_parts(needed_parts(cells, names))


def value(cells, name):
    found = {}
    exec(source(cells, name), found)
    return found[name]


def test_the_script_holds_what_training_needs_and_nothing_else(tmp_path):
    defined = write_script(tmp_path / "train.py", CELLS)
    text = (tmp_path / "train.py").read_text()
    assert defined == [
        *("Encoder", "token_loss", "train_step", "make_model", "depth", "width"),
        *("batches", "dev_accuracy", "Settings", "settings"),
    ]
    assert "    # mine\n" in text
    assert "import math\nfrom utils.notebook.carry import carry\n" in text
    assert "import os" not in text
    assert "losses" not in text
    assert "Encoder = carry('05_encoder', 'TransformerEncoder')\n" in text
    call = "train_parallel(make_model, batches, train_step, dev_accuracy, settings, file="
    assert call in text.split('if __name__ == "__main__":')[1]
    ast.parse(text)


def test_a_changed_definition_changes_the_script(tmp_path):
    write_script(tmp_path / "train.py", CELLS)
    before = (tmp_path / "train.py").read_text()
    changed = "def token_loss(logits, tags):\n    return 7"
    write_script(tmp_path / "train.py", [*CELLS, changed])
    after = (tmp_path / "train.py").read_text()
    assert changed in after
    assert "# mine" not in after
    assert changed not in before


@pytest.mark.parametrize("name", NEEDED)
def test_what_is_missing_is_named(tmp_path, name):
    cells = [cell for cell in CELLS if f"def {name}" not in cell and f"{name} = " not in cell]
    with pytest.raises(NotDefinedYet, match=f"^{name} is not defined in the notebook yet$"):
        write_script(tmp_path / "train.py", cells)
    assert not (tmp_path / "train.py").exists()


def test_a_missing_part_is_named_with_what_uses_it(tmp_path):
    cells = [cell for cell in CELLS if "def token_loss" not in cell]
    with pytest.raises(NotDefinedYet, match=r"^token_loss, which train_step uses, is"):
        write_script(tmp_path / "train.py", cells)


def test_a_value_made_from_its_own_earlier_one_takes_both():
    cells = ["epochs = 12", "epochs = epochs // 2", "epochs = epochs - 1"]
    assert value(cells, "epochs") == 5


def test_a_value_that_a_condition_may_change_takes_the_earlier_one_too():
    assert value(["size = 4", "if size > 9:\n    size = 5"], "size") == 4
    assert value(["size = 4", "size += 3"], "size") == 7
    assert value(["size = 4", "for n in range(3):\n    size = size + n"], "size") == 7


def test_a_value_is_made_by_the_function_that_made_it():
    cells = ["def f():\n    return 1", "made = f()", "def f():\n    return 2"]
    assert value(cells, "made") == 1
    cells += ["def use():\n    return f(), made"]
    assert value(cells, "use")() == (2, 1)


def test_a_class_takes_the_base_that_it_was_made_with():
    cells = ["class A:\n    n = 1", "class B(A):\n    def m(self):\n        return k()"]
    cells += ["class A:\n    n = 2", "def k():\n    return 3"]
    made = value(cells, "B")
    assert (made.n, made().m()) == (1, 3)
    assert source(cells, "B").count("class A") == 1


def test_decorators_defaults_and_star_imports_are_taken():
    cells = [
        "from math import *",
        "from functools import cache",
        "start = 5\n@cache\ndef f(x=start, *, y=tau):\n    return x + y",
    ]
    text = source(cells, "f")
    assert "@cache\ndef f" in text
    assert value(cells, "f")() == pytest.approx(5 + 2 * 3.14159265, abs=1e-6)


def test_an_import_that_was_run_twice_stands_there_once():
    cells = ["import math", "def f(x=math.pi):\n    return x, math.e", "import math"]
    assert source(cells, "f").count("import math") == 1


def test_names_inside_functions_and_comprehensions_are_not_looked_for():
    cells = ["def f(a):\n    b = [c for c in a]\n    return {d: b for d in b}, (lambda e: e)(1)"]
    assert value(cells, "f")([1]) == ({1: [1]}, 1)


@pytest.mark.parametrize(
    "made", ["[n for n in words]", "{n for n in words}", "{n: 1 for n in words}"]
)
def test_a_loop_inside_a_list_gives_the_notebook_no_value(made):
    """From Python 3.12 on the compiler's own table says that it does."""
    cells = ["words = [1]", "n = 7", f"shown = {made}", "def size():\n    return n"]
    assert value(cells, "size")() == 7
    assert "shown" not in source(cells, "size")
    assert "n = 7" not in source(cells, "shown")
