"""Every attack comes out as it must, under every setting: no gain, nobody else touched."""

import pytest

from tests.attacks.attack import LESSON, Attack
from tests.attacks.engines import ATTACKS, SETTINGS, NotHere, Result, results
from tests.course.lesson_runs import all_lessons

FULL = all_lessons()[LESSON].points


@pytest.fixture(params=SETTINGS, scope="module")
def outcomes(request) -> list[Result]:
    """What came out for a right answer, all attacks, and a right answer again."""
    try:
        return results(request.param)
    except NotHere as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_an_attack_comes_out_as_it_must(outcomes: list[Result], attack: Attack):
    result = outcomes[1 + ATTACKS.index(attack)]
    assert result.status in attack.status
    if attack.score is not None:
        total = sum(most for _, most in result.points.values())
        assert result.score == pytest.approx(attack.score * total, abs=1e-9), result.points
    for exercise in attack.holds:
        earned, most = result.points[exercise]
        assert earned == most, exercise


@pytest.mark.parametrize("place", [0, -1])
def test_right_answers_before_and_after_all_attackers_keep_full_marks(outcomes, place: int):
    assert (outcomes[place].status, outcomes[place].score) == ("graded", FULL)


def test_what_is_malformed_is_told_in_a_sentence(outcomes: list[Result]):
    told = [result.notes[0] for result in outcomes if result.status == "malformed"]
    assert told
    assert all(sentence.endswith(".") for sentence in told)


def test_there_are_sixty_attacks_and_more_with_names_of_their_own():
    names = [attack.name for attack in ATTACKS]
    assert len(set(names)) == len(names) >= 60
