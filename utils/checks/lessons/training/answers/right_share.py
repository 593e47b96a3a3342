"""Accuracy over real words: right answers and common mistakes."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.training.probes import PROBES
from utils.reference.tagging import IGNORED


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
    axis: int | None = -1,
    before: Callable[[Tensor], Tensor] = lambda logits: logits,
    empty: float = 0.0,
    share: bool = True,
) -> Callable[[Tensor, Tensor], float]:
    """Build an accuracy from what counts and what counts as right."""

    def accuracy(logits: Tensor, tags: Tensor) -> float:
        kept = counts(tags)
        right = hit(before(logits).argmax(axis), tags) & kept
        total = float(kept.sum()) if share else 1.0
        return right.sum().item() / total if kept.any() else empty

    return accuracy


def _mean_of_accuracies(logits: Tensor, tags: Tensor) -> float:
    alone = [accuracy_oracle(logits[b : b + 1], tags[b : b + 1]) for b in range(len(tags))]
    return sum(alone) / len(alone)


def _whole_sentences(logits: Tensor, tags: Tensor) -> float:
    return _padding_is_right(logits.argmax(-1), tags).all(1).double().mean().item()


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


def _more_than_half(of: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Tensor], float]:
    """Build an accuracy that asks whether the tag's share, as `of` makes it, is above a half."""

    def accuracy(logits: Tensor, tags: Tensor) -> float:
        real = tags != IGNORED
        shares = of(logits[real]).gather(-1, tags[real].unsqueeze(-1))
        return _divided(shares > 0.5, real) if real.any() else 0.0

    return accuracy


def _mean_of_tags(logits: Tensor, tags: Tensor) -> float:
    found, kinds = logits.argmax(-1), set(tags[tags != IGNORED].tolist())
    shares = [_divided((found == tags) & (tags == kind), tags == kind) for kind in kinds]
    return sum(shares) / max(len(shares), 1)


def _among_the_best(many: int) -> Callable[[Tensor, Tensor], float]:
    """Build an accuracy that counts a word as right if its tag is among the best so many."""

    def accuracy(logits: Tensor, tags: Tensor) -> float:
        best = logits.topk(min(many, logits.shape[-1]), -1).indices
        real = tags != IGNORED
        return _divided((best == tags.unsqueeze(-1)).any(-1) & real, real) if real.any() else 0.0

    return accuracy


def _mean_probability(logits: Tensor, tags: Tensor) -> float:
    real = tags != IGNORED
    shares = logits[real].softmax(-1).gather(-1, tags[real].unsqueeze(-1))
    return shares.mean().item() if real.any() else 0.0


def _confidence(logits: Tensor, tags: Tensor) -> float:
    real = tags != IGNORED
    return logits.softmax(-1).amax(-1)[real].mean().item() if real.any() else 0.0


ACCURACY = Exercise(
    PROBES["accuracy"],
    accuracy_oracle,
    (
        Mistake(
            "padding_counts_as_wrong",
            "Padding counts as words tagged incorrectly: the score is too low.",
            "Leave out the positions where the tag is -100, also in the count that you divide by.",
            _share(counts=_everything),
        ),
        Mistake(
            "padding_counts_as_right",
            "Padding counts as words tagged correctly: the score is too high, and the more "
            "padding there is, the higher.",
            "Leave out the positions where the tag is -100, in both counts.",
            _share(counts=_everything, hit=_padding_is_right),
        ),
        Mistake(
            "padding_as_tag_zero",
            "At padding the model is asked for tag 0.",
            "Leave out the positions where the tag is -100.",
            _share(counts=_everything, hit=lambda found, tags: found == tags.clamp(min=0)),
        ),
        Mistake(
            "tag_zero_left_out",
            "Words with tag 0 are left out as if they were padding.",
            "The padding of tags is -100; 0 is a tag like any other.",
            _share(counts=lambda tags: tags > 0),
        ),
        Mistake(
            "tag_zero_never_right",
            "Words with tag 0 never count as right.",
            "The padding of tags is -100; 0 is a tag like any other.",
            _share(hit=lambda found, tags: (found == tags) & (tags > 0)),
        ),
        Mistake(
            "and_before_comparing",
            "`&` binds more tightly than `==`: the tags are combined with the mask before they "
            "are compared.",
            "Put the comparison in brackets.",
            _combined_first,
        ),
        Mistake(
            "mean_of_sentences",
            "Each sentence is averaged on its own first, so a word in a short one counts more.",
            "Every real word of the batch has the same weight.",
            _mean_of_accuracies,
        ),
        Mistake(
            "share_of_whole_sentences",
            "Sentences are counted, not words, and a sentence counts only if all of its words are "
            "right.",
            "The share is one of words: count them over the whole batch.",
            _whole_sentences,
        ),
        Mistake(
            "mean_of_tags",
            "Each tag is averaged on its own first, so a word with a rare tag counts more.",
            "Every real word of the batch has the same weight.",
            _mean_of_tags,
        ),
        Mistake(
            "more_than_half",
            "A word counts as right only where its tag gets more than half of the probability.",
            "The best tag only has to be ahead of every other tag: compare indices.",
            _more_than_half(lambda logits: logits.softmax(-1)),
        ),
        Mistake(
            "each_tag_by_itself",
            "Each tag is decided on its own: a word counts as right where its tag's logit is "
            "above 0, even if another one's is higher.",
            "The best tag is the one whose logit is highest: compare its index.",
            _more_than_half(torch.sigmoid),
        ),
        *(
            Mistake(
                f"among_the_best_{many}",
                f"A word counts as right where its tag is among the {many} best.",
                "Only the best tag of each word counts.",
                _among_the_best(many),
            )
            for many in (2, 3)
        ),
        Mistake(
            "best_of_all_logits",
            "argmax has no axis, so one number, the place of the largest logit of the whole batch, "
            "is compared with every tag.",
            "Which axis of (B, T, C) holds the tags?",
            _share(axis=None),
        ),
        Mistake(
            "best_word_for_each_tag",
            "argmax runs over the words of the sentence, not over the tags.",
            "Which axis of (B, T, C) holds the tags?",
            _share(axis=1),
        ),
        Mistake(
            "level_after_a_sigmoid",
            "Large logits become equal before the best is chosen: several tags tie, and the first "
            "of them is taken.",
            "The best tag is the one with the largest logit: no sigmoid, tanh or clamp is needed.",
            _share(before=torch.sigmoid),
        ),
        Mistake(
            "share_of_errors",
            "That is the share of errors.",
            "Count the tags that are equal.",
            _share(hit=lambda found, tags: found != tags),
        ),
        Mistake(
            "scores_for_places",
            "The result is 0: no word counts as right, or what is counted is lost.",
            "Compare the tags with the index of the largest logit, not with the logit itself, and "
            "divide with `/`.",
            _highest_scores,
        ),
        Mistake(
            "lowest_logit",
            "The tag with the lowest logit is taken for the model's.",
            "The higher its logit, the likelier a tag: argmax.",
            _share(before=torch.neg),
        ),
        Mistake(
            "mean_probability_of_the_tags",
            "The probabilities of the right tags are averaged; no word is right or wrong.",
            "Which tag is the model's best? Compare that with the right one.",
            _mean_probability,
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
            "`//` drops everything after the decimal point: the share is 0 unless every word is "
            "right.",
            "Divide with `/`.",
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
            "Return 0.0 there.",
            _share(empty=float("nan")),
        ),
        Mistake(
            "divides_by_zero",
            "Without a real word the code divides by zero.",
            "Return 0.0 there.",
            lambda logits, tags: _divided(logits.argmax(-1) == tags, tags != IGNORED),
        ),
        Mistake(
            "one_without_words",
            "Without a real word the share is said to be 1.",
            "Return 0.0 there, as the text asks.",
            _share(empty=1.0),
        ),
    ),
)


def _divided(hits: Tensor, real: Tensor) -> float:
    return int(hits.sum()) / int(real.sum())


EXERCISES = by_id(ACCURACY)
