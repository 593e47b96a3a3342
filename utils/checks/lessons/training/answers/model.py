"""The tagger: right answers and common mistakes."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.training.probes import PROBES
from utils.reference import modules


class TaggerOracle(nn.Module):
    """A tagger that reads sentences singly, cut to their words if unmasked: no padding enters."""

    def __init__(self, encoder: Any, n_tags: int, feature_sizes: Sequence[int] = ()) -> None:
        super().__init__()
        self.encoder = encoder
        width = encoder.embedding.embedding_dim
        self.features = nn.ModuleList(nn.Embedding(size, width) for size in feature_sizes)
        self.output = nn.Linear(width, n_tags)

    def forward(
        self, ids: Tensor, features: Tensor | None = None, mask: Tensor | None = None
    ) -> Tensor:
        """Map ids (B, T) to logits (B, T, C)."""
        columns = [None] * len(ids) if features is None else list(features)
        rows = [self._read(*pair, mask) for pair in zip(ids, columns, strict=True)]
        return torch.stack(rows)

    def _read(self, ids: Tensor, features: Tensor | None, mask: Tensor | None) -> Tensor:
        """Map ids (T,) to logits (T, C)."""
        real = int((ids != self.encoder.padding_idx).sum())
        kept = real if real and mask is None else len(ids)
        if not real:  # nothing to cut to
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
    """Tagger with choices that derived classes set.

    Attributes:
        masking: "padding", "none", "inverted", "zero" (the encoder's padding_idx is ignored), or
            "queries" (padding is blocked as a query, not as a key), "deep" (B, 1, 1, T), or
            "greater" (words have ids above the padding's).
        given_mask: whether a given mask is "kept", "ignored" or "joined" with the padding mask.
        used: which feature columns are used.
        joined: whether the features' vectors are a "sum" or a "mean", and whether words are
            multiplied by them ("product").
        add: where features are added: "before" positions, "between" positions and encoder,
            "after" the encoder, or "mean" (averaged with the words, before positions).
        positions: how often positions are added.
        table: the class of the feature tables.
        table_padding: whether a feature table's padding id is its "own" 0 or that of the "words".
        lacks: what is left out where there are features: "positions", or the "mask".
        backwards: whether the last column is looked up in the first table, and so on.
        calm: whether the encoder is put in eval mode in every pass.
        ends: whether the output is "plain" logits, "softmax", "log_softmax" or "argmax".
        pooled: whether each word is scored by the "mean" of the sentence, by that of the real
            "words" alone, or by the "first" word.
        classes_first: whether logits come as (B, C, T).
        scaled: whether words are multiplied by sqrt(D) once more.
        activated: whether a ReLU stands before the output.
        output_bias: whether the last layer has a bias.
        registered: whether feature tables are in a ModuleList.
        frozen: whether the encoder gets no gradient.

    """

    masking = "padding"
    given_mask = "kept"
    used = slice(None)
    joined = "sum"
    add = "before"
    positions = 1
    table: type[nn.Embedding] = modules.TokenEmbedding
    table_padding = "own"
    lacks = ""
    backwards = False
    calm = False
    ends = "plain"
    pooled = ""
    classes_first = False
    scaled = False
    activated = False
    output_bias = True
    registered = True
    frozen = False

    def __init__(self, encoder: Any, n_tags: int, feature_sizes: Sequence[int] = ()) -> None:
        super().__init__()
        self.encoder = encoder
        width = encoder.embedding.embedding_dim
        padding = encoder.padding_idx if self.table_padding == "words" else 0
        tables = [self.table(n, width, padding if padding < n else 0) for n in feature_sizes]
        self.features: Any = nn.ModuleList(tables) if self.registered else tables
        self.output = nn.Linear(width, n_tags, bias=self.output_bias)

    def forward(
        self, ids: Tensor, features: Tensor | None = None, mask: Tensor | None = None
    ) -> Tensor:
        """Map ids (B, T) to logits (B, T, C)."""
        if self.calm:
            self.encoder.eval()
        if mask is None or self.given_mask == "ignored":
            unmasked = self.lacks == "mask" and features is not None
            mask = None if unmasked else self._mask(ids)
        elif self.given_mask == "joined":
            mask = mask & (ids != self.encoder.padding_idx).unsqueeze(1)
        extra = self._extra(features)
        x = self.encoder.encode(self._embed(ids, extra), mask)
        x = x.detach() if self.frozen else x
        x = x.relu() if self.activated else x
        x = self._pooled(x, ids) if self.pooled else x
        logits: Tensor = self.output(x + extra if self.add == "after" else x)
        logits = logits.mT if self.classes_first else logits
        ends: dict[str, Any] = {"softmax": logits.softmax, "log_softmax": logits.log_softmax}
        ends["argmax"] = logits.argmax
        return ends[self.ends](-1) if self.ends in ends else logits

    def _pooled(self, x: Tensor, ids: Tensor) -> Tensor:
        if self.pooled == "first":
            return x[:, :1].expand_as(x)
        counts = torch.ones_like(ids) if self.pooled == "mean" else ids != self.encoder.padding_idx
        kept = counts.unsqueeze(-1).to(x.dtype)
        return ((x * kept).sum(1, True) / kept.sum(1, True).clamp(min=1)).expand_as(x)

    def _embed(self, ids: Tensor, extra: Any) -> Tensor:
        x: Tensor = self.encoder.embedding(ids)
        x = x * x.shape[-1] ** 0.5 if self.scaled else x
        if self.joined == "product":
            x, extra = x * (extra if isinstance(extra, Tensor) else 1.0), 0.0
        x = x + extra if self.add in {"before", "mean"} else x
        x = x / (1 + len(self.features)) if self.add == "mean" else x
        without = self.lacks == "positions" and isinstance(extra, Tensor)
        for _ in range(0 if without else self.positions):
            x = self.encoder.positions(x)
        return x + extra if self.add == "between" else x

    def _mask(self, ids: Tensor) -> Tensor | None:
        padding = 0 if self.masking == "zero" else self.encoder.padding_idx
        real = (ids != padding).unsqueeze(1)
        others = {"none": None, "inverted": ~real, "queries": real.mT, "deep": real.unsqueeze(1)}
        others["greater"] = (ids > padding).unsqueeze(1)
        return others.get(self.masking, real)

    def _extra(self, features: Tensor | None) -> Any:
        if features is None:
            return 0.0
        tables = list(enumerate([*self.features][:: -1 if self.backwards else 1]))[self.used]
        found = [table(features[..., n]) for n, table in tables]
        if self.joined == "product":
            return math.prod(found)
        return sum(found) / (len(found) if self.joined == "mean" and found else 1)


@by_choices
def tagger_variant(**choices: Any) -> type[TaggerVariant]:
    """Return a class like Tagger, with the given choices."""
    return type("Tagger", (TaggerVariant,), choices)


TAGGER = Exercise(
    PROBES["Tagger"],
    TaggerOracle,
    (
        Mistake(
            "padding_not_masked",
            "Words attend to padding: a sentence's tags change with the other sentences of the "
            "batch.",
            "`encode` is not `forward`: it makes no mask by itself. Compare the ids with padding.",
            tagger_variant(masking="none"),
        ),
        Mistake(
            "padding_not_masked_beside_features",
            "Where there are features, words attend to padding: a sentence's tags change with the "
            "other sentences of the batch.",
            "`encode` is not `forward`: it makes no mask by itself. Compare the ids with padding.",
            tagger_variant(lacks="mask"),
        ),
        Mistake(
            "padding_mask_inverted",
            "Words may attend to padding only.",
            "True means “may be attended to”.",
            tagger_variant(masking="inverted"),
        ),
        Mistake(
            "padding_taken_for_zero",
            "The mask treats 0 as padding, whatever the encoder says.",
            "The encoder knows its padding_idx.",
            tagger_variant(masking="zero"),
        ),
        Mistake(
            "padding_blocked_as_query",
            "The mask has its last axis for the queries: words still attend to padding.",
            "(B, 1, T): the last axis counts the keys, the one before it the queries.",
            tagger_variant(masking="queries"),
        ),
        Mistake(
            "mask_with_an_axis_too_many",
            "The mask made from the ids is (B, 1, 1, T): it has an axis for the heads, which "
            "attention adds itself.",
            "(B, 1, T) is what encode takes.",
            tagger_variant(masking="deep"),
        ),
        Mistake(
            "tags_for_logits",
            "The best tags are returned, not the logits.",
            "The loss needs a number for every tag; the best is chosen later.",
            tagger_variant(ends="argmax"),
        ),
        *(
            Mistake(
                f"scored_by_{name}",
                f"Every word is scored by {what}: all words of a sentence get the same logits.",
                "A tagger tags each word: the last layer acts on every position by itself.",
                tagger_variant(pooled=pooled),
            )
            for name, what, pooled in (
                ("the_mean", "the mean of its sentence", "mean"),
                ("the_mean_of_words", "the mean of its sentence's words", "words"),
                ("the_first_word", "the first word of its sentence", "first"),
            )
        ),
        Mistake(
            "classes_before_words",
            "The logits are (B, C, T): words and tags have changed places.",
            "(B, T, C) is asked for. What a loss wants of them is that function's own affair.",
            tagger_variant(classes_first=True),
        ),
        Mistake(
            "given_mask_ignored",
            "A mask that the caller gives is not used.",
            "Make one from the ids only where mask is None.",
            tagger_variant(given_mask="ignored"),
        ),
        Mistake(
            "given_mask_joined",
            "A mask that the caller gives is combined with the padding mask.",
            "Use a given mask as it is. Make one from the ids only where mask is None.",
            tagger_variant(given_mask="joined"),
        ),
        Mistake(
            "features_ignored",
            "The features are accepted and then forgotten.",
            "Each column is looked up in its own table, and added to the words.",
            tagger_variant(used=slice(0)),
        ),
        Mistake(
            "first_feature_only",
            "Only the first column of the features is used.",
            "There is a table for each column: go through all of them.",
            tagger_variant(used=slice(1)),
        ),
        Mistake(
            "last_feature_only",
            "Only the last column of the features is used.",
            "Does each feature start from the words again? Add to the sum so far.",
            tagger_variant(used=slice(-1, None)),
        ),
        Mistake(
            "tables_exchanged",
            "A column of the features is looked up in the table of another one.",
            "Column n belongs to table n, whatever their sizes.",
            tagger_variant(backwards=True),
        ),
        Mistake(
            "features_padded_as_words",
            "The feature tables use the words' padding id as their own, so that row never learns.",
            "The encoder's padding_idx is that of the words. A feature's is always 0.",
            tagger_variant(table_padding="words"),
        ),
        Mistake(
            "mean_of_features",
            "The features' vectors are averaged before they are added; a sum was asked for.",
            "Nothing is divided.",
            tagger_variant(joined="mean"),
        ),
        Mistake(
            "multiplied_by_features",
            "Words are multiplied by their features.",
            "The vectors of a word and of its features are added.",
            tagger_variant(joined="product"),
        ),
        Mistake(
            "features_after_the_encoder",
            "The features are added after the encoder, so no other word sees them.",
            "Add them to the words' vectors, before `positions`.",
            tagger_variant(add="after"),
        ),
        Mistake(
            "features_after_positions",
            "The features are added after `positions`, so the dropout in there misses them.",
            "Add them to the words' vectors, before `positions`.",
            tagger_variant(add="between"),
        ),
        Mistake(
            "features_averaged",
            "Words and features are averaged; a sum was asked for.",
            "Nothing is divided.",
            tagger_variant(add="mean"),
        ),
        Mistake(
            "features_not_scaled",
            "The features are looked up in plain tables, while words are multiplied by sqrt(D): "
            "they would drown the features.",
            "Use TokenEmbedding for features, as for words.",
            tagger_variant(table=nn.Embedding),
        ),
        Mistake(
            "positions_lost",
            "The words have no positions.",
            "`encoder.embedding` is the table alone; `encoder.positions` adds the positions.",
            tagger_variant(positions=0),
        ),
        Mistake(
            "positions_lost_beside_features",
            "Where there are features, the words have no positions.",
            "`encoder.embedding` is the table alone; the sum of words and features goes through "
            "`encoder.positions` too.",
            tagger_variant(lacks="positions"),
        ),
        Mistake(
            "positions_twice",
            "The positions are added twice.",
            "`encoder.embed` adds them already; `encoder.embedding` is the table alone.",
            tagger_variant(positions=2),
        ),
        Mistake(
            "words_scaled_twice",
            "The words are multiplied by sqrt(D) a second time.",
            "TokenEmbedding does it already.",
            tagger_variant(scaled=True),
        ),
        Mistake(
            "words_below_padding_masked",
            "Ids below the padding's are masked as well.",
            "An id is padding if it is encoder.padding_idx, and a word if it is any other number.",
            tagger_variant(masking="greater"),
        ),
        Mistake(
            "activated",
            "There is a ReLU between the encoder and the output: everything below 0 is lost.",
            "logits = output(encode(x)), with nothing between the two.",
            tagger_variant(activated=True),
        ),
        Mistake(
            "already_normalised",
            "Softmax is applied already: the loss would apply it a second time.",
            "Return plain logits.",
            tagger_variant(ends="softmax"),
        ),
        Mistake(
            "logarithm_already_taken",
            "log_softmax is applied already: these are logarithms of probabilities.",
            "Return plain logits: the loss takes log_softmax itself.",
            tagger_variant(ends="log_softmax"),
        ),
        Mistake(
            "encoder_always_in_eval_mode",
            "The encoder is put in eval mode in every pass: in training its dropout stays off.",
            "The mode is set from outside, by train() and eval() of the whole model.",
            tagger_variant(calm=True),
        ),
        Mistake(
            "encoder_frozen",
            "The result is right, but the encoder learns nothing: no gradient reaches it.",
            "Look for detach() or no_grad around the encoder.",
            tagger_variant(frozen=True),
        ),
        Mistake(
            "no_bias",
            "The last layer has no bias.",
            "nn.Linear has one unless you say otherwise.",
            tagger_variant(output_bias=False),
        ),
        Mistake(
            "plain_list",
            "The feature tables are in a plain list: no optimiser and no .to(device) finds them.",
            "nn.ModuleList registers what it holds.",
            tagger_variant(registered=False),
        ),
    ),
)

EXERCISES = by_id(TAGGER)
