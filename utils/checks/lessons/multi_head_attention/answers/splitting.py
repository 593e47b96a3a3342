"""Cutting into heads, and repairing that: right answers and common mistakes."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.multi_head_attention.probes import PROBES
from utils.checks.lessons.multi_head_attention.variants import (
    interleaved_split,
    paired_split,
    view_split,
)
from utils.reference.heads import reference_split

Change = Callable[[Tensor], Any]


def _cut(x: Tensor, n_heads: int) -> Tensor:
    """Reshape (B, T, D) to (B, T, H, Dh): right as far as it goes."""
    return x.reshape(*x.shape[:-1], n_heads, -1)


def _joined_then_viewed(x: Tensor, n_heads: int) -> Tensor:
    """Lay the heads of all sentences under one another, and cut them as if they were x."""
    return _cut(torch.cat(x.chunk(n_heads, -1)).view(x.shape), n_heads).transpose(1, 2)


def _as_in_memory(x: Tensor, n_heads: int) -> Tensor:
    """Read the numbers as they would lie in memory if x were no view of another tensor."""
    size, length, width = x.shape
    d_head = width // n_heads
    return x.as_strided((size, n_heads, length, d_head), (length * width, d_head, width, 1))


def _turned_and_cut_again(x: Tensor, n_heads: int) -> Tensor:
    """Take heads for sentences, exchange the two, and cut the result as if nothing had moved."""
    taken = paired_split(x, n_heads)
    return taken.transpose(0, 1).reshape(taken.shape)


def _pieces_of_n_heads(axis: int) -> Callable[[Tensor, int], Tensor]:
    """Give `split` the number of heads, for the size of a piece, and cut the pieces anew."""

    def cut(x: Tensor, n_heads: int) -> Tensor:
        pieces = torch.cat(x.split(n_heads, -1), axis)  # type: ignore[no-untyped-call]
        return pieces.view(len(x), n_heads, x.shape[1], -1)

    return cut


def _overlapping(x: Tensor, n_heads: int) -> Tensor:
    """Begin the slice of head h at feature h, where h Dh is meant."""
    small = x.shape[-1] // n_heads
    return torch.stack([x[..., h : h + small] for h in range(n_heads)], 1)


def _others_hidden(x: Tensor, n_heads: int) -> Tensor:
    """Give every head all features, with those of the others set to zero."""
    owner = torch.arange(x.shape[-1]) // (x.shape[-1] // n_heads)
    own = owner == torch.arange(n_heads).view(-1, 1, 1)
    return x.unsqueeze(1) * own


def _positions_viewed(x: Tensor, n_heads: int) -> Tensor:
    size, length, width = x.shape
    return x.reshape(size, n_heads, length // n_heads, width)


def _cut_anew(*order: int) -> Callable[[Tensor, int], Tensor]:
    """Put the axes of (B, H, T, Dh) in another order, and read the numbers as if it were this."""

    def cut(x: Tensor, n_heads: int) -> Tensor:
        heads = reference_split(x, n_heads)
        return heads.permute(order).reshape(heads.shape)

    return cut


def _by_size(x: Tensor, n_heads: int) -> Tensor:
    """Take the number of heads for the size of a head."""
    return _cut(x, x.shape[-1] // n_heads).transpose(1, 2)


@by_choices
def _split(
    *,
    cut: Callable[[Tensor, int], Tensor] = reference_split,
    reverse: bool = False,
    only: slice = slice(None),
    finish: Change = lambda heads: heads,
) -> Any:
    """Build a split_heads with the given choices.

    Args:
        cut: (x, n_heads) -> heads (B, H, T, Dh).
        reverse: whether the last head comes first.
        only: the sentences that are kept.
        finish: what becomes of the axes in the end.

    """

    def split(x: Tensor, n_heads: int) -> Any:
        heads = cut(x[only], n_heads)
        return finish(heads.flip(1) if reverse else heads)

    return split


_TURNED = (
    ("heads_then_tokens_then_batch", "(H, T, B, Dh)", (1, 2, 0, 3)),
    ("tokens_then_batch_then_heads", "(T, B, H, Dh)", (2, 0, 1, 3)),
)
SPLIT_MISTAKES = (
    Mistake(
        "view_without_transpose",
        "The shape is right, but the numbers are in the wrong places: a head gets all the "
        "features of a few tokens, not a few features of all tokens.",
        "A new form moves no number: which two axes have to change places?",
        _split(cut=view_split),
    ),
    Mistake(
        "heads_not_moved",
        "The heads are the third axis: (B, T, H, Dh).",
        "One step is left: H has to come before T, so that each head has its own table.",
        _split(finish=lambda heads: heads.transpose(1, 2)),
    ),
    Mistake(
        "every_other_feature",
        "Head h got every H-th feature; it should get Dh features that lie side by side.",
        "Cutting D into (H, Dh) and into (Dh, H) is not the same. Which comes first?",
        _split(cut=interleaved_split),
    ),
    Mistake(
        "count_taken_for_size",
        "The number and the size of the heads are exchanged: there are Dh pieces of H features.",
        "There are n_heads heads, of D / n_heads features each.",
        _split(cut=_by_size),
    ),
    *(
        Mistake(
            f"size_of_a_head_is_no_integer_to_{name}",
            "The size of a head is a float, and a shape takes whole numbers only.",
            "In Python 6 / 2 is 3.0. Which division gives 3?",
            cut,
        )
        for name, cut in (
            ("view", lambda x, n: x.view(*x.shape[:2], n, x.shape[2] / n).transpose(1, 2)),
            ("reshape", lambda x, n: x.reshape(*x.shape[:2], n, x.shape[2] / n).transpose(1, 2)),
        )
    ),
    Mistake(
        "features_before_positions",
        "The last two axes are swapped: (B, H, Dh, T).",
        "Each head is a small sequence: positions first, then its features.",
        _split(finish=lambda heads: heads.transpose(2, 3)),
    ),
    Mistake(
        "size_before_count",
        "The axes are (B, T, Dh, H): the heads come last.",
        "H has to come before T, and a head's features last.",
        _split(finish=lambda heads: heads.permute(0, 2, 3, 1)),
    ),
    Mistake(
        "size_before_count_and_not_moved",
        "D is cut into (Dh, H), and the heads come last: (B, T, Dh, H).",
        "Head h has features that lie side by side, so D is (H, Dh); then H moves before T.",
        lambda x, n_heads: x.unflatten(-1, (-1, n_heads)),
    ),
    Mistake(
        "size_before_count_cut_anew",
        "The axes were in the order (B, T, Dh, H) when they were reshaped to (B, H, T, Dh).",
        "The heads have to change places with the positions, and nothing is left to reshape.",
        _split(cut=_cut_anew(0, 2, 3, 1)),
    ),
    Mistake(
        "transposed_then_viewed",
        "Positions and features were swapped before cutting.",
        "Cut the last axis first, while the features of a token still lie side by side.",
        _split(cut=lambda x, n: x.transpose(1, 2).reshape(len(x), n, x.shape[1], -1)),
    ),
    Mistake(
        "view_after_transpose",
        "`view` cannot regroup axes after a transpose: the numbers no longer lie in order.",
        "Cut the last axis first, while the features of a token still lie side by side. Then swap "
        "two axes.",
        _split(cut=lambda x, n: x.transpose(1, 2).view(len(x), n, x.shape[1], -1)),
    ),
    Mistake(
        "heads_in_reverse",
        "The last head comes first.",
        "Head 0 gets the first Dh features.",
        _split(reverse=True),
    ),
    Mistake(
        "first_sentence_only",
        "Only the first sentence of the batch is cut.",
        "An index picks one sentence and loses the others: keep the batch's axis.",
        _split(only=slice(1)),
    ),
    Mistake(
        "heads_in_front_of_the_batch",
        "The heads are the first axis: (H, B, T, Dh).",
        "The batch stays in front.",
        _split(finish=lambda heads: heads.transpose(0, 1)),
    ),
    *(
        Mistake(
            name,
            f"The axes are in the order {axes}.",
            "The result should be (B, H, T, Dh): which axes have to change places?",
            _split(finish=lambda heads, order=order: heads.permute(order)),
        )
        for name, axes, order in _TURNED
    ),
    Mistake(
        "order_in_memory_taken_for_granted",
        "The numbers are read in the order in which they lie in memory, which is a different one "
        "where x is a view, such as a transpose.",
        "How numbers lie in memory depends on how x was made: go by its axes.",
        _split(cut=_as_in_memory),
    ),
    Mistake(
        "batch_taken_for_positions",
        "Batch and positions are swapped: (T, H, B, Dh).",
        "x is (B, T, D), batch first, and the batch stays in front.",
        _split(finish=lambda heads: heads.transpose(0, 2)),
    ),
    Mistake(
        "slices_overlap",
        "Head h begins at feature h: neighbouring heads share features, and the last features are "
        "in no head.",
        "A head has Dh features. How many features do the heads before it take?",
        _split(cut=_overlapping),
    ),
    *(
        Mistake(
            name,
            f"Every head keeps all D features{rest}: the last axis should have Dh.",
            "Each head keeps its own Dh features and nothing else: (B, H, T, Dh).",
            _split(cut=cut),
        )
        for name, rest, cut in (
            ("other_heads_set_to_zero", ", with those of the others set to zero", _others_hidden),
            ("all_features_for_all", "", lambda x, n: x.unsqueeze(1).repeat(1, n, 1, 1)),
        )
    ),
    *(
        Mistake(
            name,
            "The tokens are cut into groups, not the features: a head gets some of the tokens, "
            "with all D features.",
            "x is (B, T, D). Which axis holds the features?",
            _split(cut=cut),
        )
        for name, cut in (
            ("tokens_cut", _positions_viewed),
            ("tokens_cut_by_hsplit", lambda x, n: torch.stack(torch.hsplit(x, n), 1)),
            ("tokens_chunked", lambda x, n: torch.stack(x.chunk(n, 1), 1)),
        )
    ),
    Mistake(
        "first_slice_for_all",
        "Every head gets the first Dh features.",
        "Head h begins at feature h * Dh: does your slice move on?",
        _split(finish=lambda heads: heads[:, :1].expand_as(heads)),
    ),
    Mistake(
        "first_sentence_for_all",
        "Every sentence gets the heads of the first one.",
        "Is there an index or a slice on the axis of the batch?",
        _split(finish=lambda heads: heads[:1].expand_as(heads)),
    ),
    Mistake(
        "batch_and_heads_in_one_axis",
        "Batch and heads are one axis: (B H, T, Dh).",
        "Keep four axes: a mask has a batch axis of its own to line up with.",
        _split(finish=lambda heads: heads.flatten(0, 1)),
    ),
    Mistake(
        "paired_with_the_batch",
        "Heads of one sentence end up in another sentence's place: the pieces lie head by head, "
        "and are read sentence by sentence.",
        "If pieces are joined along the batch, which comes first: all sentences of head 0, or all "
        "heads of "
        "sentence 0? `stack` gives heads an axis of their own.",
        _split(cut=paired_split),
    ),
    Mistake(
        "list_of_heads",
        "The heads are returned as a list of tensors.",
        "Put them into one tensor with an axis for heads: one product then serves all.",
        _split(finish=lambda heads: list(heads.unbind(1))),
    ),
)

_NOT_ASKED_OF_REPAIRS = (
    "list_of_heads",
    "order_in_memory_taken_for_granted",
    "paired_with_the_batch",
)
REPAIR_MISTAKES = (
    Mistake(
        "still_paired_with_the_batch",
        "It is not repaired yet: heads of one sentence end up in another sentence's place.",
        "The joined pieces lie head by head, each with all sentences. In which order are they "
        "read?",
        _split(cut=paired_split),
    ),
    Mistake(
        "cut_by_view_alone",
        "Sentences are apart now, but a head gets all the features of a few tokens.",
        "A new form moves no number. In which order do positions and heads lie in memory?",
        _split(cut=view_split),
    ),
    Mistake(
        "joined_then_cut_as_one_projection",
        "The numbers lie head by head, but are read as features that lie side by side.",
        "To cut and then to swap axes is for x itself. Pieces that are cut need an axis of their "
        "own.",
        _split(cut=_joined_then_viewed),
    ),
    Mistake(
        "turned_and_cut_again",
        "The numbers lie head by head. They are read sentence by sentence, and then in another "
        "order.",
        "Read them in the order in which they lie. Then swap two axes, and do nothing more.",
        _split(cut=_turned_and_cut_again),
    ),
    *(
        Mistake(
            f"{name}_cut_anew",
            f"The axes were in the order {axes} when they were reshaped to (B, H, T, Dh).",
            "Which axes have to change places, so that nothing is left to reshape?",
            _split(cut=_cut_anew(*order)),
        )
        for name, axes, order in _TURNED
    ),
    *(
        Mistake(
            f"pieces_of_n_heads{where}",
            "The pieces have as many features as there are heads, and are then reshaped.",
            "`chunk` takes the number of pieces, `split` the size of one. How many features does "
            "a head have?",
            _split(cut=_pieces_of_n_heads(axis)),
        )
        for where, axis in (("", 0), ("_along_the_tokens", 1))
    ),
    *(m for m in SPLIT_MISTAKES[1:] if m.name not in _NOT_ASKED_OF_REPAIRS),
)


EXERCISES = by_id(
    Exercise(PROBES["split_heads"], reference_split, SPLIT_MISTAKES),
    Exercise(PROBES["repaired_split_heads"], reference_split, REPAIR_MISTAKES),
)
