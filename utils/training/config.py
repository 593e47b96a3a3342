"""Every number in lesson 06's training, in one place."""

from dataclasses import dataclass, replace
from typing import Literal


@dataclass(frozen=True)
class Settings:
    """Sizes of the models and settings of their training; change any with `dataclasses.replace`.

    Attributes:
        d_model: D.
        n_heads: H.
        n_layers: layers of the encoders and of the per-word network.
        d_ff: hidden units of each feed-forward network.
        lstm_layers: layers of the bidirectional LSTM, whose units make it as large as the encoder.
        dropout: dropout rate on the embedded words.
        layer_dropout: dropout rate inside the layers.
        word_dropout: share of the words that training makes unknown.
        rotary_base: base of the rotary encoder.
        min_count: words that are rarer in training count as unknown.
        affix_min_count: the same for affixes.
        epochs: passes over all sentences.
        max_tokens: maximum number of words in a batch, padding included.
        rate: highest learning rate.
        warmup: share of the steps in which the rate rises to its highest value.
        decay: how the rate falls after that.
        weight_decay: weight decay of AdamW.
        clip: norm to which longer gradients are shortened.
        seed: decides the initial weights, dropout and the order of batches.
        most_sentences: maximum number of sentences to learn from; None for all.

    """

    d_model: int = 128
    n_heads: int = 4
    n_layers: int = 3
    d_ff: int = 256
    lstm_layers: int = 2
    dropout: float = 0.5
    layer_dropout: float = 0.0
    word_dropout: float = 0.1
    rotary_base: float = 100.0
    min_count: int = 2
    affix_min_count: int = 2
    epochs: int = 12
    max_tokens: int = 1024
    rate: float = 2e-3
    warmup: float = 0.1
    decay: Literal["cosine", "linear", "root"] = "cosine"
    weight_decay: float = 0.01
    clip: float = 1.0
    seed: int = 0
    most_sentences: int | None = None


ON_A_CPU = Settings(
    d_model=64,
    n_layers=2,
    d_ff=128,
    dropout=0.5,
    epochs=8,
    max_tokens=512,
    rate=8e-3,
    most_sentences=1500,
)
ON_A_GPU = Settings(
    d_model=256, n_heads=8, n_layers=4, d_ff=1024, epochs=15, max_tokens=4096, rate=1e-3
)


# Two fifths of English-EWT, so that a slower GPU is done in minutes, too. Not measured on a Mac.
ON_A_MAC = replace(ON_A_GPU, most_sentences=5000)


def settings_for(device: str) -> Settings:
    """Return sizes with which lesson 06 takes minutes.

    On an NVIDIA GPU all sentences are used: by what was measured with others, the contest takes
    some five minutes with all of English-EWT on an H200.

    Args:
        device: "cuda", "mps" (a Mac's GPU) or "cpu".

    """
    return {"cpu": ON_A_CPU, "mps": ON_A_MAC}.get(device, ON_A_GPU)
