"""What answers of lesson 05 may be built on: the names of exercises and of their stand-ins."""

EARLIER = {
    "MultiHeadAttention": "utils.reference.attention.multi_head.MultiHeadAttention",
    "PositionalEncoding": "utils.reference.positions.layer.PositionalEncoding",
    "TokenEmbedding": "utils.reference.positions.token_embedding.TokenEmbedding",
}
LAYER = "utils.reference.encoder.layer.EncoderLayer"
PARTS = {
    "LayerNorm": "utils.reference.encoder.parts.LayerNorm",
    "FeedForward": "utils.reference.encoder.parts.FeedForward",
}
