"""A module of the course that was taken out of `sys.modules` is given back as it was."""

import importlib
import sys
import types

import pytest

from grader.workers.notebook.kept_modules import Kept


@pytest.fixture
def module(monkeypatch):
    """A module of a package that no file holds, kept."""
    package, module = types.ModuleType("kept_only"), types.ModuleType("kept_only.part")
    package.__path__, module.value = [], 3
    monkeypatch.setitem(sys.modules, "kept_only", package)
    monkeypatch.setitem(sys.modules, "kept_only.part", module)
    monkeypatch.setattr(sys, "meta_path", [Kept.of("kept_only"), *sys.meta_path])
    return module


def test_a_module_that_was_taken_out_is_imported_as_it_was(module):
    del sys.modules["kept_only.part"], sys.modules["kept_only"]
    assert importlib.import_module("kept_only.part") is module
    assert module.value == 3


def test_a_module_that_is_reloaded_stays_as_it_is(module):
    module.value = 4
    assert importlib.reload(module) is module
    assert module.value == 4


@pytest.mark.parametrize("name", ["kept_only.other", "kept_only_too"])
def test_what_was_not_kept_is_left_to_other_finders(name, module):
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(name)
