"""Cases that agree with a mistake because they have one size in common."""

from utils.checks.exercise import case
from utils.checks.explain.known.wrong_cases import share_a_size


def cases(*sizes, name="Dk"):
    return [case(f"case {n}", **{name: size, "B": 2 + n % 3}) for n, size in enumerate(sizes)]


def test_three_cases_of_one_size_that_no_other_has_agree_by_chance():
    assert share_a_size(cases(4, 4, 4), cases(8, 3))


def test_two_cases_may_have_one_size():
    assert not share_a_size(cases(4, 4), cases(8, 3))


def test_a_size_that_another_case_has_too_is_no_chance():
    assert not share_a_size(cases(4, 4, 4), cases(4, 3))


def test_cases_of_several_sizes_agree_by_no_chance():
    assert not share_a_size(cases(4, 4, 5), cases(8, 3))


def test_a_size_of_one_and_what_is_no_size_are_no_chance():
    assert not share_a_size(cases(1, 1, 1), cases(8, 3))
    assert not share_a_size(cases(4, 4, 4, name="offset"), cases(8, 3, name="offset"))


def test_where_all_cases_agree_nothing_tells_them_apart():
    assert not share_a_size(cases(4, 4, 4), [])
