"""How observations are judged: order, names, points, words."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from utils.checks import check
from utils.checks.compare import compare
from utils.checks.compare.closeness import all_close, close
from utils.checks.compare.compare import _compare_entries
from utils.checks.exercise import Case, hidden_case
from utils.checks.judge import judge
from utils.checks.observe.expected import inputs_of
from utils.checks.observe.observe import observe
from utils.checks.registry import exercises
from utils.checks.render import MIME, as_mimebundle, as_text
from utils.checks.verdict import CaseResult, Finding, Verdict

SDPA = exercises()["scaled_dot_product_attention"]


def attention_verdict(answer):
    return check.scaled_dot_product_attention.verdict(answer)


def test_an_unknown_mistake_gets_a_finding_and_no_name():
    def of_sines(q, k, v, mask=None):
        return mixed((q @ k.mT).sin() / q.shape[-1] ** 0.5, v, mask)

    verdict = attention_verdict(of_sines)
    assert verdict.mistake is None
    assert "entries differ" in verdict.first_failure.finding.message


@pytest.mark.parametrize(
    ("answer", "kind", "name"),
    [
        (lambda q, k, v, mask=None: None, "nothing", "returns_nothing"),
        (lambda q, k, v, mask=None: (v, q), "shape", None),
        (lambda q, k, v, mask=None: 1 / 0, "exception", None),
        (lambda q, k: None, "exception", None),
        (3, "exception", None),
    ],
)
def test_what_cannot_be_compared_is_explained(answer, kind, name):
    verdict = attention_verdict(answer)
    assert verdict.first_failure.finding.kind == kind
    assert (verdict.mistake.name if verdict.mistake else None) == name
    assert verdict.earned == 0


def test_numbers_that_differ_late_are_shown_with_the_digits_that_tell_them_apart():
    def rounded(q, k, v, mask=None):
        return tuple(x.round(decimals=4) for x in right(q, k, v, mask))

    details = attention_verdict(rounded).first_failure.finding.details
    for line in details:
        expected, got = line.partition("expected ")[2].split(", got ")
        assert expected != got


def right(q, k, v, mask=None):
    return mixed(q @ k.mT / q.shape[-1] ** 0.5, v, mask)


def mixed(scores, v, mask, axis=-1):
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(axis)
    if mask is not None:
        weights = weights.masked_fill(~mask.any(-1, keepdim=True), 0.0)
    return weights @ v, weights


def test_float32_inside_is_caught_by_the_float64_case():
    def answer(q, k, v, mask=None):
        output, weights = right(q.float(), k.float(), v.float(), mask)
        return output.to(q.dtype), weights.to(q.dtype)

    failing = [r.case.name for r in attention_verdict(answer).results if not r.passed]
    assert failing == ["float64"]


def test_a_right_result_without_gradient_is_caught_and_named():
    verdict = attention_verdict(lambda q, k, v, mask=None: right(q.detach(), k, v, mask))
    assert verdict.mistake.name == "cuts_the_gradient"
    assert "no gradient reaches q" in verdict.first_failure.finding.message


def with_gradient(change):
    """The verdict on right results whose gradient of q was changed so, in every case."""
    cases = SDPA.probe.cases
    seen = [observe(SDPA.probe, case, SDPA.oracle, trusted=True) for case in cases]
    gradients = [{**o.gradients, "q": change(o.gradients["q"])} for o in seen]
    forged = [replace(o, gradients=g) for o, g in zip(seen, gradients, strict=True)]
    return judge(SDPA, cases, forged)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda g: None, "cuts_the_gradient"),
        (np.zeros_like, "cuts_the_gradient"),
        (lambda g: g * (np.arange(g.shape[-1]) > 0), "cuts_the_gradient"),
        (lambda g: g / 2, "gradient_in_part"),
        (lambda g: np.full_like(g, np.nan), "gradient_is_nan"),
    ],
)
def test_a_gradient_is_said_to_be_stopped_where_it_is_missing_or_zero(change, name):
    assert with_gradient(change).mistake.name == name


def test_a_right_result_that_writes_into_its_input_is_caught_and_named():
    def answer(q, k, v, mask=None):
        q /= q.shape[-1] ** 0.5
        weights = (q @ k.mT) if mask is None else (q @ k.mT).masked_fill(~mask, -torch.inf)
        weights = weights.softmax(-1).nan_to_num(0.0)
        return weights @ v, weights

    assert attention_verdict(answer).mistake.name == "changes_its_input"


def test_sizes_are_called_by_their_letters():
    verdict = attention_verdict(lambda q, k, v, mask=None: (v, right(q, k, v, mask)[1]))
    assert "expected shape (2, 3, 6) = (B, T, Dv), got (2, 5, 6) = (B, S, Dv)" in (
        verdict.first_failure.finding.message
    )


def test_a_wrong_shape_gets_no_letters_where_one_would_stand_twice():
    def one_query_too_many(q, k, v, mask=None):
        output, weights = right(q, k, v, mask)
        return torch.cat([output[:, :1], output, output, output], 1)[:, :6], weights

    says = attention_verdict(one_query_too_many).first_failure.finding.message
    assert says == "output: expected shape (2, 3, 6) = (B, T, Dv), got (2, 6, 6)."


def result(name, passed, **options):
    return CaseResult(Case(name, **options), None if passed else Finding("values", "", "differs"))


def beside(name):
    """Return a core case whose numbers are right, while something beside them is not."""
    finding = Finding("dtype", "", "differs", demand="the number type kept")
    return CaseResult(Case(name), finding)


@pytest.mark.parametrize(
    ("results", "earned"),
    [
        ([result("a", True, required=True), result("b", True)], 1.0),
        ([result("a", False, required=True), result("b", True)], 0.0),
        ([result("a", True), result("b", False)], 0.5),
        ([result("a", True), result("b", False, hidden=True)], 0.5),
        ([result("a", True, weight=3.0), result("b", False)], 0.75),
        ([result("a", True, required=True, weight=0.0), result("b", False)], 0.0),
        ([result("a", True), result("b", False, demand="x")], 0.8),
        ([result("a", True), result("b", True, demand="x"), result("c", False, demand="y")], 0.9),
        ([result("a", True), result("b", True, demand="x"), result("c", False, demand="x")], 0.8),
        ([result("a", False), result("b", True), result("c", False, demand="x")], 0.4),
        ([result("a", False, required=True), result("b", True, demand="x")], 0.0),
        ([beside("a"), result("b", True)], 0.8),
        ([beside("a"), result("b", True, demand="x")], 0.9),
        ([], 0.0),
    ],
)
def test_the_idea_earns_four_fifths_and_what_is_asked_beside_it_the_rest(results, earned):
    assert Verdict("x", tuple(results)).earned == pytest.approx(earned)


def test_a_verdict_says_that_the_idea_is_right_and_what_was_also_asked():
    met, missed = result("b", True, demand="float64"), result("c", False, demand="an empty row")
    text = as_text(Verdict("x", (result("a", True), missed, met), points=5))
    assert text.startswith(
        "◐ x: the main task is right; 1 of the 2 extra demands is met (4.5 of 5 points)"
    )
    assert text.endswith("\n  Not met: an empty row")


def test_a_failing_case_of_the_idea_is_shown_before_one_of_a_demand():
    results = (result("a", False, demand="x"), beside("b"), result("c", False))
    assert Verdict("x", results).first_failure.case.name == "c"
    assert not Verdict("x", results).idea_is_right


def test_a_missing_observation_fails_its_case_alone():
    cases = SDPA.probe.cases[:2]
    seen = [observe(SDPA.probe, cases[0], SDPA.oracle, trusted=True), None]
    passed = [r.passed for r in judge(SDPA, cases, seen).results]
    assert passed == [True, False]


def test_text_in_html_is_escaped():
    def answer(q, k, v, mask=None):
        raise ValueError("<script>alert(1)</script>")

    html = as_mimebundle(attention_verdict(answer))["text/html"]
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_a_verdict_speaks_html_text_and_json():
    def over_queries(q, k, v, mask=None):
        return mixed(q @ k.mT / q.shape[-1] ** 0.5, v, mask, axis=-2)

    bundle = as_mimebundle(attention_verdict(over_queries))
    assert "Softmax runs over the queries" in bundle["text/plain"]
    assert "Softmax runs over the queries" in bundle["text/html"]
    assert bundle["text/html"].count("background-color: rgb") == 2 * 3 * 5
    data = json.loads(bundle[MIME])
    assert data["mistake"]["name"] == "softmax_over_queries"


def test_an_unknown_exercise_suggests_the_nearest():
    with pytest.raises(AttributeError, match=r"did you mean check\.padding_mask"):
        _ = check.pading_mask


def test_a_hidden_case_may_weigh_more_and_its_weight_is_no_parameter():
    heavy = hidden_case({"case": "large numbers", "weight": 3.0, "B": 2})
    assert (heavy.weight, dict(heavy.params)) == (3.0, {"B": 2})
    assert hidden_case({"case": "small numbers"}).weight == 1.0


def test_a_hidden_case_without_a_name_is_refused():
    with pytest.raises(ValueError, match="needs a name"):
        hidden_case({"B": 2})


def test_the_prediction_is_judged_without_giving_it_away():
    verdict = check.predict_score_spread.verdict(5.0)
    words = as_mimebundle(verdict)["text/plain"]
    assert "expected" not in words.replace("What this usually means", "")
    assert "8" not in words


@pytest.mark.parametrize("answer", ["7.99", True, [8.0], torch.tensor(8.0)])
def test_a_prediction_of_another_type_is_refused_without_giving_the_number_away(answer):
    finding = check.predict_score_spread.verdict(answer).results[0].finding
    assert finding.message.startswith("prediction: expected a plain number, got ")


def test_a_number_where_a_word_is_predicted_is_told_so():
    finding = check.predict_fastest_column.verdict(0).results[0].finding
    assert finding.message.endswith('these words: "first", "middle", "last", "all alike".')


def test_the_visible_check_returns_nothing_and_the_graded_one_points(capsys):
    assert check.causal_mask(lambda n: torch.ones(1, n, n).tril().bool()) is None
    points = check.causal_mask(lambda n: torch.ones(1, n, n).tril().bool(), points=2, hidden=[])
    assert points == 2.0
    assert "2 of 2 points" in capsys.readouterr().out


@pytest.mark.parametrize(
    "gradient",
    [np.zeros(7), np.zeros((1, 1)), np.zeros(3, dtype=int), np.full((2, 3, 4), "text")],
)
def test_a_gradient_of_another_shape_or_type_is_a_finding_and_no_crash(gradient):
    cases = SDPA.probe.cases[:1]
    seen = observe(SDPA.probe, cases[0], SDPA.oracle, trusted=True)
    forged = replace(seen, gradients=dict.fromkeys(seen.gradients, gradient))
    verdict = judge(SDPA, cases, [forged])
    assert verdict.first_failure.finding.kind == "gradient"
    assert "gradient of q: expected" in verdict.first_failure.finding.message


BUCKETS = exercises()["bucket_batches"]


def bucket_verdict(change):
    cases = BUCKETS.probe.cases
    seen = [observe(BUCKETS.probe, case, BUCKETS.oracle, trusted=True) for case in cases]
    return judge(BUCKETS, cases, [replace(o, values=change(dict(o.values))) for o in seen])


def test_facts_about_values_are_found_by_the_judge():
    assert bucket_verdict(lambda values: values).passed


@pytest.mark.parametrize(
    "forged",
    [
        {"a sentence is left out": False, "a sentence is there twice": False},
        {"with a seed": 3},
        {"with a seed": [[0, "1"]]},
        {"with a seed": np.zeros((2, 2))},
        {"with a seed": [np.zeros(2)]},
    ],
)
@pytest.mark.parametrize("rest", [False, True])
def test_facts_that_are_sent_and_values_that_are_none_earn_nothing(forged, rest):
    verdict = bucket_verdict(lambda values: (values if rest else {}) | forged)
    assert verdict.passed == (rest and "with a seed" not in forged)
    if not verdict.passed:
        assert verdict.earned == 0


def test_a_layer_to_be_repaired_holds_no_repair():
    def inherited(layer, x, mask):
        return super(type(layer), layer).forward(x, mask)

    assert check.repaired_layer.verdict(inherited).earned == 0


def rewritten(inputs: dict) -> str:
    return repr(
        {name: getattr(value, "tolist", lambda v=value: v)() for name, value in inputs.items()}
    )


READ = [e for e in exercises().values() if e.invariants or e.facts is not None]


@pytest.mark.parametrize("exercise", READ, ids=lambda e: e.id)
def test_laws_and_facts_leave_the_inputs_that_are_kept_as_they_were(exercise):
    for case in exercise.probe.cases:
        right = observe(exercise.probe, case, exercise.oracle, trusted=True)
        assert judge(exercise, [case], [right]).first_failure is None
        assert inputs_of(exercise, case) is inputs_of(exercise, case)
        kept, fresh = inputs_of(exercise, case), exercise.probe.make(case.params)
        assert rewritten(kept) == rewritten(fresh)


SPECIAL = [0.0, -0.0, 1.0, 1.0 + 1e-6, 1e30, 3e38, -3e38, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("tolerance", [1e-5, 0.1])
def test_whether_all_entries_agree_is_what_asking_for_each_says(dtype, tolerance):
    with np.errstate(all="ignore"):
        values = np.array(SPECIAL).astype(dtype)
    for one in values:
        for other in values:
            wanted, got = np.array([1.0, one], dtype), np.array([1.0, other], dtype)
            each = bool(close(wanted, got, tolerance).all())
            assert (_compare_entries("values", "y", wanted, got, tolerance) is None) == each
            assert not all_close(wanted, got, tolerance) or each


def test_entries_that_agree_are_not_looked_at_one_by_one(monkeypatch):
    monkeypatch.setattr(compare, "close", None)
    wanted = np.linspace(-1, 1, 9, dtype=np.float32)
    assert _compare_entries("values", "y", wanted, wanted + np.float32(1e-7), 1e-5) is None


def leaking(q, k, v, mask=None):
    """Attention that leaves a trace of weight under the mask."""
    scores = q @ k.mT / k.shape[-1] ** 0.5
    shares = (scores - scores.detach().amax(-1, keepdim=True)).exp()
    if mask is not None:
        shares = torch.where(mask, shares, 1e-9 * mask.any(-1, keepdim=True))
    weights = shares / shares.sum(-1, keepdim=True).clamp(min=1e-30)
    return weights @ v, weights


@pytest.mark.parametrize(
    "answer",
    [
        lambda q, k, v, mask=None: (v.add_(0), leaking(q, k, v, mask))[1],
        lambda q, k, v, mask=None: tuple(x.double() for x in leaking(q, k, v, mask)),
    ],
)
def test_what_is_missed_beside_right_numbers_excuses_from_no_law(answer):
    assert 0 < attention_verdict(answer).earned <= attention_verdict(leaking).earned
