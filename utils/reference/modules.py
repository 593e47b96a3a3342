"""Stand-ins for the blocks that lessons build, in plain operations.

A later lesson uses one if your own block is not finished (see `utils.notebook.carry`), and grading
always does. Each has the name, the arguments and the attributes of its exercise, and a module of
its own: grading hands them out one by one.
"""

from utils.reference.attention.masks import causal_mask, padding_mask
from utils.reference.attention.multi_head import MultiHeadAttention
from utils.reference.attention.plain import scaled_dot_product_attention
from utils.reference.encoder.layer import EncoderLayer
from utils.reference.encoder.parts import FeedForward, LayerNorm
from utils.reference.encoder.stack import TransformerEncoder
from utils.reference.positions.layer import PositionalEncoding
from utils.reference.positions.learned import LearnedPositionalEncoding
from utils.reference.positions.rotary import rotary_embedding
from utils.reference.positions.sinusoids import sinusoidal_encoding
from utils.reference.positions.token_embedding import TokenEmbedding

__all__ = [
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
]
