"""Neighbours: right answers and common mistakes."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.training.probes import PROBES


class _Convolution(nn.Module):
    """The layer that the exercise asks for, which adds nothing before training."""

    def __init__(self, d_model: int, width: int = 3) -> None:
        super().__init__()
        self.conv = nn.Conv1d(d_model, d_model, width, padding=width // 2, groups=d_model)
        nn.init.zeros_(self.conv.weight)
        assert self.conv.bias is not None
        nn.init.zeros_(self.conv.bias)


class NeighboursOracle(_Convolution):
    """Each word plus a weighted sum over its neighbours, sentence by sentence and by hand."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Map (B, T, D) to (B, T, D)."""
        filters = self.conv.weight[:, 0].T  # (width, D)
        reach = len(filters) // 2
        real = torch.ones_like(x[..., :1], dtype=torch.bool) if mask is None else mask.mT
        padded = F.pad(x.masked_fill(~real, 0.0), (0, 0, reach, reach))
        shifted = [padded[:, n : n + x.shape[1]] * row for n, row in enumerate(filters)]
        assert self.conv.bias is not None
        return x + torch.stack(shifted).sum(0) + self.conv.bias


class NeighboursVariant(_Convolution):
    """Neighbours with choices that derived classes set.

    Attributes:
        added: whether x is added: "once", "twice", "never"; or what is found is
            "activated" (by a ReLU), "smoothly activated" (by a GELU) or "averaged" (divided by the
            width of a filter) first.
        masking: padding is hidden "before" the convolution, or not ("none"), or the words are
            ("inverted"), or the "first" sentence's mask hides the same places in all; or padding
            is "infinite" before it, and what it finds there is 0.
        along: whether the filters run over "words" or "features", or over what reshape makes of
            the axes ("reshaped").
        beyond: what stands beyond the ends: "zeros", the other end ("round") or the end's own
            word ("last").
        side: the words that are seen: "both" sides, the "left" or the "right".
        mirrored: whether the filters are turned round.
        centre: whether they see the word itself.
        step: how far apart the words are that they see.
        shared: whether all features use the first one's filter.
        bias: whether the bias is used.
        drawn: whether weight and bias start as torch draws them.
        padded: whether there are zeros beyond the ends at all.
        one_beyond: whether one zero stands beyond each end, whatever the width.
        frozen: whether the convolution is kept from learning.
        fixed_width: a width that replaces the given one.

    """

    added = "once"
    masking = "before"
    along = "words"
    beyond = "zeros"
    side = "both"
    mirrored = False
    centre = True
    step = 1
    shared = False
    bias = True
    drawn = False
    padded = True
    one_beyond = False
    frozen = False
    fixed_width: int | None = None

    def __init__(self, d_model: int, width: int = 3) -> None:
        super().__init__(d_model, width if self.fixed_width is None else self.fixed_width)
        if self.drawn:
            self.conv.reset_parameters()
        if self.frozen:
            self.conv.requires_grad_(False)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
        """Map (B, T, D) to (B, T, D)."""
        found = self._convolved(self._masked(x, mask))
        if self.masking == "infinite" and mask is not None:
            found = found.masked_fill(~mask.mT, 0.0)
        times = {"twice": 2.0, "never": 0.0}.get(self.added, 1.0)
        if self.added == "averaged":
            return x + found / self.conv.weight.shape[-1]
        ends = {"activated": torch.relu, "smoothly activated": nn.functional.gelu}
        return times * x + (ends[self.added](found) if self.added in ends else found)

    def _masked(self, x: Tensor, mask: Tensor | None) -> Tensor:
        if mask is None or self.masking == "none":
            return x
        if self.masking == "infinite":
            return x.masked_fill(~mask.mT, -torch.inf)
        shown = {"inverted": ~mask, "first": mask[:1]}.get(self.masking, mask)
        return x * shown.mT

    def _convolved(self, x: Tensor) -> Tensor:
        filters = self.conv.weight.flip(-1) if self.mirrored else self.conv.weight
        filters = filters[:1].expand_as(filters) if self.shared else filters
        reach = filters.shape[-1] // 2
        beside = torch.arange(filters.shape[-1]) != reach
        filters = filters if self.centre else filters * beside
        reach = (1 if self.one_beyond else reach) if self.padded else 0
        sides = {"both": (reach, reach), "left": (2 * reach, 0), "right": (0, 2 * reach)}
        mode = {"zeros": "constant", "round": "circular", "last": "replicate"}[self.beyond]
        before, behind = (self.step * zeros for zeros in sides[self.side])
        padded = F.pad(self._exchanged(x), (before, behind), mode=mode)
        bias = self.conv.bias if self.bias else None
        found = F.conv1d(padded, filters, bias, dilation=self.step, groups=len(filters))
        return found.reshape(x.shape) if self.along == "reshaped" else self._exchanged(found)

    def _exchanged(self, x: Tensor) -> Tensor:
        if self.along == "reshaped":
            return x.reshape(len(x), x.shape[2], x.shape[1])
        return x.mT if self.along == "words" else x


@by_choices
def neighbours_variant(**choices: Any) -> type[NeighboursVariant]:
    """Return a class like Neighbours, with the given choices."""
    return type("Neighbours", (NeighboursVariant,), choices)


class _Unpadded(NeighboursVariant):
    """Neighbours without zeros beyond the ends; no other mistake is tried together with it."""

    padded = False


MISTAKES = (
    Mistake(
        "padding_seen",
        "The convolution sees padding: the last word's neighbour is a word that is not there.",
        "Set the vectors of padding to zero before they go through self.conv, not after; the "
        "mask is (B, 1, T), x is (B, T, D).",
        neighbours_variant(masking="none"),
    ),
    Mistake(
        "padding_filled_with_infinity",
        "Padding is filled with minus infinity before the convolution: its neighbours become "
        "infinite or NaN.",
        "That is for scores, before a softmax. Here padding has to add nothing: fill it with 0.",
        neighbours_variant(masking="infinite"),
    ),
    Mistake(
        "mask_inverted",
        "The mask is upside down: the real words are hidden, and padding is seen.",
        "In this course True means a real word.",
        neighbours_variant(masking="inverted"),
    ),
    Mistake(
        "mask_of_the_first_sentence",
        "The mask of the first sentence hides the same places in all sentences.",
        "The mask is (B, 1, T), a row for each sentence: an index picks one of them.",
        neighbours_variant(masking="first"),
    ),
    Mistake(
        "word_itself_left_out",
        "The filters see the neighbours only, not the word itself.",
        "The middle of a filter is the word's own place, and it counts.",
        neighbours_variant(centre=False),
    ),
    Mistake(
        "every_other_word",
        "The filters see every other word (a dilation of 2), not the next ones.",
        "What does nn.Conv1d do where dilation is not given?",
        neighbours_variant(step=2),
    ),
    Mistake(
        "x_not_added",
        "Only what the convolution finds is returned.",
        "It is a residual: x + conv(x).",
        neighbours_variant(added="never"),
    ),
    Mistake(
        "x_added_twice",
        "x is added twice.",
        "It is a residual: x + conv(x).",
        neighbours_variant(added="twice"),
    ),
    Mistake(
        "activated",
        "What the convolution finds goes through a ReLU, so nothing can be subtracted from x.",
        "The formula has no activation: x + conv(x).",
        neighbours_variant(added="activated"),
    ),
    Mistake(
        "smoothly_activated",
        "What the convolution finds goes through a GELU.",
        "The formula has no activation: x + conv(x).",
        neighbours_variant(added="smoothly activated"),
    ),
    Mistake(
        "divided_by_the_width",
        "What the convolution finds is divided by the width of a filter: an average, not a sum.",
        "The formula is x + conv(x): a sum over the words that a filter covers.",
        neighbours_variant(added="averaged"),
    ),
    Mistake(
        "along_the_features",
        "The filters run along the features.",
        "nn.Conv1d expects (B, D, T), but x is (B, T, D): swap the last two axes, and swap them "
        "back.",
        neighbours_variant(along="features"),
    ),
    Mistake(
        "axes_reshaped",
        "The axes are reshaped, not transposed, which mixes words and features.",
        "A new form of the same numbers keeps their order. Which function swaps two axes?",
        neighbours_variant(along="reshaped"),
    ),
    Mistake(
        "wraps_round",
        "The ends are neighbours of each other: the first word sees the last.",
        "Beyond the ends there are zeros. torch.roll and padding_mode='circular' wrap around.",
        neighbours_variant(beyond="round"),
    ),
    Mistake(
        "last_word_again",
        "Beyond the ends the filters see the first or the last word again.",
        "nn.Conv1d puts zeros there, unless it is told otherwise (padding_mode).",
        neighbours_variant(beyond="last"),
    ),
    Mistake(
        "left_side_only",
        "Each word sees its left side only, as if it were to be predicted.",
        "An encoder sees both sides: there are zeros before the first word and after the last.",
        neighbours_variant(side="left"),
    ),
    Mistake(
        "right_side_only",
        "Each word sees its right side only.",
        "An encoder sees both sides: there are zeros before the first word and after the last.",
        neighbours_variant(side="right"),
    ),
    Mistake(
        "left_and_right_exchanged",
        "Left and right are swapped: the filters are reversed.",
        "Is there one flip too many?",
        neighbours_variant(mirrored=True),
    ),
    Mistake(
        "one_filter_for_all",
        "All features are filtered alike, with the first filter.",
        "groups=d_model gives each feature a filter of its own.",
        neighbours_variant(shared=True),
    ),
    Mistake(
        "bias_not_used",
        "The bias is made but not used.",
        "Call self.conv itself rather than its weight.",
        neighbours_variant(bias=False),
    ),
    Mistake(
        "starts_as_drawn",
        "Weight or bias of the filter does not start at zero, so the layer changes x untrained.",
        "Set weight and bias to zero in __init__: nn.init.zeros_.",
        neighbours_variant(drawn=True),
    ),
    Mistake(
        "no_padding",
        "The convolution has no padding: what it gives is shorter than the sentence.",
        "nn.Conv1d can put zeros beyond both ends. How many does a filter of this width need on "
        "each side?",
        _Unpadded,
    ),
    Mistake(
        "one_zero_beyond_each_end",
        "There is one zero beyond each end, whatever the width: that is right only for a width of "
        "3.",
        "How far does a filter of this width reach on each side?",
        neighbours_variant(one_beyond=True),
    ),
    Mistake(
        "never_learns",
        "The convolution is kept from learning: it stays at zero.",
        "requires_grad_(False) freezes it; zeros are only where it starts.",
        neighbours_variant(frozen=True),
    ),
    Mistake(
        "width_ignored",
        "The width is accepted and then forgotten.",
        "nn.Conv1d takes the width of its filters; padding follows from it.",
        neighbours_variant(fixed_width=3),
    ),
)

NEIGHBOURS = Exercise(PROBES["Neighbours"], NeighboursOracle, MISTAKES)

EXERCISES = by_id(NEIGHBOURS)
