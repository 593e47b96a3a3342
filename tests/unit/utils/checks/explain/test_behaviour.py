"""Where no cause is found, a notebook's check calls the student's object again."""

import pytest
import torch

from utils.checks import check
from utils.checks.explain import errors as of_errors
from utils.checks.explain import kept_state
from utils.checks.explain import symptoms as of_results

RANDOM = "Two calls with the same inputs give different results: something in your code is random."
MEMORY = "Your code remembers: after a call with other inputs, the first inputs give other results."
TOGETHER = "Index 0 along axis 0 of context changes when the last index along axis 0 of `scores`"


def symptoms(answer, exercise="attend"):
    """What is said of an answer."""
    verdict = getattr(check, exercise).verdict(answer)
    assert not verdict.passed
    return verdict.symptoms


def right(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(-1)
    weights = weights if mask is None else weights * mask
    return torch.einsum("bs,bsd->bd", weights, values), weights


EXPLAINERS = (kept_state.explain, of_errors.explain, of_results.explain)


@pytest.fixture(autouse=True)
def no_cause_is_found(monkeypatch):
    monkeypatch.setattr("utils.checks.explain.EXPLAINERS", EXPLAINERS)


def test_an_answer_that_is_random_is_told_that_alone():
    def noisy(scores, values, mask=None):
        context, weights = right(scores, values, mask)
        return context, weights + torch.rand_like(weights)

    assert symptoms(noisy)[0] == RANDOM


def test_an_answer_that_uses_the_sizes_of_the_call_before_is_told_that_it_remembers():
    kept = {}

    def late(scores, values, mask=None):
        before, kept["shape"] = kept.get("shape"), scores.shape
        context, weights = right(scores, values, mask)
        return context, weights if before == scores.shape else 2 * weights

    assert symptoms(late)[0] == MEMORY


def test_a_name_that_only_the_check_knows_is_not_told():
    def blind(model, sentences, vocab, tags, batch_size=32):
        return [["VERB" for _ in sentence] for sentence in sentences]

    assert not any("`weight`" in s or "`places`" in s for s in symptoms(blind, "tag_sentences"))


def test_where_right_results_are_drawn_an_answer_is_not_called_random():
    def loses_one(lengths, max_tokens, generator=None):
        return [[n] for n in torch.randperm(len(lengths), generator=generator).tolist()[1:]]

    assert RANDOM not in symptoms(loses_one, "bucket_batches")


def test_an_input_without_effect_is_named():
    def blind(scores, values, mask=None):
        return right(scores, torch.ones_like(values), mask)

    assert (
        symptoms(blind)[0]
        == "The result does not change when `values` does: `values` has no effect."
    )


def test_an_order_without_effect_is_named():
    def blind(layer, x, order):
        other = torch.arange(x.shape[1]).flip(0)
        return (layer(x[:, other]) - layer(x)[:, other]).norm().item()

    said = "The result does not change when `order` does: `order` has no effect."
    assert said in symptoms(blind, "breaks_equivariance")


@pytest.mark.parametrize("ignored", ["source", "target"])
def test_a_place_without_effect_is_named(ignored):
    def blind(encoder, ids, source, target):
        was_training = encoder.training
        encoder.eval()
        with torch.no_grad():
            x = encoder.embed(ids[None])
            without = x.clone()
            without[:, 0 if ignored == "source" else source] = 0.0
            change = encoder.encode(without) - encoder.encode(x)
        encoder.train(was_training)
        return change[0, -1 if ignored == "target" else target].norm().item()

    said = f"The result does not change when `{ignored}` does: `{ignored}` has no effect."
    assert said in symptoms(blind, "influence")


def test_a_number_that_only_decides_whether_a_call_is_refused_has_no_effect_on_the_result():
    def blind(step, d_model, warmup):
        if step < 1:
            raise ValueError("step is at least 1")
        return (d_model * warmup) ** -0.51

    assert "`step` has no effect" in symptoms(blind, "noam_rate")[0]


def test_sentences_that_affect_each_other_are_told():
    def across(scores, values, mask=None):
        context, weights = right(scores, values, mask)
        return context + context.mean(0, keepdim=True), weights

    assert symptoms(across)[0].startswith(TOGETHER)


def test_an_answer_that_only_scales_is_told_nothing_of_behaviour():
    def scaled(scores, values, mask=None):
        context, weights = right(scores, values, mask)
        return 3 * context, weights

    found = symptoms(scaled)
    assert not any(said.startswith((RANDOM, MEMORY, TOGETHER)) for said in found)


def test_in_grading_the_object_is_not_called_again():
    calls = []

    def counted(scores, values, mask=None):
        calls.append(1)
        return scores.sum(-1), scores

    check.attend.verdict(counted, points=1.0)
    graded = len(calls)
    calls.clear()
    check.attend.verdict(counted)
    assert len(calls) > graded


def test_what_the_object_prints_is_not_printed_again(capsys):
    def loud(scores, values, mask=None):
        print("here")
        return scores.sum(-1), scores

    check.attend.verdict(loud)
    shown = capsys.readouterr().out.count("here")
    check.attend.verdict(lambda *a, **k: (loud(*a, **k)[0], right(*a, **k)[1]))
    assert shown == capsys.readouterr().out.count("here")
