"""Every attack comes out as it must, under the settings that can matter to it: no gain for it."""

import pytest

from tests.attacks.attack import LESSON, Attack
from tests.attacks.engines import ATTACKS, SETTINGS, NotHere, Result, held_under, results
from tests.attacks.malformed import HARMLESS
from tests.attacks.reaching_out import BOMBS, EARLY, FORGING, LOOTING
from tests.course.lesson_runs import all_lessons

FULL = all_lessons()[LESSON].points


CASES = [(setting, attack) for setting in SETTINGS for attack in held_under(setting)]


def outcomes_of(setting: str) -> list[Result]:
    """What came out for a right answer, a setting's attacks, and a right answer again."""
    try:
        return results(setting)
    except NotHere as error:
        pytest.skip(str(error))


@pytest.fixture(params=SETTINGS, scope="module")
def outcomes(request) -> list[Result]:
    return outcomes_of(request.param)


@pytest.mark.parametrize(
    ("setting", "attack"), CASES, ids=[f"{setting}-{attack.name}" for setting, attack in CASES]
)
def test_an_attack_comes_out_as_it_must(setting: str, attack: Attack):
    result = outcomes_of(setting)[1 + held_under(setting).index(attack)]
    assert result.status in attack.status
    if attack.score is not None:
        total = sum(most for _, most in result.points.values())
        assert result.score == pytest.approx(attack.score * total, abs=1e-9), result
    for exercise in attack.holds:
        earned, most = result.points[exercise]
        assert earned == most, exercise


@pytest.mark.parametrize("place", [0, -1])
def test_right_answers_before_and_after_all_attackers_keep_full_marks(outcomes, place: int):
    assert (outcomes[place].status, outcomes[place].score) == ("graded", FULL)


def test_what_is_malformed_is_told_in_a_sentence():
    first = outcomes_of(next(iter(SETTINGS)))
    told = [result.notes[0] for result in first if result.status == "malformed"]
    assert told
    assert all(sentence.endswith(".") for sentence in told)


def test_what_reaches_out_of_its_process_is_held_under_every_setting():
    everywhere = set.intersection(*({a.name for a in held_under(name)} for name in SETTINGS))
    assert {attack.name for attack in (*FORGING, *LOOTING, *BOMBS, *EARLY, *HARMLESS)} <= everywhere
    assert held_under(next(iter(SETTINGS))) == ATTACKS


def test_there_are_sixty_attacks_and_more_with_names_of_their_own():
    names = [attack.name for attack in ATTACKS]
    assert len(set(names)) == len(names) >= 60
