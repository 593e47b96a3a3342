"""The lesson's answers beside the libraries `transformers` and `tokenizers`, where these are.

`pip install -e ".[pretrained]" -c constraints.txt` installs them.
"""

from pathlib import Path

import pytest
import torch
from torch.nn import functional as F

from utils.checks.bank.source import sources_in
from utils.checks.registry import exercises
from utils.pretrained import library
from utils.pretrained.torch_bert import torch_states
from utils.pretrained.weights import published
from utils.pretrained.words import split_words
from utils.reference.modules import TransformerEncoder
from utils.treebank.conllu import read_conllu

ENGLISH = Path(__file__).resolve().parents[5] / "shared" / "data" / "ud" / "UD_English-EWT"
ODD = (
    "Žluťoučký kůň", "İstanbul", "ΌΣΟΣ", "한국어 中文", "शब्द", "คำ", "naïve\u00adté", "a\x0bb\x85c",
    "a" * 100, "a" * 120, "🙂 ok", "",
)  # fmt: skip


@pytest.fixture(scope="module")
def files():
    found = published()
    if not found.is_real:
        pytest.skip("the published model is not here")
    return found


def right(exercise, **names):
    """The lesson's own answer."""
    home = exercises()[exercise].fingerprints
    assert home is not None
    source = sources_in(home.parent)[exercise]
    return source.defined(source.text, names)


def english():
    if not ENGLISH.is_dir():
        return []
    sentences = read_conllu(ENGLISH / "en_ewt-ud-test.conllu")
    return [" ".join(word for word, _ in sentence) for sentence in sentences]


def test_pieces_are_those_of_the_published_tokenizer(files):
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    theirs = tokenizers.BertWordPieceTokenizer(files.vocab, lowercase=True)
    ours = right("word_pieces")
    for text in (*library.places()[1], *library.EVERYDAY, *english(), *ODD):
        pieces = [piece for word in split_words(text) for piece in ours(word, files.vocab)]
        assert pieces == theirs.encode(text, add_special_tokens=False).tokens, text


def test_states_and_sentence_vectors_are_those_of_transformers(files):
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    n_words, width, n_heads, n_layers, inner = files.sizes
    config = transformers.BertConfig(
        vocab_size=n_words, hidden_size=width, num_attention_heads=n_heads,
        num_hidden_layers=n_layers, intermediate_size=inner, layer_norm_eps=1e-12,
    )  # fmt: skip
    theirs = transformers.BertModel(config).eval()
    tensors = right("read_safetensors")(files.content)
    missing, _ = theirs.load_state_dict(tensors, strict=False)
    assert missing == []
    ours = TransformerEncoder(n_words, width, n_heads, n_layers, inner)
    parts = {
        name: right(name) for name in ("FeedForward", "LayerNorm", "LearnedPositionalEncoding")
    }
    right("as_bert", **parts)(ours, files.max_len)
    right("load_bert")(ours, tensors)
    ours.eval()
    cut = right("word_pieces")
    rows = [
        [101, *(files.vocab[p] for word in split_words(text) for p in cut(word, files.vocab)), 102]
        for text in (*library.SIX, *library.EVERYDAY)
    ]
    ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True)
    real = ids != 0
    with torch.no_grad():
        wanted = theirs(ids, attention_mask=real.long(), output_hidden_states=True).hidden_states
        states = [ours.embed(ids)]
        for layer in ours.layers:
            states.append(layer(states[-1], real.unsqueeze(1)))
        by_torch = torch_states(tensors, ids, n_heads)
    for mine, torchs, expected in zip(states, by_torch, wanted, strict=True):
        torch.testing.assert_close(mine[real], expected[real], rtol=0, atol=1e-4)
        torch.testing.assert_close(torchs[real], expected[real], rtol=0, atol=1e-4)
    counts = real.sum(1, keepdim=True)
    means = (wanted[-1] * real.unsqueeze(-1)).sum(1) / counts
    vectors = right("sentence_vectors")(states[-1], real)
    torch.testing.assert_close(vectors, F.normalize(means, dim=-1), rtol=0, atol=1e-5)
