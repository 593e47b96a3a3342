"""What came back is told by what it is: another type, nothing, a pair, a changed input."""

import numpy as np
import pytest
import torch

from utils.checks import check
from utils.checks.compare.compare import compare
from utils.checks.exercise import Exercise, Mistake, Probe, case
from utils.checks.judge import judge
from utils.checks.lessons.training.answers.data import vocab_oracle
from utils.checks.observation import Observation, Other, plain
from utils.checks.observe.observe import observe_all

CASES = (
    case("three", n=3),
    case("four", n=4),
    case("a float64", demand="float64", n=5, dtype="float64"),
)


def made(n, dtype="float32"):
    return {"x": torch.arange(1.0, n + 1, dtype=getattr(torch, dtype))}


def seen(answer, i):
    result = answer(i["x"])
    if not isinstance(result, torch.Tensor):
        return {"y": result}
    return {"dtype of y": str(result.dtype), "y": result}


def wrong(x):
    return 3 * x


EXERCISE = Exercise(
    Probe("doubled", made, seen, CASES), lambda x: 2 * x, (Mistake("tripled", "", "", wrong),)
)


def verdict_on(answer):
    return judge(EXERCISE, CASES, observe_all(EXERCISE.probe, CASES, answer))


def in_place(x):
    with torch.no_grad():
        x *= 2
    return x


def in_place_and_right(x):
    y = 2 * x
    x.detach().zero_()
    return y


def test_an_input_changed_in_place_is_one_demand_missed_and_no_known_mistake():
    verdict = verdict_on(in_place_and_right)
    assert verdict.demands == {"inputs left alone": False, "float64": True}
    assert verdict.mistake.name == "changes_its_input"


def test_a_lost_gradient_does_not_hide_that_the_input_was_changed():
    message = verdict_on(in_place).first_failure.finding.message
    assert "gradient" in message
    assert "changed its input x in place" in message


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (lambda x: None, "returns_nothing"),
        (lambda x: (2 * x, x), "several_for_one"),
        (lambda x: 2 * x.numpy(), "returns_numpy"),
        (lambda x: (2 * x).float(), "changes_the_dtype"),
        (lambda x: (2 * x).half(), "changes_the_dtype"),
        (wrong, "tripled"),
    ],
)
def test_what_came_in_another_form_is_told_as_that(answer, cause):
    assert verdict_on(answer).mistake.name == cause


def test_backward_through_numpy_is_not_blamed_on_places():
    verdict = verdict_on(lambda x: torch.from_numpy(2 * x.numpy()))
    assert "numpy" in verdict.mistake.hint
    assert "in-place" not in verdict.mistake.hint.lower()


def test_a_short_type_is_told_as_the_type_and_not_as_a_factor():
    values = np.linspace(0.1, 0.9, 7, dtype=np.float32)
    finding = compare(
        Observation({"y": values}), Observation({"y": values.astype(np.float16)}), 1e-5, {}
    )
    assert finding is not None
    assert (finding.kind, finding.demand) == ("dtype", "the number type kept")


@pytest.mark.parametrize(
    ("wanted", "says"),
    [(True, "This should hold, but does not"), (False, "This holds, but should not")],
)
def test_what_does_not_hold_is_said_in_words(wanted, says):
    finding = compare(Observation({"it": wanted}), Observation({"it": not wanted}), 1e-5, {})
    assert finding is not None
    assert finding.message == f"{says}: it."


def test_what_a_caller_keeps_using_and_finds_changed_is_told_by_its_name():
    def build_vocab(sentences, min_count=1):
        found = vocab_oracle(sentences, min_count)
        for sentence in sentences:
            sentence.reverse()
        return found

    verdict = check.build_vocab.verdict(build_vocab)
    assert verdict.mistake.name == "changes_what_it_is_given"
    assert verdict.mistake.message.endswith("belongs to the caller: the sentences.")


@pytest.mark.parametrize(
    "value",
    [np.float16(8), np.float32(8), np.float64(8), np.int64(8), np.uint8(8), np.bool_(1),
     np.str_("word")],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_a_number_of_numpys_is_one_of_pythons_wherever_it_stands(value):
    for whole, inside in ((value, plain(value)), ([value], plain([value])[0])):
        assert (type(inside), inside) == (type(value.item()), value.item()), whole
    assert plain({"a": (value,)}) == {"a": [value.item()]}


def test_a_value_of_numpys_that_python_has_no_number_for_is_described():
    assert isinstance(plain(np.complex64(1j)), Other)
    assert isinstance(plain(np.longdouble(1)), Other)


@pytest.mark.parametrize("value", [np.float32(8), np.int64(8), np.sqrt(64), 8])
def test_a_prediction_earns_its_points_in_any_type_of_number(value):
    assert check.predict_score_spread.verdict(value).passed


def test_an_array_for_a_prediction_is_told_that_a_plain_number_is_asked_for():
    verdict = check.predict_score_spread.verdict(np.array(8.0))
    assert verdict.mistake.name == "numpy_for_a_number"
    assert "a plain number is asked for" in verdict.mistake.message


def test_an_array_for_a_word_is_not_said_to_stand_for_a_tensor():
    cases = (case("one"),)
    exercise = Exercise(Probe("said", dict, lambda f, _: {"it": f()}, cases), lambda: "word", ())
    verdict = judge(exercise, cases, [Observation({"it": plain(np.array(8.0))})])
    assert verdict.mistake is None


@pytest.mark.parametrize(
    "lazily",
    [lambda x: torch._neg_view(-x), lambda x: torch.complex(x, -x).conj().imag],
    ids=["negated", "the imaginary part of a conjugate"],
)
def test_a_tensor_that_is_still_to_be_negated_is_read_as_what_it_holds(lazily):
    x = torch.arange(3.0)
    assert lazily(x).is_neg()
    assert np.array_equal(plain(lazily(x)), x.numpy())


def test_a_tensor_that_is_still_to_be_conjugated_is_read_as_what_it_holds():
    x = torch.complex(torch.ones(2), torch.ones(2))
    assert np.array_equal(plain(x.conj()), np.conj(x.numpy()))


def test_a_distance_that_is_a_number_of_numpys_is_a_plain_number():
    def distance(layer, x, order):
        return np.float32((layer(x[:, order]) - layer(x)[:, order]).norm().item())

    assert check.breaks_equivariance.verdict(distance).passed
