"""The tagger: what is right and commonly wrong."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils import blocks
from utils.checks.exercise import Exercise, Mistake
from utils.checks.training.probes import PROBES

_PROBE = next(probe for probe in PROBES if probe.exercise == "Tagger")


class TaggerOracle(nn.Module):
    """Reads every sentence by itself; without a mask cut to its words: no padding ever enters."""

    def __init__(self, encoder: Any, n_tags: int, feature_sizes: Sequence[int] = ()) -> None:
        super().__init__()
        self.encoder = encoder
        width = encoder.embedding.embedding_dim
        self.features = nn.ModuleList(nn.Embedding(size, width) for size in feature_sizes)
        self.output = nn.Linear(width, n_tags)

    def forward(
        self, ids: Tensor, features: Tensor | None = None, mask: Tensor | None = None
    ) -> Tensor:
        """(B, T) -> (B, T, C)."""
        columns = [None] * len(ids) if features is None else list(features)
        rows = [self._read(*pair, mask) for pair in zip(ids, columns, strict=True)]
        return torch.stack(rows)

    def _read(self, ids: Tensor, features: Tensor | None, mask: Tensor | None) -> Tensor:
        """(T,) -> (T, C)."""
        real = int((ids != self.encoder.padding_idx).sum())
        kept = real if real and mask is None else len(ids)
        if not real:  # there is nothing to be cut to
            mask = torch.zeros(1, 1, kept, dtype=torch.bool)
        x = self.encoder.embedding(ids[None, :kept])
        for number, table in enumerate(self.features):
            assert isinstance(table, nn.Embedding)
            assert features is not None
            chosen = F.one_hot(features[:kept, number], table.num_embeddings).to(x.dtype)
            x = x + chosen @ table.weight * table.embedding_dim**0.5
        encoded = self.encoder.encode(self.encoder.positions(x), mask)[0]
        logits = torch.einsum("td,cd->tc", encoded, self.output.weight) + self.output.bias
        return F.pad(logits, (0, 0, 0, len(ids) - kept))


class TaggerVariant(nn.Module):
    """The class of the exercise with choices; derived classes set them.

    Attributes:
        masking: "padding", "none", "inverted", "zero" (the encoder's padding_idx is ignored), or
            "queries" (padding is blocked as a query, not as a key).
        given_mask: what becomes of one: it is "kept", "ignored" or "joined" with padding's.
        used: how many feature columns are added; None for all.
        add: "before" positions, "between" positions and encoder, "after" the encoder, or as a
            "mean" with the words.
        positions: how often they are added.
        table: what features are looked up in.
        ends: "plain" logits or "softmax".
        output_bias: whether the last layer has one.
        registered: whether feature tables are in a ModuleList.
        frozen: whether the encoder is kept from learning.

    """

    masking = "padding"
    given_mask = "kept"
    used: int | None = None
    add = "before"
    positions = 1
    table: type[nn.Embedding] = blocks.TokenEmbedding
    ends = "plain"
    output_bias = True
    registered = True
    frozen = False

    def __init__(self, encoder: Any, n_tags: int, feature_sizes: Sequence[int] = ()) -> None:
        super().__init__()
        self.encoder = encoder
        width = encoder.embedding.embedding_dim
        tables = [self.table(size, width) for size in feature_sizes]
        self.features: Any = nn.ModuleList(tables) if self.registered else tables
        self.output = nn.Linear(width, n_tags, bias=self.output_bias)

    def forward(
        self, ids: Tensor, features: Tensor | None = None, mask: Tensor | None = None
    ) -> Tensor:
        """(B, T) -> (B, T, C)."""
        if mask is None or self.given_mask == "ignored":
            mask = self._mask(ids)
        elif self.given_mask == "joined":
            mask = mask & (ids != self.encoder.padding_idx).unsqueeze(1)
        extra = self._extra(features)
        x = self.encoder.encode(self._embed(ids, extra), mask)
        x = x.detach() if self.frozen else x
        logits: Tensor = self.output(x + extra if self.add == "after" else x)
        return logits.softmax(-1) if self.ends == "softmax" else logits

    def _embed(self, ids: Tensor, extra: Any) -> Tensor:
        x: Tensor = self.encoder.embedding(ids)
        x = x + extra if self.add in {"before", "mean"} else x
        x = x / (1 + len(self.features)) if self.add == "mean" else x
        for _ in range(self.positions):
            x = self.encoder.positions(x)
        return x + extra if self.add == "between" else x

    def _mask(self, ids: Tensor) -> Tensor | None:
        padding = 0 if self.masking == "zero" else self.encoder.padding_idx
        real = (ids != padding).unsqueeze(1)
        return {"none": None, "inverted": ~real, "queries": real.mT}.get(self.masking, real)

    def _extra(self, features: Tensor | None) -> Any:
        if features is None:
            return 0.0
        tables = list(self.features)[: self.used]
        return sum(table(features[..., n]) for n, table in enumerate(tables))


def _tagger(name: str, says: str, hint: str, **choices: Any) -> Mistake:
    return Mistake(name, says, hint, type("Tagger", (TaggerVariant,), choices))


TAGGER = Exercise(
    _PROBE,
    TaggerOracle,
    (
        _tagger(
            "padding_not_masked",
            "Words attend to padding: a sentence's tags change with the company it is in.",
            "`encode` is not `forward`: it makes no mask by itself. Compare the ids with padding.",
            masking="none",
        ),
        _tagger(
            "padding_mask_inverted",
            "Words may attend to padding alone.",
            "True means “may be attended to”.",
            masking="inverted",
        ),
        _tagger(
            "padding_taken_for_zero",
            "The mask takes 0 for padding, whatever the encoder says.",
            "The encoder has padding_idx.",
            masking="zero",
        ),
        _tagger(
            "padding_blocked_as_query",
            "The mask has its last axis for the queries: words still attend to padding.",
            "(B, 1, T): the last axis counts the keys, the one before it the queries.",
            masking="queries",
        ),
        _tagger(
            "given_mask_ignored",
            "A mask that the caller gives is not used.",
            "Only where mask is None is one made from the ids.",
            given_mask="ignored",
        ),
        _tagger(
            "given_mask_joined",
            "A mask that the caller gives is joined with that of the padding.",
            "A given mask is used as it is: only where mask is None is one made from the ids.",
            given_mask="joined",
        ),
        _tagger(
            "features_ignored",
            "The features are accepted and then forgotten.",
            "Each column is looked up in its own table, and added to the words.",
            used=0,
        ),
        _tagger(
            "first_feature_only",
            "Only the first column of the features is used.",
            "There is a table for each column: go through all of them.",
            used=1,
        ),
        _tagger(
            "features_after_the_encoder",
            "The features are added behind the encoder, so that no other word sees them.",
            "Add them to the words' vectors, before `positions`.",
            add="after",
        ),
        _tagger(
            "features_after_positions",
            "The features are added behind the positions, where dropout on words misses them.",
            "Add them to the words' vectors, before `positions`.",
            add="between",
        ),
        _tagger(
            "features_averaged",
            "Words and features are averaged; a sum was asked for.",
            "Nothing is divided.",
            add="mean",
        ),
        _tagger(
            "features_not_scaled",
            "The features are looked up in plain tables, while words are multiplied by sqrt(D): "
            "they would drown the features.",
            "TokenEmbedding, for features as for words.",
            table=nn.Embedding,
        ),
        _tagger(
            "positions_lost",
            "The words have no positions.",
            "`encoder.embedding` is the table alone; `encoder.positions` adds the positions.",
            positions=0,
        ),
        _tagger(
            "positions_twice",
            "The positions are added twice.",
            "`encoder.embed` adds them already; `encoder.embedding` is the table alone.",
            positions=2,
        ),
        _tagger(
            "already_normalised",
            "Softmax is taken already: the loss would take it a second time.",
            "Return plain logits.",
            ends="softmax",
        ),
        _tagger(
            "encoder_frozen",
            "The result is right, but the encoder learns nothing: no gradient reaches it.",
            "Look for detach() or no_grad around the encoder.",
            frozen=True,
        ),
        _tagger(
            "no_bias",
            "The last layer has no bias.",
            "nn.Linear has one unless you say otherwise.",
            output_bias=False,
        ),
        _tagger(
            "plain_list",
            "The feature tables are in a plain list: no optimiser and no .to(device) finds them.",
            "nn.ModuleList registers what it holds.",
            registered=False,
        ),
    ),
)
