"""Right implementations: oracles built on torch's own functions, and stand-ins in plain operations.

While a notebook is graded none of this is in its process. A module of stand-ins is lent to it by
name (the grader lends them), and what the module answers is observed no more from then on.
"""

from collections.abc import Mapping
from typing import Final

# exercise -> the module of this package that holds its stand-in
HOMES: Final[Mapping[str, str]] = {
    "rnn_cell": "recurrent_cell",
    "rnn_forward": "recurrence",
    "scaled_dot_product_attention": "attention.plain",
    "padding_mask": "attention.masks",
    "causal_mask": "attention.masks",
    "split_heads": "attention.heads",
    "merge_heads": "attention.heads",
    "MultiHeadAttention": "attention.multi_head",
    "sinusoidal_encoding": "positions.sinusoids",
    "PositionalEncoding": "positions.layer",
    "LearnedPositionalEncoding": "positions.learned",
    "TokenEmbedding": "positions.token_embedding",
    "rotary_embedding": "positions.rotary",
    "LayerNorm": "encoder.parts",
    "FeedForward": "encoder.parts",
    "EncoderLayer": "encoder.layer",
    "TransformerEncoder": "encoder.stack",
    "as_bert": "encoder.bert",
    "collate": "tagging",
    "token_loss": "tagging",
}
# module -> exercises that are not answered by it, but by a part of it
INSIDE: Final[Mapping[str, tuple[str, ...]]] = {
    "attention.plain": ("attend",),
    "attention.multi_head": ("split_heads", "merge_heads", "repaired_split_heads", "SelfAttention"),
    "positions.sinusoids": ("repaired_encoding", "shift_matrix"),
    "positions.rotary": ("sinusoidal_encoding", "repaired_encoding", "shift_matrix"),
    "positions.layer": ("LearnedPositionalEncoding",),
    "positions.learned": ("PositionalEncoding",),
}
# What a later lesson may carry from an earlier one.
BLOCKS: Final = (
    "EncoderLayer",
    "FeedForward",
    "LayerNorm",
    "LearnedPositionalEncoding",
    "MultiHeadAttention",
    "PositionalEncoding",
    "TokenEmbedding",
    "TransformerEncoder",
    "causal_mask",
    "padding_mask",
    "rotary_embedding",
    "scaled_dot_product_attention",
    "sinusoidal_encoding",
)
