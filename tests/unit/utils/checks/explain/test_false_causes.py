"""Causes that were named once and were false: they stay away, and what is said instead is true."""

import warnings

import pytest
import torch

from tests.course.lesson_runs import lesson_of
from utils.checks import check
from utils.checks.explain import kept_state
from utils.checks.explain.seen.errors_explained import usual_cause
from utils.checks.observation import Problem, ProblemKind
from utils.checks.verdict import Verdict
from utils.reference.attention.torch_attention import reference_attention
from utils.reference.recurrent_cell import reference_cell

NO_EFFECT = "has no effect"


def said(verdict: Verdict) -> str:
    named = [m.message for m in (verdict.mistake, verdict.second) if m is not None]
    return " ".join([*named, *verdict.symptoms])


def graded(name: str, answer: object) -> Verdict:
    """Judge an answer with its lesson's hidden cases, in which more may agree by chance."""
    exercise = next(e for e in lesson_of(name).exercises if e.id == name)
    return getattr(check, name).verdict(answer, points=1.0, hidden=exercise.hidden)


def softmax(x, dim=-1):
    top = x.amax(dim, keepdim=True).nan_to_num(neginf=0.0)
    powers = (x - top).exp()
    return powers, powers.sum(dim, keepdim=True)


def test_a_state_that_is_overwritten_is_told_where_its_gradient_is_wrong():
    def overwriting(x_t, h, w_x, w_h, b):
        new = torch.tanh(x_t @ w_x.T + h @ w_h.T + b)
        h.data.copy_(new.data)
        return new

    assert check.rnn_cell.verdict(overwriting).mistake.name == "changes_its_input"


def test_a_gradient_that_is_cut_is_no_matter_of_digits():
    def without_gradient(x, dim=-1):
        with torch.no_grad():
            powers, total = softmax(x, dim)
            return powers / total.where(total != 0, 1.0)

    assert check.stable_softmax.verdict(without_gradient).mistake.name == "cuts_the_gradient"


@pytest.mark.parametrize("epsilon", [3e-7, 2e-6])
def test_what_is_nearly_right_is_told_so_and_takes_no_name_that_is_right_here(epsilon):
    def with_epsilon(x, dim=-1):
        powers, total = softmax(x, dim)
        return powers / (total + epsilon)

    found = said(check.stable_softmax.verdict(with_epsilon))
    assert "right except for its last digits" in found or "small number is added" in found
    assert "as if" not in found
    assert "minus infinity alone" not in found


def test_numbers_that_are_nearly_right_are_not_said_to_lack_an_effect():
    def by_differences(run, x):
        step = 1e-3
        base = run(x)[:, -1].sum(-1)
        sizes = torch.zeros(x.shape[:2], dtype=x.dtype)
        for t in range(x.shape[1]):
            for d in range(x.shape[2]):
                moved = x.clone()
                moved[:, t, d] += step
                sizes[:, t] += ((run(moved)[:, -1].sum(-1) - base) / step).detach() ** 2
        return sizes.sqrt().mean(0)

    (symptom,) = check.gradient_by_distance.verdict(by_differences).symptoms
    assert "right except for its last digits" in symptom


def test_nan_is_not_taken_for_an_input_without_effect():
    def without_a_shift(scores, values, mask=None):
        powers = scores.exp().square().sqrt()
        powers = powers if mask is None else powers * mask * 1.001
        weights = powers / powers.sum(-1, keepdim=True)
        return (weights[..., None] * values).sum(1), weights

    assert NO_EFFECT not in said(check.attend.verdict(without_a_shift))


def test_one_wrong_entry_of_a_list_is_not_explained_by_what_is_wrong_elsewhere():
    def first_token_raised(step, state, bos, eos, max_len):
        token, tokens = bos, []
        while len(tokens) < max_len:
            logits, state = step(token, state)
            token = int(logits.argmax())
            if token == eos:
                break
            tokens.append(token)
        return [tokens[0] + 1, *tokens[1:]] if len(tokens) == 3 else tokens

    assert "starts from the first state" not in said(
        check.greedy_decode.verdict(first_token_raised)
    )


def test_axes_that_are_exchanged_are_named_when_the_numbers_are_right():
    def in_the_middle(size):
        return torch.ones(size, size).tril().bool().unsqueeze(1)

    verdict = check.causal_mask.verdict(in_the_middle)
    assert verdict.mistake.message == "mask has its axes 0 and 1 in another order."
    assert verdict.second is None


def test_sentences_are_not_said_to_affect_each_other_where_the_batch_is_another_axis():
    def batch_last(query, keys, w):
        return torch.einsum("bq,qk,bsk->sb", query, w, keys) * 1.5

    assert "affect each other" not in said(check.multiplicative_scores.verdict(batch_last))


def test_a_generator_is_told_from_a_list():
    def yielding(step, state, bos, eos, max_len):
        yield from (bos, eos, max_len)

    finding = check.greedy_decode.verdict(yielding).first_failure.finding
    assert "a generator, which `yield` makes of a function" in finding.message


@pytest.mark.parametrize("guess", [3000, 500, 7])
def test_a_prediction_is_not_told_how_far_off_it_is(guess):
    for exercise in ("predict_rnn_steps", "predict_attention_steps"):
        assert getattr(check, exercise).verdict(guess).symptoms == ()


def test_each_wrong_picture_is_a_guess_of_its_own():
    guess = {"A": "masked too late", "B": "softmax twice", "C": "scaling forgotten"}
    assert check.predict_bug_of_symptom.verdict(guess).mistake.name == "flat_taken_for_a_late_mask"


@pytest.mark.parametrize("guess", [{"A": "softmax twice"}, {"A": "softmax twice", "B": None}])
def test_an_answer_that_is_missing_is_no_exercise_not_begun(guess):
    verdict = check.predict_bug_of_symptom.verdict(guess)
    assert not verdict.is_stub
    assert verdict.first_failure.finding.message == "There is no answer for B yet."


def test_a_test_that_is_random_where_it_should_accept_is_called_random():
    def tossing_a_coin(attention):
        x, other = torch.eye(4)[None] * 3, torch.arange(16.0).view(1, 4, 4)
        for mask in (None, torch.ones(1, 4, 4).tril().bool()):
            ours, theirs = reference_attention(x, x, other, mask), attention(x, x, other, mask)
            assert all(torch.allclose(a, b) for a, b in zip(ours, theirs, strict=True))
        assert torch.rand(()) < 0.5

    torch.manual_seed(0)
    assert check.test_attention.verdict(tossing_a_coin).mistake.name == "random_test"


def test_what_is_random_is_not_said_to_remember(monkeypatch):
    answers = iter([True, False, True])
    monkeypatch.setattr(kept_state, "judge_case", lambda *_: None if next(answers) else "wrong")
    verdict = check.stable_softmax.verdict(lambda x, dim=-1: x)
    assert verdict.mistake is None or verdict.mistake.name != "remembers_an_earlier_call"


@pytest.mark.parametrize(
    ("message", "line", "says"),
    [
        ("RuntimeError: Trying to backward through the graph a second time", "", "retain_graph"),
        ("RuntimeError: element 0 of tensors does not require grad", "", "records none"),
        ("ValueError: sizes differ", "raise ValueError('sizes differ')", "Your own `raise`"),
        ("ValueError: too many dimensions 'str'", "torch.tensor(['a'])", ""),
        ("TypeError: 'Tensor' object is not callable", "", "before it was passed"),
        ("RuntimeError: grad can be implicitly created only for scalar outputs", "", "one number"),
    ],
)
def test_an_error_is_explained_by_its_own_cause(message, line, says):
    found = usual_cause(Problem(ProblemKind.EXCEPTION, message, line))
    assert says in found
    assert bool(found) == bool(says)


def test_an_input_that_is_overwritten_is_told_though_it_keeps_its_numbers_in_the_case_shown():
    def rotary(x, base=10000.0, offset=0):
        rates = base ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
        angles = (offset + torch.arange(x.shape[-2]))[:, None] * rates
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        a, b = x[..., 0::2].clone(), x[..., 1::2].clone()
        x[..., 0::2], x[..., 1::2] = a * cos - b * sin, a * sin + b * cos
        return x

    verdict = check.rotary_embedding.verdict(rotary)
    assert verdict.first_failure.finding.kind == ProblemKind.CHANGED  # of one word, at place 0
    assert verdict.mistake.name == "changes_its_input"


def test_a_stub_of_a_test_is_told_nothing_of_errors():
    def unwritten(_attention):
        raise NotImplementedError

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert check.test_attention.verdict(unwritten).symptoms == ()


def test_writing_into_an_input_is_told_also_where_there_was_nothing_to_overwrite():
    def zeroed(x, mask):
        x[~mask] = 0
        return x.sum(1) / mask.sum(1, keepdim=True).clamp(min=1)

    everything_true = [{"case": "no padding", "B": 1, "T": 3, "D": 2}]
    verdict = check.masked_mean.verdict(zeroed, hidden=everything_true)
    assert verdict.mistake.name == "changes_its_input"
    assert verdict.idea_is_right


def test_a_second_call_that_is_wrong_alone_is_put_down_to_memory():
    written = []

    def greedy(step, state, bos, eos, max_len):
        token, room = bos, max_len
        while room and token != eos:
            logits, state = step(token, state)
            token, room = int(logits.argmax()), room - 1
            written.extend([token] * (token != eos))
        return written

    assert check.greedy_decode.verdict(greedy).mistake.name == "remembers_an_earlier_call"


def test_what_is_left_behind_is_not_put_down_to_memory():
    def asking(run, x):
        x.requires_grad_()
        (gradient,) = torch.autograd.grad(run(x)[:, -1].sum(), x)
        return gradient.norm(dim=-1).mean(0)

    found = said(check.gradient_by_distance.verdict(asking))
    assert "It remembers" not in found


def test_two_means_that_agree_by_their_first_digits_in_a_few_cases_have_not_one_cause():
    def filled(x, mask):
        return torch.where(mask[..., None], x, x.mean(1, keepdim=True)).mean(1)

    assert "softmax" not in said(check.masked_mean.verdict(filled))
    assert "softmax" not in said(graded("masked_mean", filled))


def test_a_loss_that_agrees_by_first_digits_in_a_few_cases_does_not_lack_its_softmax():
    def at_a_temperature(logits, tags):
        real = tags != -100
        if not real.any():
            return logits.sum() * 0
        return torch.nn.functional.cross_entropy(logits[real] / 2, tags[real])

    words = said(graded("token_loss", at_a_temperature))
    assert "softmax" not in words
    assert "`logits` were halved" in words


def test_two_faults_that_cancel_do_not_explain_numbers_that_are_nearly_right():
    def cell(x_t, h, *weights):  # tanh left out, and applied twice: that is nearly right, too
        return reference_cell(x_t, h, *weights) + 8e-5

    assert "tanh" not in said(check.rnn_cell.verdict(cell))
