"""Stand-ins for the blocks that lessons build, in plain operations.

A later lesson uses one if your own block is not finished (see `utils.notebook.carry`), and grading
always does. Each has the name, the arguments and the attributes of its exercise, and a module of
its own: grading hands them out one by one.
"""

from utils.reference.encoder import TransformerEncoder
from utils.reference.layer import EncoderLayer
from utils.reference.learned_positions import LearnedPositionalEncoding
from utils.reference.masks import causal_mask, padding_mask
from utils.reference.multi_head import MultiHeadAttention
from utils.reference.parts import FeedForward, LayerNorm
from utils.reference.plain_attention import scaled_dot_product_attention
from utils.reference.position_layer import PositionalEncoding
from utils.reference.rotary import rotary_embedding
from utils.reference.sinusoids import sinusoidal_encoding
from utils.reference.token_embedding import TokenEmbedding

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
