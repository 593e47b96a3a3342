"""Which names an exercise is observed with, where cells behind its place ran before it."""

from grader.workers.notebook.names import Names


def seen(names: Names, *numbers: int) -> list[dict[str, int]]:
    """Return what each step sees; the one numbered n binds `n`, and `x` anew, if it is a cell."""
    namespace: dict[str, int] = {}
    found = []
    for number in numbers:
        names.before(number, namespace)
        found.append(dict(namespace))
        namespace |= {f"n{number}": 1, "x": number}
    return found


def test_without_tests_or_late_exercises_every_step_sees_what_was_before_it():
    assert seen(Names([]), 0, 1) == [{}, {"n0": 1, "x": 0}]


def test_a_test_sees_the_names_where_it_stood():
    assert seen(Names([1]), 0, 2, 1)[-1] == {"n0": 1, "x": 0}


def test_a_second_test_sees_what_stood_between_both():
    assert seen(Names([1, 3]), 0, 2, 1, 3)[-1] == {"n0": 1, "n2": 1, "x": 2}


def test_a_late_exercise_sees_old_values_and_new_names_and_leaves_others_theirs():
    first, *_, late, after = seen(Names([], {2: 0}), 0, 1, 2, 3)
    assert first == {}
    assert late == {"n0": 1, "n1": 1, "x": 0}
    assert after == {"n0": 1, "n1": 1, "x": 1}


def test_a_late_exercise_that_stood_before_all_cells_sees_them_as_they_are():
    assert seen(Names([], {1: -1}), 0, 1)[-1] == {"n0": 1, "x": 0}


def test_a_late_test_sees_old_values():
    assert seen(Names([2], {2: 0}), 0, 1, 3, 2)[-1] == {"n0": 1, "n1": 1, "x": 0}


def test_several_late_exercises_may_have_stood_at_one_place():
    assert [s["x"] for s in seen(Names([], {2: 0, 3: 0}), 0, 1, 2, 3)[2:]] == [0, 0]


def test_a_late_exercise_sees_the_answers_of_earlier_ones_as_they_were_observed():
    namespace = {"first": "a stub", "second": "an answer"}
    names = Names([], {2: 0}, {1: "first", 2: "second"})
    names.before(0, namespace)
    namespace["first"] = "an answer"
    names.before(1, namespace)
    namespace |= {"first": "tried out", "second": "tried out"}
    names.before(2, namespace)
    assert namespace == {"first": "an answer", "second": "an answer"}
    names.before(3, namespace)
    assert namespace == {"first": "tried out", "second": "tried out"}
