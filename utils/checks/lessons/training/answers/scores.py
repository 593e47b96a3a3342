"""Loss over real words: right answers and common mistakes."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.training.probes import PROBES
from utils.reference.tagging import IGNORED


def loss_oracle(logits: Tensor, tags: Tensor) -> Tensor:
    """Sum the loss over all tokens but padding, then divide by their number."""
    total = F.cross_entropy(logits.flatten(0, 1), tags.flatten(), reduction="sum")
    return total / max(int((tags != IGNORED).sum()), 1)


SMALL = (1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12)  # that people add before a logarithm


@by_choices
def _loss(
    *,
    axis: int = -1,
    of: Callable[[Tensor], Tensor] = lambda log: log,
    kept: Callable[[Tensor], Tensor] = lambda tags: tags != IGNORED,
    count: Callable[[Tensor], Tensor] = lambda kept: kept.sum().clamp(min=1),
    sign: float = -1.0,
    twice: bool = False,
    smoothing: float = 0.0,
) -> Callable[[Tensor, Tensor], Tensor]:
    """Build a loss step by step.

    Args:
        axis: along which softmax runs.
        of: what is made of the logarithm of the right tag's probability.
        kept: which words count.
        count: what the sum is divided by.
        sign: the factor of each word's term.
        twice: whether softmax is taken twice.
        smoothing: the share of the right tag that goes to all tags alike.

    """

    def loss(logits: Tensor, tags: Tensor) -> Tensor:
        logs = (logits.softmax(axis) if twice else logits).log_softmax(axis)
        right = logs.gather(-1, tags.clamp(min=0).unsqueeze(-1)).squeeze(-1)
        right = torch.lerp(right, logs.mean(-1), smoothing) if smoothing else right
        real = kept(tags)
        return sign * torch.where(real, of(right), 0.0).sum() / count(real)

    return loss


def _each(logits: Tensor, tags: Tensor) -> Tensor:
    """Return the loss of each token, (B, T), zero at padding."""
    return F.cross_entropy(logits.transpose(1, 2), tags, reduction="none")


def _squared(logits: Tensor, tags: Tensor) -> Tensor:
    real = tags != IGNORED
    apart = logits[real].softmax(-1) - F.one_hot(tags[real], logits.shape[-1])
    return apart.square().sum() / real.sum().clamp(min=1)


def _mean_of_sentences(logits: Tensor, tags: Tensor) -> Tensor:
    real = (tags != IGNORED).sum(1)
    return (_each(logits, tags).sum(1) / real.clamp(min=1)).mean()


def _reshaped(logits: Tensor, tags: Tensor) -> Tensor:
    size, length, n_tags = logits.shape
    total = F.cross_entropy(logits.reshape(size, n_tags, length), tags, reduction="sum")
    return total / (tags != IGNORED).sum().clamp(min=1)


def _log_of_softmax(logits: Tensor, tags: Tensor) -> Tensor:
    real = tags != IGNORED
    kept = logits[real].exp()
    shares = kept / kept.sum(1, keepdim=True)
    right = shares.gather(1, tags[real].unsqueeze(1))
    return -right.log().sum() / real.sum().clamp(min=1)


def _log_times_mask(logits: Tensor, tags: Tensor) -> Tensor:
    real = tags != IGNORED
    right = logits.softmax(-1).gather(-1, tags.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    return -(right.log() * real).sum() / real.sum().clamp(min=1)


def _log_of_softmax_and(small: float) -> Callable[[Tensor, Tensor], Tensor]:
    """Build a loss that adds a small number to a finished softmax before the logarithm."""

    def loss(logits: Tensor, tags: Tensor) -> Tensor:
        real = tags != IGNORED
        right = logits[real].softmax(-1).gather(1, tags[real].unsqueeze(1))
        return -(right + small).log().sum() / real.sum().clamp(min=1)

    return loss


def _logits_as_logarithms(logits: Tensor, tags: Tensor) -> Tensor:
    total = F.nll_loss(logits.flatten(0, 1), tags.flatten(), reduction="sum")
    return total / (tags != IGNORED).sum().clamp(min=1)


def _zero_ignored(logits: Tensor, tags: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, 1), tags.flatten(), ignore_index=0)


def _zero_skipped(logits: Tensor, tags: Tensor) -> Tensor:
    flat = logits.flatten(0, 1), tags.flatten()
    total = F.cross_entropy(*flat, reduction="sum", ignore_index=0)
    return total / (tags != IGNORED).sum().clamp(min=1)


def _padding_as_tag_zero(logits: Tensor, tags: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, 1), tags.clamp(min=0).flatten())


LOSS = Exercise(
    PROBES["token_loss"],
    loss_oracle,
    (
        Mistake(
            "padding_in_the_mean",
            "The loss is divided by all positions, padding included: it looks too small.",
            "Divide by the number of real words.",
            _loss(count=lambda kept: torch.tensor(kept.numel())),
        ),
        Mistake(
            "padding_as_tag_zero",
            "At padding the model is asked for tag 0.",
            "Where the tag is -100, no tag is expected.",
            _padding_as_tag_zero,
        ),
        Mistake(
            "tag_zero_ignored",
            "0 is treated as the padding of tags, but it is a tag; the padding is -100.",
            "torch's losses skip -100 by themselves.",
            _zero_ignored,
        ),
        Mistake(
            "tag_zero_ignored_alone",
            "ignore_index=0 leaves out the words with tag 0, not the padding.",
            "The padding of tags is -100, which torch's losses skip by themselves.",
            _zero_skipped,
        ),
        Mistake(
            "without_the_logarithm",
            "One minus the probability is taken, where minus its logarithm was asked for.",
            "Close to 1 the two are alike, but a sure mistake must cost more than 1.",
            _loss(of=lambda log: log.exp() - 1),
        ),
        Mistake(
            "squared_error",
            "The squares of what probabilities lack are added up.",
            "Minus the logarithm of the right tag's probability: nothing else is in the formula.",
            _squared,
        ),
        Mistake(
            "sum_of_words",
            "The losses are summed: the longer the batch, the larger the step.",
            "A mean was asked for.",
            _loss(count=lambda kept: torch.tensor(1)),
        ),
        Mistake(
            "mean_of_sentence_means",
            "Each sentence is averaged on its own first, so a word in a short one counts more.",
            "Every real word of the batch has the same weight.",
            _mean_of_sentences,
        ),
        Mistake(
            "softmax_twice",
            "Softmax is applied before a loss that applies it again: the model hardly learns.",
            "F.cross_entropy expects plain logits.",
            _loss(twice=True),
        ),
        Mistake(
            "softmax_left_out",
            "The logits are used as if they were logarithms of probabilities: softmax is missing.",
            "F.nll_loss expects what log_softmax gives, F.cross_entropy expects plain logits.",
            _logits_as_logarithms,
        ),
        Mistake(
            "softmax_over_time",
            "Softmax runs over the words of the sentence, not over the tags.",
            "Which axis of (B, T, C) holds the tags?",
            _loss(axis=1),
        ),
        Mistake(
            "reshaped_instead_of_transposed",
            "(B, T, C) was reshaped to (B, C, T), which swaps no axes: words and tags are mixed.",
            "A new form keeps the order. F.cross_entropy also takes (N, C) and (N,).",
            _reshaped,
        ),
        Mistake(
            "tags_in_the_middle_axis",
            "F.cross_entropy reads the second axis as the tags; here that is T.",
            "Flatten the first two axes of the logits and all of the tags.",
            F.cross_entropy,
        ),
        Mistake(
            "sign_missing",
            "The loss is negative: minimising it would make the right tag unlikely.",
            "The loss is minus the logarithm of the right tag's probability.",
            _loss(sign=1.0),
        ),
        Mistake(
            "tag_zero_left_out",
            "Words with tag 0 are left out as if they were padding.",
            "The padding of tags is -100; 0 is a tag like any other.",
            _loss(kept=lambda tags: tags > 0),
        ),
        Mistake(
            "probability_without_logarithm",
            "No logarithm is taken: this is minus the mean probability of the right tags.",
            "The loss is minus the logarithm of the right tag's probability.",
            _loss(of=torch.exp),
        ),
        Mistake(
            "logarithm_to_base_two",
            "The logarithm is the one to base 2.",
            "torch.log, the natural one, is the inverse of exp.",
            _loss(of=lambda log: log / math.log(2)),
        ),
        Mistake(
            "divided_by_sentences",
            "The sum is divided by the number of sentences, not of words.",
            "Divide by the number of real words.",
            _loss(count=lambda kept: torch.tensor(len(kept))),
        ),
        Mistake(
            "constant_without_words",
            "Without a real word the result is a new tensor with no connection to the logits, so "
            "no gradient reaches them: backward() fails there, or does nothing.",
            "A sum over no words is 0 and still depends on the logits. What can it be divided by?",
            lambda logits, tags: (
                loss_oracle(logits, tags) if (tags != IGNORED).any() else torch.zeros(())
            ),
        ),
        Mistake(
            "exp_overflows",
            "exp() of a large logit is infinite, and so is the loss.",
            "`log_softmax`, `logsumexp` and F.cross_entropy subtract the largest logit first.",
            _log_of_softmax,
        ),
        Mistake(
            "logarithm_of_zero",
            "The logarithm of a finished softmax is taken: a very unlikely tag has the "
            "probability 0 there, so the loss is infinite.",
            "`log_softmax` and F.cross_entropy never take the logarithm of a small number.",
            _log_of_softmax_and(0.0),
        ),
        Mistake(
            "logarithm_of_zero_at_padding_too",
            "The logarithm of a finished softmax is taken, at padding as well: where the "
            "probability is 0 it is infinite, and infinity times a mask of 0 is NaN.",
            "`log_softmax` and F.cross_entropy never take the logarithm of a small number.",
            _log_times_mask,
        ),
        *(
            Mistake(
                f"logarithm_of_no_less_than_{small}",
                "Something keeps the probability away from 0 before the logarithm is taken, so the "
                "loss of a very unlikely tag stops growing there and has no gradient.",
                "`log_softmax` and F.cross_entropy need no small number: they never take the "
                "logarithm of a finished softmax.",
                _log_of_softmax_and(small),
            )
            for small in SMALL
        ),
        Mistake(
            "label_smoothed",
            "A tenth of each right tag is spread over all tags (label smoothing), which the "
            "formula does not have.",
            "Leave label_smoothing out: only the right tag's probability counts.",
            _loss(smoothing=0.1),
        ),
        Mistake(
            "not_a_number_without_words",
            "Without a real word the mean is 0 / 0.",
            "Divide a sum by the number of real words, but by no less than 1.",
            _loss(count=torch.sum),
        ),
        Mistake(
            "a_number",
            "The result is a plain number, through which no gradient flows.",
            "Return the tensor; .item() comes when the loss is printed.",
            lambda logits, tags: loss_oracle(logits, tags).item(),
        ),
        Mistake(
            "a_loss_for_each_word",
            "The result has a loss for each word; one number for all was asked for.",
            "Take the mean over the real ones.",
            _each,
        ),
    ),
)


EXERCISES = by_id(LOSS)
