"""Commands that judge nothing start without torch, which takes longer to load than all else."""

import subprocess
import sys

import pytest

import utils.checks
from grader.cli import COMMANDS

JUDGE = ("autograde", "grade", "demo", "build", "fingerprints")
LOADING = """
import sys
from importlib import import_module
for module in sys.argv[1:]:
    import_module(module)
    if {"torch", "numpy"} & set(sys.modules):
        sys.exit(module)
"""


def test_commands_that_judge_nothing_load_neither_torch_nor_numpy():
    modules = [module for name, (module, _) in COMMANDS.items() if name not in JUDGE]
    words = [sys.executable, "-W", "ignore", "-c", LOADING, *modules]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_another_name_than_check_is_not_there():
    with pytest.raises(AttributeError, match="has no attribute 'chekc'"):
        _ = utils.checks.chekc  # type: ignore[attr-defined]
