"""Loss and accuracy over real words: right answers and common mistakes."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.checks.framework.combining import by_choices
from utils.checks.framework.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.training.probes import PROBES
from utils.reference.tagging import IGNORED


def loss_oracle(logits: Tensor, tags: Tensor) -> Tensor:
    """Sum the loss over all tokens but padding, then divide by their number."""
    total = F.cross_entropy(logits.flatten(0, 1), tags.flatten(), reduction="sum")
    return total / max(int((tags != IGNORED).sum()), 1)


@by_choices
def _loss(
    *,
    axis: int = -1,
    of: Callable[[Tensor], Tensor] = lambda log: log,
    kept: Callable[[Tensor], Tensor] = lambda tags: tags != IGNORED,
    count: Callable[[Tensor], Tensor] = lambda kept: kept.sum().clamp(min=1),
    sign: float = -1.0,
    twice: bool = False,
) -> Callable[[Tensor, Tensor], Tensor]:
    """Build a loss step by step.

    Args:
        axis: along which softmax runs.
        of: what is made of the logarithm of the right tag's probability.
        kept: which words count.
        count: what the sum is divided by.
        sign: the factor of each word's term.
        twice: whether softmax is taken twice.

    """

    def loss(logits: Tensor, tags: Tensor) -> Tensor:
        logs = (logits.softmax(axis) if twice else logits).log_softmax(axis)
        right = logs.gather(-1, tags.clamp(min=0).unsqueeze(-1)).squeeze(-1)
        real = kept(tags)
        return sign * torch.where(real, of(right), 0.0).sum() / count(real)

    return loss


def _each(logits: Tensor, tags: Tensor) -> Tensor:
    """Return the loss of each token, (B, T), zero at padding."""
    return F.cross_entropy(logits.transpose(1, 2), tags, reduction="none")


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
            lambda logits, tags: _each(logits, tags).mean(),
        ),
        Mistake(
            "padding_as_tag_zero",
            "At padding the model is asked for tag 0.",
            "Where the tag is -100 nothing is asked.",
            _padding_as_tag_zero,
        ),
        Mistake(
            "tag_zero_ignored",
            "0 is taken for the padding of tags; it is a tag, and -100 is the padding.",
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
            "sum_of_words",
            "The losses are summed: the longer the batch, the larger the step.",
            "A mean was asked for.",
            _loss(count=lambda kept: torch.tensor(1)),
        ),
        Mistake(
            "mean_of_sentence_means",
            "Each sentence is averaged by itself first, so a word in a short one counts more.",
            "Every real word of the batch has the same weight.",
            _mean_of_sentences,
        ),
        Mistake(
            "softmax_twice",
            "Softmax is taken before a loss that takes it again: the model hardly learns.",
            "F.cross_entropy wants plain logits.",
            _loss(twice=True),
        ),
        Mistake(
            "softmax_left_out",
            "The logits are taken for logarithms of probabilities; no softmax was taken.",
            "F.nll_loss wants what log_softmax gives, F.cross_entropy wants plain logits.",
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
            "(B, T, C) was reshaped to (B, C, T): the numbers are in the wrong places now.",
            "reshape keeps the order in memory. F.cross_entropy also takes (N, C) and (N,).",
            _reshaped,
        ),
        Mistake(
            "tags_in_the_middle_axis",
            "F.cross_entropy takes the second axis for the tags; here that is T.",
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
            "Without a real word a new tensor comes back that knows nothing of the logits, so "
            "backward() fails there.",
            "Divide a sum over no words, which is 0, by no less than 1; or logits.sum() * 0.",
            lambda logits, tags: (
                loss_oracle(logits, tags) if (tags != IGNORED).any() else torch.zeros(())
            ),
        ),
        Mistake(
            "exp_overflows",
            "exp() of a large logit is infinite, so the loss is.",
            "`log_softmax`, `logsumexp` and F.cross_entropy take the largest logit out first.",
            _log_of_softmax,
        ),
        Mistake(
            "not_a_number_without_words",
            "Without a real word the mean is 0 / 0.",
            "Divide a sum by the number of real words, but by no less than 1.",
            lambda logits, tags: F.cross_entropy(logits.flatten(0, 1), tags.flatten()),
        ),
        Mistake(
            "a_number",
            "The result is a plain number, through which no gradient flows.",
            "Return the tensor; .item() comes when the loss is printed.",
            lambda logits, tags: loss_oracle(logits, tags).item(),
        ),
        Mistake(
            "a_loss_for_each_word",
            "Each word has its loss; one number for all was asked for.",
            "Take the mean over the real ones.",
            _each,
        ),
    ),
)


def accuracy_oracle(logits: Tensor, tags: Tensor) -> float:
    """Count hits word by word."""
    hits = []
    for row, sentence in zip(logits.tolist(), tags.tolist(), strict=True):
        for scores, tag in zip(row, sentence, strict=True):
            if tag != IGNORED:
                hits.append(scores.index(max(scores)) == tag)
    return sum(hits) / len(hits) if hits else 0.0


@by_choices
def _share(
    *,
    counts: Callable[[Tensor], Tensor] = lambda tags: tags != IGNORED,
    hit: Callable[[Tensor, Tensor], Tensor] = lambda found, tags: found == tags,
    axis: int = -1,
    empty: float = 0.0,
    share: bool = True,
) -> Callable[[Tensor, Tensor], float]:
    """Build an accuracy from what counts and what counts as right."""

    def accuracy(logits: Tensor, tags: Tensor) -> float:
        kept = counts(tags)
        right = hit(logits.argmax(axis), tags) & kept
        total = float(kept.sum()) if share else 1.0
        return right.sum().item() / total if kept.any() else empty

    return accuracy


def _mean_of_accuracies(logits: Tensor, tags: Tensor) -> float:
    alone = [accuracy_oracle(logits[b : b + 1], tags[b : b + 1]) for b in range(len(tags))]
    return sum(alone) / len(alone)


def _everything(tags: Tensor) -> Tensor:
    return torch.ones_like(tags, dtype=torch.bool)


def _padding_is_right(found: Tensor, tags: Tensor) -> Tensor:
    return (found == tags) | (tags == IGNORED)


def _combined_first(logits: Tensor, tags: Tensor) -> float:
    real = tags != IGNORED
    return (logits.argmax(-1) == (tags & real)).sum().item() / max(int(real.sum()), 1)


def _highest_scores(logits: Tensor, tags: Tensor) -> float:
    real = tags != IGNORED
    return _divided((logits.amax(-1) == tags) & real, real) if real.any() else 0.0


def _confidence(logits: Tensor, tags: Tensor) -> float:
    real = tags != IGNORED
    return logits.softmax(-1).amax(-1)[real].mean().item() if real.any() else 0.0


ACCURACY = Exercise(
    PROBES["accuracy"],
    accuracy_oracle,
    (
        Mistake(
            "padding_counts_as_wrong",
            "Padding counts as words tagged wrongly: the score is too low.",
            "Leave the positions out where the tag is -100, in the count that you divide by too.",
            _share(counts=_everything),
        ),
        Mistake(
            "padding_counts_as_right",
            "Padding counts as words tagged rightly: the score is too high, the more the more "
            "padding there is.",
            "Leave the positions out where the tag is -100, in both counts.",
            _share(counts=_everything, hit=_padding_is_right),
        ),
        Mistake(
            "padding_as_tag_zero",
            "At padding the model is asked for tag 0.",
            "Leave the positions out where the tag is -100.",
            _share(counts=_everything, hit=lambda found, tags: found == tags.clamp(min=0)),
        ),
        Mistake(
            "tag_zero_left_out",
            "Words with tag 0 are left out as if they were padding.",
            "The padding of tags is -100; 0 is a tag like any other.",
            _share(counts=lambda tags: tags > 0),
        ),
        Mistake(
            "and_before_comparing",
            "`&` binds closer than `==`: the tags are combined with the mask before they are "
            "compared.",
            "Put the comparison in brackets: (... == tags) & real.",
            _combined_first,
        ),
        Mistake(
            "mean_of_sentences",
            "Each sentence is averaged by itself first, so a word in a short one counts more.",
            "Every real word of the batch has the same weight.",
            _mean_of_accuracies,
        ),
        Mistake(
            "best_word_for_each_tag",
            "argmax runs over the words of the sentence, not over the tags.",
            "Which axis of (B, T, C) holds the tags?",
            _share(axis=1),
        ),
        Mistake(
            "share_of_errors",
            "That is the share of errors.",
            "Count what is equal.",
            _share(hit=lambda found, tags: found != tags),
        ),
        Mistake(
            "scores_for_places",
            "The result is 0: no word counts as right, or what is counted is lost.",
            "Compare the tags with the largest logit's index along the last axis, argmax(-1), and "
            "divide by `/`.",
            _highest_scores,
        ),
        Mistake(
            "number_of_hits",
            "The right words are counted, not their share.",
            "Divide by the number of real words.",
            _share(share=False),
        ),
        Mistake(
            "mean_confidence",
            "The highest probabilities are averaged; no tag is compared.",
            "A word is right or wrong, however sure the model is: compare the best tag with tags.",
            _confidence,
        ),
        Mistake(
            "whole_division",
            "`//` drops what comes behind the point: the share is 0 unless every word is right.",
            "Divide by `/`.",
            lambda logits, tags: float(math.floor(accuracy_oracle(logits, tags))),
        ),
        Mistake(
            "percent",
            "The share is in percent.",
            "A share lies between 0 and 1.",
            lambda logits, tags: 100 * accuracy_oracle(logits, tags),
        ),
        Mistake(
            "a_tensor",
            "The result is a tensor.",
            "Return a plain number: .item() or float(...).",
            lambda logits, tags: torch.tensor(accuracy_oracle(logits, tags)),
        ),
        Mistake(
            "not_a_number_without_words",
            "Without a real word the share is 0 / 0.",
            "Say 0.0 there.",
            _share(empty=float("nan")),
        ),
        Mistake(
            "divides_by_zero",
            "Without a real word the code divides by zero.",
            "Say 0.0 there.",
            lambda logits, tags: _divided(logits.argmax(-1) == tags, tags != IGNORED),
        ),
        Mistake(
            "one_without_words",
            "Without a real word the share is said to be 1.",
            "Say 0.0 there, as the text asks.",
            _share(empty=1.0),
        ),
    ),
)


def _divided(hits: Tensor, real: Tensor) -> float:
    return int(hits.sum()) / int(real.sum())


EXERCISES = by_id(LOSS, ACCURACY)
