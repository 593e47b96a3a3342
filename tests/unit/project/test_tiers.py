"""A quick run leaves out what passed and has not changed since, and nothing else."""

import json
import subprocess

import pytest

from grader.authoring.lesson import lessons
from tests import stages, stamp, tiers
from tests.conftest import part_of

EXERCISES = {lesson.name: [e.id for e in lesson.exercises] for lesson in lessons(stamp.ROOT)}


@pytest.fixture(scope="module", name="now")
def _now() -> dict[str, str]:
    return stamp.keys()


@pytest.fixture(name="kept")
def _kept(tmp_path, monkeypatch):
    """A stamp of its own for a test."""
    monkeypatch.setattr(stamp, "STAMP", tmp_path / "stamp.json")
    monkeypatch.delenv("CI", raising=False)
    return stamp.STAMP


def changed(now: dict[str, str]) -> set[str]:
    later = stamp.keys()
    assert later.keys() == now.keys()
    return {part for part in now if later[part] != now[part]}


def edited(monkeypatch, path: str) -> None:
    """Let a file of the project read otherwise."""
    assert (stamp.ROOT / path).is_file()
    digest = stamp._digest
    monkeypatch.setattr(stamp, "_digest", lambda p: b"new" if p == path else digest(p))


def test_every_lesson_exercise_and_system_is_a_part(now):
    nbval = {tiers.nbval_of(name) for name in EXERCISES}
    tables = {tiers.tables_of(e) for found in EXERCISES.values() for e in found}
    assert now.keys() == nbval | tables | tiers.SYSTEMS.keys()


def test_a_changed_mistake_concerns_its_exercise_and_its_lesson_alone(now, monkeypatch):
    judged_by = stamp.judged_by

    def with_a_change(lesson):
        return {e: f"{k}!" if e == "causal_mask" else k for e, k in judged_by(lesson).items()}

    monkeypatch.setattr(stamp, "judged_by", with_a_change)
    assert changed(now) == {"answers to causal_mask", "nbval of 02_attention"}


@pytest.mark.parametrize(
    ("path", "parts"),
    {
        "utils/plots/heads.py": {tiers.nbval_of(name) for name in EXERCISES},
        "solutions/03_multi_head_attention/03_multi_head_attention.ipynb": {
            "nbval of 03_multi_head_attention"
        },
        "grader/cluster/window.py": {"clusters", "whole classes"},
        "tests/attacks/turned.py": {"two engines"},
        "site/conf.py": {"the site"},
        "tests/course/test_site.py": {"the site"},
        "docs/measured.md": set(),
    }.items(),
)
def test_a_changed_file_concerns_the_parts_that_depend_on_it(now, monkeypatch, path, parts):
    edited(monkeypatch, path)
    assert changed(now) == parts


@pytest.mark.parametrize("path", ["constraints.txt", "tests/conftest.py"])
def test_what_decides_everything_concerns_every_part(now, monkeypatch, path):
    edited(monkeypatch, path)
    assert changed(now) == set(now)


def test_a_change_of_what_judges_every_exercise_concerns_all_of_them(now, monkeypatch):
    edited(monkeypatch, "utils/checks/registry.py")
    assert changed(now) == {part for part in now if part.startswith(("nbval", "answers"))}


def test_an_answer_by_another_hand_concerns_the_exercises_of_its_file(now, monkeypatch):
    edited(monkeypatch, "tests/course/other_hands/rnn_limits.txt")
    assert "answers to rnn_cell" in changed(now)
    assert "answers to causal_mask" not in changed(now)


def test_every_pattern_and_folder_that_a_part_names_is_there():
    named = {*sum(tiers.SYSTEMS.values(), ()), *sum(stamp.OF_SYSTEMS.values(), ())}
    named |= {*stamp.CHECKS, *stamp.TABLES, *stamp.ANSWERS, *stamp.EVERYWHERE}
    assert not [pattern for pattern in named if not any(stamp.ROOT.glob(pattern))]
    assert stamp.OF_SYSTEMS.keys() == tiers.SYSTEMS.keys()


def test_what_git_ignores_counts_nowhere(tmp_path, monkeypatch):
    files = ("site/conf.py", "site/_build/page.html", ".gitignore")
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("/site/_build/\n")
    monkeypatch.setattr(stamp, "ROOT", tmp_path)
    assert sorted(stamp._kept.__wrapped__()) == sorted(files)  # no git here yet
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert sorted(stamp._kept.__wrapped__()) == [".gitignore", "site/conf.py"]


def test_a_part_is_left_out_if_it_passed_and_is_unchanged(now, kept):
    assert stamp.unchanged(now) == []
    stamp.enter(now)
    assert stamp.unchanged(now) == list(now)
    assert stamp.unchanged(now | {"the hub": "other"}) == [p for p in now if p != "the hub"]


class Item:
    """As much of a test as decides which part it belongs to."""

    def __init__(self, module, marker="", **params):
        self.path, self.config = stamp.ROOT / module, self
        self.rootpath, self.marker = stamp.ROOT, marker
        if params:
            self.callspec = self
            self.params = params

    def get_closest_marker(self, name):
        return name == self.marker


class Answer:
    """An answer in a file of answers."""

    def __init__(self, exercise):
        self.exercise = exercise


@pytest.mark.parametrize(
    ("item", "part"),
    [
        (Item("tests/course/test_exercises.py", "table", exercise="attend"), "answers to attend"),
        (Item("tests/course/test_exercises.py", "table"), None),
        (Item("tests/course/test_memorised.py", exercise="attend"), None),
        (Item("tests/course/test_gaps.py", "table", cell=Answer("attend")), "answers to attend"),
        (Item("tests/course/test_other_hands.py", "whole"), tiers.WHOLE),
        (Item("tests/course/test_cluster_kills.py"), "clusters"),
        (Item("tests/course/test_hub_exchange.py"), "the hub"),
        (Item("tests/browser/test_hub_demo.py"), "the hub"),
        (Item("tests/browser/test_learner.py"), "JupyterLab"),
        (Item("tests/attacks/test_interrupted.py"), "killed graders"),
        (Item("tests/attacks/test_attacks.py"), None),
        (Item("tests/unit/hub/test_settings.py"), None),
    ],
)
def test_a_test_belongs_to_a_part_or_is_always_run(item, part):
    assert part_of(item) == part


def test_ci_fails_where_the_stamp_does_not_fit_the_tree(now, kept, monkeypatch, capsys):
    monkeypatch.setenv("CI", "true")
    stamp.enter(now | {"the hub": "as it was"})
    assert stages.settle(now, passed=True).failed
    assert "the hub" in capsys.readouterr().out
    stamp.enter(now)
    assert not stages.settle(now, passed=True).failed


def test_another_python_leaves_the_stamp_as_it_is(now, kept, monkeypatch, capsys):
    monkeypatch.setattr(stamp, "PYTHON", (3, 99))
    monkeypatch.setenv("CI", "true")
    assert not stages.settle(now, passed=True).failed
    assert not kept.exists()
    assert "Python 3.99 makes it" in capsys.readouterr().out


def test_a_full_run_enters_what_passed_and_a_failed_one_nothing(now, kept):
    assert not stages.settle(now, passed=False).failed
    assert not kept.exists()
    assert not stages.settle(now, passed=True).failed
    assert json.loads(kept.read_text()) == now


def test_what_make_is_told_reaches_no_make_that_a_test_calls(tmp_path, monkeypatch):
    (tmp_path / "Makefile").write_text("all:\n\t@echo told: $(ARGS)\n")
    (tmp_path / "calls.py").write_text(f"import os; os.system('make -s -C {tmp_path}')")
    monkeypatch.setitem(stages.SELDOM_COLLECTED, "PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("ARGS", "--all")
    monkeypatch.setenv("MAKEFLAGS", " -- ARGS=--all")
    with stages.started("calls") as process:
        assert process.stdout is not None
        assert process.stdout.read() == "told:\n"


def test_what_is_left_out_is_told_with_counts():
    parts = ["the hub", "nbval of a", "nbval of b", "answers to c", tiers.OTHER_SETTINGS]
    assert tiers.told(parts) == (
        f"nbval of 2 lessons, answers to 1 exercises, the hub, {tiers.OTHER_SETTINGS}"
    )
