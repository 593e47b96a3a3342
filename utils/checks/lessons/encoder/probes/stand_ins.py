"""What answers of lesson 05 may be built on: the names of exercises and of their stand-ins."""

EARLIER = {
    "MultiHeadAttention": "utils.reference.multi_head.MultiHeadAttention",
    "PositionalEncoding": "utils.reference.position_layer.PositionalEncoding",
    "TokenEmbedding": "utils.reference.token_embedding.TokenEmbedding",
}
LAYER = "utils.reference.layer.EncoderLayer"
PARTS = {
    "LayerNorm": "utils.reference.parts.LayerNorm",
    "FeedForward": "utils.reference.parts.FeedForward",
}
