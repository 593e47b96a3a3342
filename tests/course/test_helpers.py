"""What notebooks may import gives no exercise away."""

import builtins
import importlib
import inspect
import pkgutil
from functools import cache
from types import CodeType

import pytest
from matplotlib import pyplot as plt

import utils
from grader.workers.hollow import HOLLOW
from grader.workers.lending import PACKAGE
from tests.course.lesson_runs import all_lessons, lesson_of, names_of
from utils.checks.framework.judge import score
from utils.checks.framework.observe import observe_all
from utils.checks.registry import exercises


def helpers() -> dict[str, object]:
    """Every function and class of utils, _private ones too; not checks, nor what starts servers."""
    names = [m.name for m in pkgutil.walk_packages(utils.__path__, "utils.")]
    modules = [importlib.import_module(n) for n in names if not n.startswith("utils.checks")]
    return {
        f"{module.__name__}.{name}": thing
        for module in modules
        for name, thing in vars(module).items()
        if getattr(thing, "__module__", "").startswith("utils.")
        and (inspect.isfunction(thing) or inspect.isclass(thing))
        and name != "main"
    }


HELPERS = helpers()
names_in = cache(lambda lesson: names_of(all_lessons()[lesson]))
CALLED = [e for e in exercises().values() if e.probe.kind in ("write", "repair")]


def may_be_called_like(answer: object, helper: object) -> bool:
    """Return whether some call that an answer takes is one that a helper takes, too.

    If there is none, every call fails, whatever the helper does: most pairs need not be tried.
    """
    parameters = inspect.signature(answer).parameters
    names, needed = list(parameters), [p for p in parameters.values() if p.default is p.empty]
    try:
        takes = inspect.signature(helper)
    except ValueError:  # of an exception, which takes whatever it is given
        return True
    calls = [(names[:count], {}) for count in range(len(needed), len(names) + 1)]
    return any(binds(takes, *call) for call in [*calls, ([], dict.fromkeys(names))])


def binds(takes: inspect.Signature, places: list[str], words: dict[str, object]) -> bool:
    try:
        takes.bind(*places, **words)
    except TypeError:
        return False
    return True


@pytest.fixture(autouse=True)
def without_descriptors(monkeypatch):
    """A helper that reads a file, called with a size, would close what has that number."""
    really = builtins.open

    def open_by_name(file, *args, **kwargs):
        if isinstance(file, int):
            raise TypeError(f"a helper opened the descriptor {file}")
        return really(file, *args, **kwargs)

    monkeypatch.setattr(builtins, "open", open_by_name)


@pytest.fixture(autouse=True, scope="module")
def figures_used_again():
    """Helpers that draw begin with an empty figure: to make one takes longer than all that they do.

    What earlier ones drew into it stays there, which no observation sees.
    """
    anew = plt.subplots
    kept = cache(anew)

    def subplots(*places, **words):
        try:
            return kept(*places, **words)
        except TypeError:  # what has no hash
            return anew(*places, **words)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plt, "subplots", subplots)
        yield


@pytest.mark.parametrize("exercise", CALLED, ids=lambda exercise: exercise.id)
def test_no_helper_earns_points_unless_it_is_absent_while_grading(exercise):
    answer = names_in(lesson_of(exercise.id).name)[exercise.id]
    for path, helper in HELPERS.items():
        if path.startswith((PACKAGE, *HOLLOW)) or not may_be_called_like(answer, helper):
            continue
        seen = observe_all(exercise.probe, exercise.probe.cases, helper, quiet=True)
        assert score(exercise, exercise.probe.cases, seen) == 0, path
        plt.close("all")  # what helpers drew would stay, and be looked through ever again


def names_used(code: CodeType) -> set[str]:
    inner = (part for part in code.co_consts if isinstance(part, CodeType))
    return set(code.co_names).union(*map(names_used, inner))


def test_no_helper_that_is_there_while_grading_takes_exponentials():
    """A picture that needs a softmax computes one, whatever else it does with it."""
    there = {p: h for p, h in HELPERS.items() if not p.startswith((PACKAGE, *HOLLOW))}
    found = {
        p for p, h in there.items() if inspect.isfunction(h) and "exp" in names_used(h.__code__)
    }
    assert not found
