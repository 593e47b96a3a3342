"""The cells that were run, with and without a history."""

import linecache
from types import SimpleNamespace

import pytest

from utils.notebook.history import cells_run


def shell(history: list[str]) -> SimpleNamespace:
    return SimpleNamespace(user_ns={"In": history})


def test_the_history_is_taken_where_there_is_one(monkeypatch):
    monkeypatch.setattr("utils.notebook.history.get_ipython", lambda: shell(["", "a = 1", "b = 2"]))
    assert cells_run() == ["a = 1", "b = 2"]


def test_without_a_history_the_sources_kept_for_errors_are_taken_in_order(monkeypatch):
    entries = {
        "/tmp/ipykernel_7/2.py": (5, None, ["a = 1\n", "c = 3\n"], ""),
        "/usr/lib/other.py": (5, None, ["x = 1\n"], ""),
        "/tmp/ipykernel_7/1.py": (5, None, ["b = 2\n"], ""),
    }
    monkeypatch.setattr(linecache, "cache", entries)
    monkeypatch.setattr("utils.notebook.history.get_ipython", lambda: shell([""]))
    assert cells_run() == ["a = 1\nc = 3\n", "b = 2\n"]


def test_outside_a_notebook_it_says_so(monkeypatch):
    monkeypatch.setattr("utils.notebook.history.get_ipython", lambda: None)
    with pytest.raises(RuntimeError, match="in a notebook only"):
        cells_run()
