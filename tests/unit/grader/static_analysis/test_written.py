"""A stub defines an answer's name, and writes no answer."""

import pytest

from grader.authoring.regions import stubbed
from grader.static_analysis.written import answers_in, stubs_of
from tests.course.lesson_runs import all_lessons

STUB = '''def f(x, n=2):
    """Say what f is."""
    raise NotImplementedError("f is not written yet")'''
BROKEN = "def g(x):\n    if x:\n        a = 1\n        b = 2\n    return x"
STUBS = stubs_of({"f": STUB, "g": BROKEN, "guess": "# How many?\nguess = None"})
EVERY = [
    pytest.param(exercise, id=exercise.id)
    for lesson in all_lessons().values()
    for exercise in lesson.exercises
]


@pytest.mark.parametrize("exercise", EVERY)
def test_every_solution_of_the_course_is_written_and_every_stub_is_not(exercise):
    stub = stubbed(exercise.source, exercise.id)
    stubs = stubs_of({exercise.id: stub})
    assert answers_in(exercise.source, stubs) == {exercise.id: True}
    assert answers_in(stub, stubs) == {exercise.id: False}


@pytest.mark.parametrize("source", [
    STUB,
    STUB.replace("    ", "\t").replace("\n", "\r\n"),
    STUB.replace('"""Say what f is."""', "# later"),
    STUB.replace('"f is not written yet"', ""),
    STUB.replace("x, n=2", "x: int, n: int = 2"),
    f"import math\n{STUB}\n\nprint(1)",
    "def f(x):\n    pass",
    "def f(x):\n    ...",
    "def f(x):\n    raise NotImplementedError",
    "def f(x):\n    '''To do.'''",
    "async def f(x):\n    pass",
    "class f:\n    pass",
    "class f:\n    def __init__(self):\n        raise NotImplementedError\n    def g(self): ...",
    "f = None",
    "f: object = ...",
    "def f(x):\n    return 1\ndef f(x):\n    pass",
])  # fmt: skip
def test_a_stub_is_known_whatever_became_of_its_text(source):
    assert answers_in(source, STUBS) == {"f": False}


@pytest.mark.parametrize("source", [
    "def f(x):\n    return 1",
    "def f(x):\n    raise ValueError",
    "def f(x):\n    return None",
    "@cache\ndef f(x):\n    return 1",
    "class f(list):\n    def g(self):\n        return 1",
    "class f(list):\n    n = 1",
    "f = other",
    "f: object = other",
    "a, (f, *b) = 1, (2, 3)",
    "import f",
    "import a as f",
    "from a import b as f",
    "if True:\n    def f(x):\n        return 1",
    "for f in [1]:\n    pass",
    f"{STUB}\n\ndef f(x):\n    return 1",
    "%%time\ndef f(x):\n    return 1",
])  # fmt: skip
def test_what_else_defines_a_name_writes_its_answer(source):
    assert answers_in(source, STUBS) == {"f": True}


@pytest.mark.parametrize("source", [
    "f == 1", "print(f)", "f.a = 1", "f[0] = 1", "f: int", "def g():\n    f = 1", "del f",
    "class C:\n    def f(self):\n        return 1", "[f for f in []]", "# f = 1", "'''\nf = 1\n'''",
    "f = (", "x = [f for f in 'a']", "def other():\n    global f\n    f = 1",
])  # fmt: skip
def test_what_binds_a_name_elsewhere_or_not_at_all_defines_no_answer(source):
    assert "f" not in answers_in(source, STUBS)


def test_a_statement_moved_into_another_branch_is_a_change():
    moved = BROKEN.replace("        b = 2", "    else:\n        b = 2")
    assert answers_in(BROKEN, STUBS) == {"g": False}
    assert answers_in(moved, STUBS) == {"g": True}


@pytest.mark.parametrize("deep", ["-" * 2000 + "1", "x" + ".strip()" * 2000, "9" * 4000])
def test_what_is_too_deep_for_python_s_own_readers_is_read_all_the_same(deep):
    assert answers_in(f"def f(x):\n    return {deep}", STUBS) in ({"f": True}, {})
