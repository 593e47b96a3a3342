"""Building masks: right answers and common mistakes."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.attention.probes import PROBES

Change = Callable[[Tensor], Tensor]


def padding_oracle(lengths: Tensor, max_len: int) -> Tensor:
    """Build the mask entry by entry: position s is real when s < the sentence's length."""
    rows = [[[s < int(n) for s in range(max_len)]] for n in lengths]
    return torch.tensor(rows, dtype=torch.bool).to(lengths.device)


def causal_oracle(size: int) -> Tensor:
    """Build the mask entry by entry: position t may look at s when s <= t."""
    return torch.tensor([[[s <= t for s in range(size)] for t in range(size)]])


def _same(x: Tensor) -> Tensor:
    return x


@by_choices
def _padding(
    *,
    longer: int = 0,
    count: Callable[[Tensor, int], int] = lambda lengths, max_len: max_len,
    of: Callable[[Tensor, int], Tensor] = lambda lengths, max_len: lengths,
    values: Change = _same,
    front: bool = False,
    axes: Change = _same,
    kind: torch.dtype = torch.bool,
    on_the_cpu: bool = False,
) -> Any:
    """Build a padding_mask with the given choices.

    Args:
        longer: positions that every sentence gets beside its own.
        count: (lengths, max_len) -> positions of the mask.
        of: (lengths, max_len) -> the lengths that are used.
        values: applied to the mask (B, 1, S).
        front: whether the padding stands in front.
        axes: what becomes of the axes in the end.
        kind: the type of the entries.
        on_the_cpu: whether positions stay there, wherever the lengths are.

    """

    def mask(lengths: Tensor, max_len: int) -> Tensor:
        if on_the_cpu:
            lengths = lengths + torch.zeros(1, dtype=lengths.dtype)
        found = padding_oracle(of(lengths, max_len) + longer, count(lengths, max_len))
        return axes(values(found.flip(-1) if front else found)).to(kind)

    return mask


@by_choices
def _causal(
    *, last: int = 0, values: Change = _same, axes: Change = _same, kind: torch.dtype = torch.bool
) -> Any:
    """Build a causal_mask with the given choices.

    Args:
        last: how far beyond itself a position sees.
        values: applied to the mask (1, T, T).
        axes: what becomes of the axes in the end.
        kind: the type of the entries.

    """
    return lambda size: axes(values(torch.ones(1, size, size).tril(last).bool())).to(kind)


def _without_axis(lengths: Tensor, max_len: int) -> Tensor:
    return (torch.arange(max_len) < lengths)[:, None]


def _additive(size: int) -> Tensor:
    return torch.full((size, size), -torch.inf).triu(1)


def _first_of_all(lengths: Tensor, _max_len: int) -> Tensor:
    return lengths[:1].expand_as(lengths)


def _longest_of_all(lengths: Tensor, _max_len: int) -> Tensor:
    return lengths.amax().expand_as(lengths)


def _last_alone(mask: Tensor) -> Tensor:
    return mask & ~torch.cat([mask[..., 1:], torch.zeros_like(mask[..., :1])], -1)


def _all_if_any(lengths: Tensor, max_len: int) -> Tensor:
    return max_len * (lengths > 0)


def _all_if_none(lengths: Tensor, max_len: int) -> Tensor:
    return torch.where(lengths == 0, max_len, lengths)


def _reshaped(mask: Tensor) -> Tensor:
    return mask[:, 0].T.reshape(mask.shape)


def _first_alone(mask: Tensor) -> Tensor:
    alone = torch.zeros_like(mask)
    alone[:, 0, 0] = True
    return alone


_TRUE = (
    "In this course True means “may be attended to”, as in torch's scaled_dot_product_attention."
)
_FROM_ZERO = "Positions count from 0: a sentence of 2 words has positions 0 and 1."
_BETWEEN = "An axis of size one belongs between B and S."
_NUMBERS = tuple(
    (name, f"The mask holds {words}, not True and False.", kind)
    for name, words, kind in (
        ("not_boolean", "numbers", torch.float32),
        ("integers", "whole numbers", torch.long),
    )
)
ENTRIES = (
    Mistake(
        "mask_inverted",
        "The mask is True on the padding.",
        _TRUE,
        _padding(values=torch.logical_not),
    ),
    Mistake(
        "one_too_many", "Each sentence gets one position too many.", _FROM_ZERO, _padding(longer=1)
    ),
    Mistake(
        "longest_for_all",
        "All sentences get the length of the longest one.",
        "Each sentence has a length of its own: lengths has one for each.",
        _padding(of=_longest_of_all),
    ),
    Mistake(
        "last_word_alone",
        "Of each sentence only the last word is allowed.",
        "All positions before the length are real, not that one alone.",
        _padding(values=_last_alone),
    ),
    Mistake("one_too_few", "Each sentence loses its last word.", _FROM_ZERO, _padding(longer=-1)),
    Mistake(
        "padding_in_front",
        "The mask treats the first positions as padding and the last ones as words.",
        "The words of a sentence come first, its padding after them.",
        _padding(front=True),
    ),
    Mistake(
        "one_length_for_all",
        "All sentences get the length of the first one.",
        "Each row of the mask has its own length: compare the positions with a column of lengths.",
        _padding(of=_first_of_all),
    ),
    Mistake(
        "full_sentence_closed",
        "A sentence as long as max_len gets no position at all.",
        "A full sentence has no padding. If you slice from the end: which positions does a slice "
        "from -0 on take?",
        _padding(of=lambda lengths, max_len: lengths * (lengths < max_len)),
    ),
    Mistake(
        "empty_sentence_gets_a_word",
        "An empty sentence gets one position, as if it had a word.",
        "Its row is False everywhere: attention has to cope with that, and does.",
        _padding(of=lambda lengths, max_len: lengths.clamp(min=1)),
    ),
    Mistake(
        "empty_sentence_gets_all",
        "An empty sentence gets all positions.",
        "A length of 0 is treated as a full one. If you look rows up by `lengths - 1`: index -1 "
        "is the last row.",
        _padding(of=_all_if_none),
    ),
    Mistake(
        "every_word_opens_all",
        "Every sentence that has a word gets all positions.",
        "Along which axis is the mask filled? The second axis has size one; the keys are the last.",
        _padding(of=_all_if_any),
    ),
    Mistake(
        "comparison_reshaped",
        "A table (S, B) is reshaped to (B, 1, S), not transposed: sentences are mixed up.",
        "A new form of the same entries keeps their order. Which function swaps two axes?",
        _padding(axes=_reshaped),
    ),
    Mistake(
        "as_long_as_the_longest",
        "The mask is as long as the longest sentence, not max_len.",
        "Count positions up to max_len.",
        _padding(count=lambda lengths, max_len: int(lengths.max())),
    ),
    Mistake(
        "everything_allowed",
        "The mask is True everywhere: no padding is blocked.",
        "Compare each position with the sentence's length.",
        _padding(values=torch.ones_like),
    ),
)
AXES = (
    *(
        Mistake(name, message, hint, _padding(axes=axes))
        for name, message, hint, axes in (
            (
                "no_axis_for_queries",
                "The mask is (B, S): it lacks the axis that broadcasts over queries.",
                _BETWEEN,
                lambda mask: mask[:, 0],
            ),
            (
                "axis_at_the_end",
                "The mask is (B, S, 1): the axis of size one comes last, so the mask would block "
                "queries, not keys.",
                _BETWEEN,
                lambda mask: mask.transpose(1, 2),
            ),
            (
                "axis_in_front",
                "The mask is (1, B, S): the axis of size one comes first, so the sentences would "
                "take the place of the queries.",
                _BETWEEN,
                lambda mask: mask.transpose(0, 1),
            ),
            (
                "one_axis_too_many",
                "The mask is (B, 1, 1, S): it has one axis too many.",
                "Scores are (B, T, S) here. An axis for heads comes in the next lesson.",
                lambda mask: mask[:, None],
            ),
            (
                "repeated_for_every_query",
                "The mask is repeated along the axis of the queries: (B, S, S).",
                "There may be more or fewer queries than keys. An axis of size one fits any "
                "number.",
                lambda mask: mask.expand(-1, mask.shape[-1], -1),
            ),
            (
                "queries_blocked_too",
                "The mask is (B, S, S) and blocks the rows of the padding, too: they are left with "
                "nothing to attend to.",
                "A mask says which keys may be looked at. Give it an axis of size one for queries.",
                lambda mask: mask & mask.transpose(1, 2),
            ),
        )
    ),
    Mistake(
        "lengths_without_an_axis",
        "Lengths and positions are compared along the same axis: B lengths against max_len "
        "positions.",
        "Each length is compared with all positions: which of the two needs an axis of size one?",
        _without_axis,
    ),
    *(
        Mistake(name, message, "A comparison gives a boolean tensor; keep it as it is.",
                _padding(kind=kind))
        for name, message, kind in _NUMBERS
    ),
)  # fmt: skip
_ADDITIVE = (
    "This is an additive mask: 0 where a position may look, minus infinity where it may not. Some "
    "libraries add such a mask to the scores.",
    "In this course a mask holds True, “may be attended to”, and False.",
)
CAUSAL = (
    Mistake(
        "nothing_allowed",
        "The mask is False everywhere: no position may look anywhere.",
        "Row t has True at positions 0 to t.",
        _causal(values=torch.zeros_like),
    ),
    Mistake("additive", *_ADDITIVE, lambda size: _additive(size)[None]),
    Mistake("additive_without_an_axis", *_ADDITIVE, _additive),
    Mistake(
        "looks_ahead",
        "Each position sees itself and what comes after it.",
        "Row t is the query. It may look at positions s up to t: the lower triangle.",
        _causal(values=lambda mask: mask.transpose(1, 2)),
    ),
    Mistake(
        "without_itself",
        "A position may not look at itself, so the first one sees nothing.",
        "The diagonal is allowed.",
        _causal(last=-1),
    ),
    Mistake(
        "without_itself_but_for_the_first",
        "A position may not look at itself; only the first one may.",
        "The diagonal is allowed, all of it.",
        _causal(values=lambda mask: mask.tril(-1) | _first_alone(mask)),
    ),
    Mistake(
        "one_step_back",
        "Each position sees itself and the one just before it, and nothing earlier.",
        "It may look at everything that came before it: a triangle, not a band.",
        _causal(values=lambda mask: mask.triu(-1)),
    ),
    Mistake(
        "last_row_missing",
        "The last position may look nowhere: its row is False.",
        "`size` positions are `size` rows, and the last one, counted from 0, is size - 1.",
        _causal(values=lambda mask: mask & ~mask[:, :, -1:]),
    ),
    Mistake(
        "one_ahead",
        "Each position sees one step into the future.",
        "The triangle ends with the diagonal.",
        _causal(last=1),
    ),
    Mistake(
        "blocked_is_true",
        "The mask is True where attention is blocked.",
        "In this course True means “may be attended to”.",
        _causal(values=torch.logical_not),
    ),
    Mistake(
        "itself_only",
        "Each position sees itself and nothing else.",
        "It may look at everything that came before it too: a triangle, not a diagonal.",
        _causal(values=lambda mask: mask & mask.transpose(1, 2)),
    ),
    *(
        Mistake(name, message, hint, _causal(axes=axes))
        for name, message, hint, axes in (
            (
                "no_axis_for_the_batch",
                "The mask is (T, T): it lacks the axis that broadcasts over the batch.",
                "Put an axis of size one in front.",
                lambda mask: mask[0],
            ),
            (
                "one_axis_too_many",
                "The mask is (1, 1, T, T): it has one axis too many.",
                "Scores are (B, T, S) here. An axis for heads comes in the next lesson.",
                lambda mask: mask[None],
            ),
            (
                "axis_at_the_end",
                "The mask is (T, T, 1): the axis of size one belongs in front.",
                "The batch is the first axis of the scores.",
                lambda mask: mask[0, ..., None],
            ),
        )
    ),
    *(
        Mistake(
            name,
            message,
            "A comparison gives a boolean tensor, and so does dtype=torch.bool where one is made.",
            _causal(kind=kind),
        )
        for name, message, kind in _NUMBERS
    ),
    Mistake(
        "same_size_for_all",
        "The mask has the same size whatever `size` is.",
        "Is an earlier mask kept and returned again, or is a number written in place of `size`?",
        lambda size: causal_oracle(4),
    ),
)

DEVICE = (
    Mistake(
        "positions_on_the_cpu",
        "Something is created on the CPU, whatever the device of lengths. With lengths on a GPU, "
        "a comparison would fail or the mask would end up on the CPU.",
        "Functions that create a tensor (torch.arange, torch.zeros, ...) take device=, and "
        "lengths.device says which.",
        _padding(on_the_cpu=True),
    ),
)

EXERCISES = by_id(
    Exercise(PROBES["padding_mask"], padding_oracle, (*ENTRIES, *AXES, *DEVICE)),
    Exercise(PROBES["causal_mask"], causal_oracle, CAUSAL),
)
