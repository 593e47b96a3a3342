# %% [markdown]
# # 07 · Encore: a published model in your own encoder
#
# **What this lesson answers:** is a famous model the encoder that you wrote, what does it know, and
# what is that worth?
#
# **What it needs:** lessons 00 to 06.
#
# <span class="course-chip">**Time:** 125 minutes</span>
# <span class="course-chip">**Points:** 16</span>
#
# You have built an engine out of parts that you made yourself. Does anything that drives out there
# run on the same engine? Find out: take a model that people download millions of times, pour its
# numbers into *your* encoder, and turn the key. It is all-MiniLM-L6-v2, 22.6 million numbers that
# turn a sentence into a vector, published under the Apache licence 2.0.
#
# In shapes, **B** counts sentences, **T** pieces of words, **D** is the size of a vector, **V** the
# size of the vocabulary, **N** counts layers.

# %% tags=["folded"]
# Set up: what this lesson uses. Run it first.
import json
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.checks import check
from utils.experiments.recorded import recorded
from utils.notebook.carry import carry
from utils.notebook.lend import lend  # noqa: F401 (for a reader who is stuck)
from utils.own_page.texts import write_texts
from utils.plots import pretrained as pictures
from utils.pretrained import english, faults, library, tagging, tiny, training
from utils.pretrained.measuring import Measuring
from utils.pretrained.torch_bert import pooled, torch_states
from utils.pretrained.words import split_words
from utils.progress.guesses import guess, reveal, summary

torch.set_num_threads(1)  # two that share busy cores are slower than one

# %% [markdown]
# A block of yours that passes its checks is used here; for any other the course has a stand-in.
# Your encoder must also let its parts be exchanged: that is tried once.

# %%
LayerNorm = carry("05_encoder", "LayerNorm")
FeedForward = carry("05_encoder", "FeedForward")
LearnedPositionalEncoding = carry("04_positional_encoding", "LearnedPositionalEncoding")
TransformerEncoder = carry("05_encoder", "TransformerEncoder", exchanged=True)

# %% [markdown]
# ## 1. A file of numbers
#
# What is in such a model? A file, and a few conventions. The file is in the format *safetensors*:
# eight bytes say how long the header is, the header says in JSON where each tensor lies, and then
# there is nothing but numbers. No code, no text.
#
# ### Exercise: `read_safetensors`
# *2 points · difficulty 2 of 5 · 10 minutes*
#
# Read it by hand, from bytes. An entry of the header looks like this:
#
# `"pooler.dense.bias": {"dtype": "F32", "shape": [384], "data_offsets": [4096, 5632]}`


# %% exercise="read_safetensors"
DTYPES = {
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
}


def read_safetensors(content: bytes) -> dict[str, Tensor]:
    """Read all tensors of a file in the format safetensors.

    The first eight bytes are a whole number, little-endian: the length of the header. The header is
    JSON: name -> {"dtype", "shape", "data_offsets": [begin, end]}, where the offsets count from the
    header's end. An entry "__metadata__" is no tensor.

    Also asked: tensors with memory of their own, so that writing into one changes neither the
    content nor another tensor.

    Args:
        content: the whole file.
    """
    # BEGIN SOLUTION
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        numbers = bytearray(content[start + begin : start + end])
        tensors[name] = torch.frombuffer(numbers, dtype=DTYPES[entry["dtype"]]).view(entry["shape"])
    return tensors
    # END SOLUTION


# %% test="read_safetensors" points=2
check.read_safetensors(read_safetensors)
# BEGIN HIDDEN TESTS
check.read_safetensors(
    read_safetensors,
    points=2,
    hidden=[
        dict(case="two matrices", tensors=["F32 3x5", "F32 4x2"]),
        dict(case="whole numbers behind others", tensors=["F32 7", "I64 2x3", "F32 5"]),
        dict(case="half as many bits", tensors=["F16 3x2", "BF16 5", "F32 2x4"], metadata=True),
        dict(case="turned round", tensors=["F32 4x3", "I64 2", "F32 6"], turned=True),
        dict(
            case="written into, all of one type",
            demand="tensors with memory of their own",
            tensors=["F32 5", "F32 3x4"],
            written=True,
        ),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# `int.from_bytes(content[:8], "little")` is a number, `json.loads` reads bytes, too. Where does the
# header end, counted from the beginning of the file?
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# For each entry, cut the bytes from `start + begin` to `start + end`. `torch.frombuffer` makes a
# tensor of a `bytearray`, given the dtype; `view` gives it its shape.
# </details>
#
# Now the real file. (Without it, and without a network, a tiny model of random numbers takes its
# place, and figures that need the real one are recorded ones: a line says so.)
#
# **Predict:** 30,522 words, or pieces of words, have a vector of 384 numbers each. What share of
# all numbers is that table?

# %% tags=["skip-grading"]
guess("share of the table of words", None)  # from 0 to 1

# %% tags=["skip-grading", "measured"]
lab = Measuring.of_published()
print(lab)
tensors = read_safetensors(lab.files.content)


def shares() -> dict[str, float]:
    whole = sum(tensor.numel() for tensor in tensors.values() if tensor.is_floating_point())
    groups = {"words": "word_emb", "attention": ".attention.", "feed-forward": "dense"}
    found = dict.fromkeys([*groups, "the rest"], 0.0)
    for name, tensor in tensors.items():
        kind = next((g for g, word in groups.items() if word in name), "the rest")
        found[kind] += tensor.numel() / whole if "pooler" not in name else 0.0
    return found


measured = lab.measured("shares", shares)
for kind, share in measured.items():
    print(f"{kind:13}{share:7.1%}")
reveal("share of the table of words", measured["words"])

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# Half of the famous model is a dictionary. The part that you wrote in lesson 03, attention, is a
# sixth. (0.7% more are a layer that is not used.)
# </details>
#
# ## 2. Words in pieces
#
# Lesson 06 had one id for all unknown words. Here hardly any word is unknown: what is not in the
# vocabulary is spelled out of pieces, or *subwords* (**WordPiece**, Wu et al. 2016). Every text
# begins with the token [CLS] and ends with [SEP]. Text is lower-cased, accents are dropped,
# punctuation is split off (`split_words` does that for you). Then each word is cut from the left,
# always the longest piece that there is.
#
# ### Exercise: `word_pieces`
# *2 points · difficulty 3 of 5 · 12 minutes*
#
# Cut one word. Where no piece fits, the whole word is unknown.


# %% exercise="word_pieces"
def word_pieces(word: str, vocab: Mapping[str, int]) -> list[str]:
    """Cut a word into pieces of the vocabulary.

    From the left, always the longest piece that the vocabulary has. All pieces but the first are
    written with ## in front, in the vocabulary and in the result. If there is a place at which no
    piece fits, the whole word is ["[UNK]"]: nothing is taken back, and nothing is kept.

    Also asked: the empty word has no pieces.

    Args:
        word: to be cut.
        vocab: piece -> id.
    """
    # BEGIN SOLUTION
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = word[start:end] if start == 0 else "##" + word[start:end]
            if piece in vocab:
                break
        else:
            return ["[UNK]"]
        pieces.append(piece)
        start = end
    return pieces
    # END SOLUTION


# %% test="word_pieces" points=2
check.word_pieces(word_pieces)
# BEGIN HIDDEN TESTS
check.word_pieces(
    word_pieces,
    points=2,
    hidden=[
        dict(case="three pieces", words=["reopening"], pieces="re ##open ##ing ##o [UNK]"),
        dict(case="known whole", words=["banana"], pieces="ban banana ##ana [UNK]"),
        dict(case="the longer of two", words=["seashell"], pieces="sea seas ##hell ##shell [UNK]"),
        dict(case="a last letter", words=["dogs"], pieces="dog ##s do ##g [UNK]"),
        dict(case="the end does not fit", words=["dogma"], pieces="dog ##m [UNK]"),
        dict(case="a dead end", words=["seaside"], pieces="seas sea ##side [UNK]"),
        dict(case="a beginning only", words=["onion"], pieces="on ##ion ion [UNK]"),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# Keep the place at which the next piece begins. Try ends from the right: the first that fits is the
# longest.
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# `while start < len(word)`, and in it `for end in range(len(word), start, -1)`. Python's `for` may
# have an `else`: it runs when no `break` was met.
# </details>
#
# **Predict:** how many pieces does *unaffordable* have?

# %% tags=["skip-grading"]
guess("pieces of unaffordable", None)


# %% tags=["skip-grading", "measured"]
def pieces_of(text: str) -> list[str]:
    return [piece for word in split_words(text) for piece in word_pieces(word, lab.files.vocab)]


def encode(text: str) -> list[int]:
    return [lab.files.vocab[piece] for piece in pieces_of(text)]


def spelled() -> dict[str, object]:
    words = [word for text in library.places()[1] for word in split_words(text)]
    found = [word_pieces(word, lab.files.vocab) for word in words]
    return {
        "words": len(words),
        "whole": sum(len(pieces) == 1 for pieces in found) / len(words),
        "unknown": sum(pieces == ["[UNK]"] for pieces in found),
        "unaffordable": pieces_of("unaffordable"),
    }


measured = lab.measured("pieces", spelled)
print(measured["unaffordable"])
reveal("pieces of unaffordable", len(measured["unaffordable"]))
print(f"of {measured['words']:,} words of this course, whole: {measured['whole']:.1%},", end=" ")
print("unknown:", measured["unknown"])

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# Not *un + afford + able*: the longest piece wins, whatever it means. *una* is a piece, and from
# there on there is no way back.
# </details>
#
# ## 3. Five parts to exchange
#
# The model has BERT's layers, and BERT (2018) is a post-norm encoder: yours. Attention, the layer
# and the stack stay as you wrote them. Five parts differ:
#
# | part | yours | BERT's |
# |---|---|---|
# | embedding | times $\sqrt D$ | no factor: `nn.Embedding` |
# | positions | sinusoids, dropout | a learned table, then a norm, then dropout |
# | activation | ReLU | GELU, $x\,\Phi(x)$ with the normal distribution $\Phi$ |
# | norms | $\varepsilon = 10^{-5}$ | $10^{-12}$ |
# | dropout in the feed-forward | after ReLU | none |
#
# ### Exercise: `as_bert`
# *2 points · difficulty 3 of 5 · 12 minutes*
#
# Exchange them in an encoder that exists already. `F.gelu` is allowed.


# %% exercise="as_bert"
class GeluFeedForward(FeedForward):
    """A feed-forward network with GELU in the place of ReLU, and without dropout."""

    def forward(self, x: Tensor) -> Tensor:
        """(..., D) -> (..., D)."""
        # BEGIN SOLUTION
        return self.linear_2(F.gelu(self.linear_1(x)))
        # END SOLUTION


def as_bert(encoder: nn.Module, max_len: int = 512) -> None:
    """Exchange the parts of a post-norm encoder in which BERT differs.

    Afterwards it has:

        embedding        nn.Embedding(V, D), padding_idx as the encoder's
        positions        nn.Sequential of a LearnedPositionalEncoding, a LayerNorm, nn.Dropout(0.1)
        in each layer    feed_forward with GELU; new norm_1 and norm_2

    with eps = 1e-12 in all norms. Everything else stays the object that it was.

    Args:
        encoder: a TransformerEncoder, changed in place. The only parameter of its embedding is the
            table (V, D), under any name.
        max_len: longest sentence, in pieces.
    """
    # BEGIN SOLUTION
    vocab_size, d_model = next(encoder.embedding.parameters()).shape
    encoder.embedding = nn.Embedding(vocab_size, d_model, encoder.padding_idx)
    table, norm = LearnedPositionalEncoding(d_model, max_len), LayerNorm(d_model, eps=1e-12)
    encoder.positions = nn.Sequential(table, norm, nn.Dropout(0.1))
    for layer in encoder.layers:
        d_ff = layer.feed_forward.linear_1.out_features
        layer.feed_forward = GeluFeedForward(d_model, d_ff)
        layer.norm_1 = LayerNorm(d_model, 1e-12)
        layer.norm_2 = LayerNorm(d_model, 1e-12)
    # END SOLUTION


# %% test="as_bert" points=2
check.as_bert(as_bert)
# BEGIN HIDDEN TESTS
check.as_bert(
    as_bert,
    points=2,
    hidden=[
        dict(case="three layers", V=13, B=2, T=5, D=6, H=1, L=3, F=7, P=9),
        dict(case="padded", V=11, B=3, T=5, D=8, H=4, L=2, F=6, P=7, pad=True),
        dict(case="small vectors", V=12, B=3, T=4, D=8, H=2, L=1, F=5, P=9, scale=0.001),
        dict(case="in training", V=9, B=2, T=5, D=8, H=4, L=1, F=6, P=7, train=True),
        dict(
            case="as long as can be",
            demand="ValueError past max_len",
            V=9,
            B=2,
            T=5,
            D=6,
            H=3,
            L=1,
            F=4,
            P=8,
            past=True,
        ),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# Assigning a module to an attribute exchanges it: `layer.norm_1 = ...`. What is the shape of the
# one parameter that `encoder.embedding.parameters()` gives?
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# `next(encoder.embedding.parameters()).shape` is (V, D). Then `nn.Embedding`, `nn.Sequential(...)`,
# and in a loop over `encoder.layers` three new parts, each made anew for each layer;
# `layer.feed_forward.linear_1.out_features` is F.
# </details>

# %% tags=["skip-grading", "measured"]
bert = TransformerEncoder(*lab.files.sizes)
before = {name: type(part).__name__ for name, part in bert.named_modules()}
as_bert(bert, lab.files.max_len)
print("part".ljust(26), "before".ljust(20), "after")
for name, part in bert.named_modules():
    kind = type(part).__name__
    first = "layers." not in name or "layers.0" in name
    if first and kind != before.get(name):
        print(name.ljust(26), before.get(name, "").ljust(20), kind)

# %% [markdown]
# (The norms keep their type.) If you forgot the activation, the norms or the dropout, would
# anything complain? No. Keep that in mind for section 6.
#
# ## 4. Whose numbers go where
#
# | yours, in layer n | in the file, after `encoder.layer.n.` |
# |---|---|
# | `self_attention.w_q`, `w_k`, `w_v` | `attention.self.query`, `.key`, `.value` |
# | `self_attention.w_o` | `attention.output.dense` |
# | `norm_1` | `attention.output.LayerNorm` |
# | `feed_forward.linear_1`, `linear_2` | `intermediate.dense`, `output.dense` |
# | `norm_2` | `output.LayerNorm` |
#
# Each has a `.weight` and a `.bias`. Outside the layers the file has, after `embeddings.`, the
# tables `word_embeddings.weight`, `position_embeddings.weight` and `token_type_embeddings.weight`,
# and the norm `LayerNorm`. The third table (**token types**, or *segments*) has two rows: BERT was
# trained on pairs of sentences, and row 0, the segment row $S_0$, is added to every token of the
# first. With one sentence that is every token, so position $p$ gets $P_p + S_0$: add $S_0$ to each
# row of the table of positions, $P$.
#
# ### Exercise: `load_bert`
# *2 points · difficulty 3 of 5 · 12 minutes*
#
# Copy the file's tensors into your encoder, by the table above.


# %% exercise="load_bert"
def load_bert(encoder: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Copy the weights of a BERT into an encoder that `as_bert` has changed.

    The numbers go into the parameters that exist: an optimiser made before still trains them, and
    training leaves `tensors` alone. What the encoder does not need is left where it is.

    Args:
        encoder: changed in place; sizes as those of the tensors.
        tensors: name in the file -> tensor.

    Raises:
        KeyError: a tensor is missing; then nothing has been copied.
    """
    # BEGIN SOLUTION
    theirs = {
        "self_attention.w_q": "attention.self.query",
        "self_attention.w_k": "attention.self.key",
        "self_attention.w_v": "attention.self.value",
        "self_attention.w_o": "attention.output.dense",
        "norm_1": "attention.output.LayerNorm",
        "feed_forward.linear_1": "intermediate.dense",
        "feed_forward.linear_2": "output.dense",
        "norm_2": "output.LayerNorm",
    }
    words, positions, segments = (
        tensors[f"embeddings.{kind}_embeddings.weight"]
        for kind in ("word", "position", "token_type")
    )
    found = {"embedding.weight": words, "positions.0.weight": positions + segments[0]}
    names = {"positions.1": "embeddings.LayerNorm"}
    for n in range(len(encoder.layers)):
        names |= {
            f"layers.{n}.{our}": f"encoder.layer.{n}.{their}" for our, their in theirs.items()
        }
    for our, their in names.items():
        for kind in ("weight", "bias"):
            found[f"{our}.{kind}"] = tensors[f"{their}.{kind}"]
    with torch.no_grad():
        for path, tensor in found.items():
            encoder.get_parameter(path).copy_(tensor)
    # END SOLUTION


# %% test="load_bert" points=2
check.load_bert(load_bert)
# BEGIN HIDDEN TESTS
check.load_bert(
    load_bert,
    points=2,
    hidden=[
        dict(case="four layers", V=13, D=6, H=3, L=4, F=5, P=9),
        dict(case="twelve layers", V=11, D=4, H=2, L=12, F=6, P=7),
        dict(case="one layer, one head", V=7, D=4, H=1, L=1, F=8, P=6),
        dict(
            case="trained by an optimiser that was there before",
            demand="parameters written, not replaced",
            V=9,
            D=6,
            H=2,
            L=1,
            F=7,
            P=8,
            same=True,
        ),
        dict(
            case="a file cut short",
            demand="KeyError before anything is copied",
            V=9,
            D=8,
            H=4,
            L=3,
            F=5,
            P=7,
            lacks=True,
        ),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# First collect, then copy: a dictionary from your path to the tensor raises KeyError by itself,
# before anything has been copied. Layers are numbered: `f"encoder.layer.{n}."`.
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# The table above as a dictionary, once for each n, and for `.weight` and `.bias`. Your paths are
# `embedding.weight`, `positions.0.weight`, `positions.1.weight`, `positions.1.bias` and
# `layers.{n}....` Then, inside `torch.no_grad()`, `encoder.get_parameter(path).copy_(tensor)`.
# </details>
#
# Which tensors does nobody ask for?

# %% tags=["skip-grading", "measured"]
asked = set()


class Noting(dict):
    def __getitem__(self, name: str) -> Tensor:
        asked.add(name)
        return super().__getitem__(name)


load_bert(bert, Noting(tensors))
bert.eval()
print(f"{len(tensors)} tensors in the file, {len(asked)} asked for; left over:")
for name in sorted(tensors.keys() - asked):
    print("   ", name, tuple(tensors[name].shape))

# %% [markdown]
# The positions' numbers 0, 1, 2 ..., and a layer for a task of BERT's that sentence vectors do not
# use. All other numbers have found a home in your encoder.
#
# ## 5. The same numbers?
#
# Now turn the key. Six texts of different lengths go through your encoder as one padded batch, and
# through torch's own layers (`nn.TransformerEncoderLayer` with GELU). Compare the **hidden
# states**, the vectors after each layer, at real tokens.
#
# **Predict:** how large is the largest difference?

# %% tags=["skip-grading"]
guess("largest difference", None, choices=("exactly 0", "about 1e-5", "about 1e-3", "about 1"))


# %% tags=["skip-grading", "measured"]
def ids_of(texts: Sequence[str]) -> Tensor:
    rows = [torch.tensor([tiny.CLS, *encode(text)[:254], tiny.SEP]) for text in texts]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True)  # padding is id 0 here, too


def states_of(encoder: nn.Module, ids: Tensor, seen: Tensor | None = None) -> list[Tensor]:
    """States after 0, 1, ... N layers; `seen` are the tokens attended to, if not all real ones."""
    mask, states = (ids != 0 if seen is None else seen).unsqueeze(1), [encoder.embed(ids)]
    for layer in encoder.layers:
        states.append(layer(states[-1], mask))
    return states


ids = ids_of(library.SIX)
with torch.no_grad():
    yours, torchs = states_of(bert, ids), torch_states(tensors, ids, lab.files.n_heads)
differences = [(a - b)[ids != 0].abs().max().item() for a, b in zip(yours, torchs, strict=True)]
print("after layer 0, 1, ...:", *(f"{one:.0e}" for one in differences))
limits = {"exactly 0": 0.0, "about 1e-5": 1e-4, "about 1e-3": 3e-2, "about 1": 1e9}
size = next(word for word, limit in limits.items() if max(differences) <= limit)
reveal("largest difference", size)

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# It is the same function. What is left is rounding: your sums run in another order. The numbers
# that others trained on a billion pairs of sentences run in the encoder that you wrote.
# </details>
#
# **A good place to rest.** The engine runs.
#
# ## 6. Faults that nobody sees
#
# If you had forgotten one thing, would you have seen it? Find the first state that differs.
#
# ### Exercise: `first_difference`
# *1 point · difficulty 2 of 5 · 8 minutes*
#
# Given the states of two encoders, return the number of the first in which they differ.


# %% exercise="first_difference"
def first_difference(
    ours: Sequence[Tensor], theirs: Sequence[Tensor], real: Tensor, atol: float
) -> int | None:
    """Find the first state in which two encoders differ at a real token; None if there is none.

    They differ where an entry is further apart than atol, or is not a number.

    Args:
        ours: states after 0, 1, ... N layers, each (B, T, D).
        theirs: the same of the other encoder.
        real: (B, T), True at real tokens. What is computed at padding does not count.
        atol: largest difference that is taken for rounding.
    """
    # BEGIN SOLUTION
    for n, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
        close = (mine - other).abs() <= atol
        if not close[real].all():
            return n
    return None
    # END SOLUTION


# %% test="first_difference" points=1
check.first_difference(first_difference)
# BEGIN HIDDEN TESTS
check.first_difference(
    first_difference,
    points=1,
    hidden=[
        dict(case="later and more", L=5, B=2, T=4, D=6, off=3, kind="growing"),
        dict(case="in one entry", L=3, B=4, T=7, D=5, off=2, kind="one entry"),
        dict(case="at padding", L=4, B=3, T=5, D=2, off=None, kind="at padding"),
        dict(case="below", L=2, B=5, T=4, D=3, off=1, kind="smaller"),
        dict(case="NaN", L=3, B=4, T=5, D=6, off=2, kind="not a number"),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# `(a - b).abs()` is (B, T, D). A mask (B, T) picks its rows: `x[real]`. A comparison with a NaN is
# False, whichever way round you write it. Which way round helps you?
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# Go through both lists with `enumerate(zip(...))`. Ask whether all entries at real tokens are
# *close*, and return the number of the first state where they are not.
# </details>
#
# Now break the model, one fault at a time. For each: the first state that differs, and how alike
# the wrong sentence vector and the right one are. (The mean of a sentence's last states is its
# vector: section 7. A cosine of 1 is the same direction.)
#
# **Predict:** the cosine with the tanh formula that many take for GELU, and the cosine without the
# segment row $S_0$, which is the same for all tokens.

# %% tags=["skip-grading"]
guess("cosine, GELU by tanh", None)
guess("cosine, segment row missing", None)


# %% tags=["skip-grading", "measured"]
@torch.no_grad()
def verdicts() -> dict[str, list[float]]:
    """Each fault: cosine to the right sentence vectors, and the first state that differs."""
    ids, found = ids_of(library.EVERYDAY), {}
    real, right = ids != 0, states_of(bert, ids)
    for name, (change, seen, kept) in faults.FAULTS.items():
        wrong = states_of(faults.broken(bert, tensors, change), ids, seen(real))
        alike = F.cosine_similarity(pooled(wrong[-1], kept(real)), pooled(right[-1], real))
        first = first_difference(wrong, right, real, 1e-4)
        found[name] = [alike.mean().item(), -1 if first is None else first]
    return found


measured = lab.measured("faults", verdicts)
print("fault".ljust(34), "cosine", " first state that differs")
for name, (cosine, first) in sorted(measured.items(), key=lambda one: -one[1][0]):
    print(f"{name:34} {cosine:6.2f}", f" {'none' if first < 0 else first:>6}")
for fault in ("GELU by tanh", "segment row missing"):
    reveal(f"cosine, {fault}", round(measured[fault][0], 2))

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# The code does not tell how much a fault costs. Another formula for GELU moves nothing. The same
# row for every token looks like a mere placeholder, and without it the vectors are hardly those of
# the model: all that comes after was trained with it. And the keys' bias? By arithmetic it adds the
# same to all scores of a query, and softmax does not see it.
#
# No shape shows any of these. The *place* of the first difference tells most.
# </details>
#
# ### Exercise: `predict_fault_of_encoder`
# *1 point · difficulty 3 of 5 · 5 minutes*
#
# Three tiny encoders are broken, each in one way. Which way? You see how far their states are from
# the right ones, and the cosines of their sentence vectors (three sentences, the first the longest)
# to the right ones.

# %% tags=["skip-grading", "measured"]
for letter, rows in tiny.three_broken_encoders().items():
    print(letter)
    for said_of, numbers in rows.items():
        print("   ", said_of.ljust(34), *(f"{number:8.2g}" for number in numbers))

# %% [markdown]
# Choose from: `mask forgotten`, `segment row missing`, `ReLU left in`, `first layer in all layers`,
# `padding in the mean`.

# %% exercise="predict_fault_of_encoder"
# BEGIN SOLUTION
predict_fault_of_encoder = {
    "A": "segment row missing",  # a constant is missing before all layers
    "B": "padding in the mean",  # all states are right
    "C": "first layer in all layers",  # the first layer is right, no other is
}
# STUB
# predict_fault_of_encoder = None  # {"A": "...", "B": "...", "C": "..."}
# END SOLUTION

# %% test="predict_fault_of_encoder" points=1
check.predict_fault_of_encoder(predict_fault_of_encoder)
# BEGIN HIDDEN TESTS
check.predict_fault_of_encoder(predict_fault_of_encoder, points=1, hidden=[])
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# State 0 is what comes out of `embed`, state 1 what comes out of the first layer. Which faults can
# show in state 0?
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# One fault lies before all layers, one after them. If every layer has the first one's weights,
# which state is the first that can differ?
# </details>
#
# ## 7. A vector for a sentence
#
# The model was trained so that the mean of its tokens' vectors $h_t$, brought to length 1, stands
# for the sentence. The product of two such vectors is their cosine.
#
# $$s = \frac{m}{\lVert m \rVert}, \qquad m = \frac1{|\mathrm{real}|} \sum_{t\,\mathrm{real}} h_t$$
#
# It is lesson 00's `masked_mean` and a division.
#
# ### Exercise: `sentence_vectors`
# *1 point · difficulty 2 of 5 · 6 minutes*


# %% exercise="sentence_vectors"
def sentence_vectors(vectors: Tensor, real: Tensor) -> Tensor:
    """Average the vectors of the real tokens of each sentence, then bring the mean to length 1.

    Also asked: a sentence without any real token gets zeros.

    Args:
        vectors: (B, T, D).
        real: (B, T), True at real tokens.

    Returns:
        (B, D).
    """
    # BEGIN SOLUTION
    kept = vectors * real.unsqueeze(-1)
    mean = kept.sum(1) / real.sum(1, keepdim=True).clamp(min=1)
    return F.normalize(mean, dim=-1)
    # END SOLUTION


# %% test="sentence_vectors" points=1
check.sentence_vectors(sentence_vectors)
# BEGIN HIDDEN TESTS
check.sentence_vectors(
    sentence_vectors,
    points=1,
    hidden=[
        dict(case="padded", B=4, T=6, D=5, mask="padding"),
        dict(case="holes anywhere", B=3, T=7, D=4, mask="random"),
        dict(case="one sentence", B=1, T=5, D=3),
        dict(
            case="nothing but padding",
            demand="a sentence without a real token",
            B=2,
            T=5,
            D=6,
            mask="empty",
        ),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# Make padding's vectors zero first (`real.unsqueeze(-1)`); then a sum over T is one over real
# tokens. By how many do you divide?
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# `F.normalize(mean, dim=-1)` brings to length 1 and leaves zeros at zero. `.clamp(min=1)` on the
# counts prevents 0 / 0.
# </details>
#
# **Predict:** which pair is more alike to the model: *the price went up* and *the price went down*,
# or *he is a physician* and *the man works as a doctor*?

# %% tags=["skip-grading"]
guess("the pair that is more alike", None, choices=("up and down", "physician and doctor"))


# %% tags=["skip-grading", "measured"]
@torch.no_grad()
def vectors_of(texts: Sequence[str]) -> Tensor:
    order = sorted(range(len(texts)), key=lambda n: len(texts[n]))  # like lengths together
    found = torch.empty(len(texts), lab.files.sizes[1])
    for start in range(0, len(texts), 32):
        rows = order[start : start + 32]
        ids = ids_of([texts[n] for n in rows])
        found[rows] = sentence_vectors(bert(ids), ids != 0)
    return found


def cosines() -> dict[str, float]:
    firsts, seconds = (vectors_of([pair[k] for pair in library.PAIRS]) for k in (0, 1))
    names = [" / ".join(pair) for pair in library.PAIRS]
    return dict(zip(names, (firsts * seconds).sum(-1).tolist(), strict=True))


measured = lab.measured("cosines", cosines)
for pair, cosine in measured.items():
    print(f"{cosine:5.2f}  {pair}")
price, doctor = list(measured.values())[:2]
more = "up and down" if price > doctor else "physician and doctor"
reveal("the pair that is more alike", more)

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# These opposites, which share all words but one, are more alike than this paraphrase, which shares
# none. Who bit whom hardly counts. A cosine says "about the same thing", not "says the same".
# (Order does reach the encoder: with the words in no order the vector moves further.)
# </details>
#
# ### A search in this course
#
# Is that good enough to search this course? Write a question of your own into `QUESTION`:

# %% tags=["skip-grading", "measured"]
QUESTION = "Why do we shrink the scores before the softmax?"


def found_for(questions: Sequence[str]) -> dict[str, list[str]]:
    """The three best sentences of this course for each question, with their sections."""
    places, sentences = library.places()
    best = (vectors_of(questions) @ vectors_of(sentences).T).topk(3).indices.tolist()
    found = [[f"{places[n]} {sentences[n]}" for n in row] for row in best]
    return dict(zip(questions, found, strict=True))


found = lab.measured("search", lambda: found_for([QUESTION, *library.QUESTIONS]))
for line in found[QUESTION]:
    print(line)
for many in (1, 3):
    right = [
        any(s.startswith(f"{p} ") for s in found[q][:many]) for q, p in library.QUESTIONS.items()
    ]
    print(f"right section among the first {many}: {sum(right)} of {len(right)} questions")

# %% [markdown]
# The sections of the ten questions were fixed before any search. Far from all are found: a
# nearest sentence is about the same thing, and that is not always the answer.
#
# ### A page of your own texts
#
# Put texts of yours into `TEXTS`, such as `open("notes.txt").read().splitlines()`. The page
# that comes of it shows for each one its nearest, in any browser. Here are some of this course's
# sentences:

# %% tags=["skip-grading", "measured"]
TEXTS = library.places()[1][::20]
print(write_texts("my_texts.html", TEXTS, vectors_of(TEXTS), about="Sentences of this course"))

# %% [markdown]
# ## 8. What it looks at, and what it holds
#
# Each of the 72 heads gives weights. To what? **Predict:** of all heads, what is the largest mean
# share of weight that goes to the token before?

# %% tags=["skip-grading"]
guess("largest share on the token before", None)  # from 0 to 1


# %% tags=["skip-grading", "measured"]
@torch.no_grad()
def head_shares() -> dict[str, list[list[float]]]:
    """Mean weight on the token before and on [CLS], for each layer's heads."""
    ids = ids_of(library.EVERYDAY)
    mask, x, found = (ids != 0).unsqueeze(1), bert.embed(ids), {"the token before": [], "[CLS]": []}
    for layer in bert.layers:
        weights = layer.self_attention(x, x, x, mask)[1]  # (B, H, T, T)
        asking = (ids != 0)[:, None, 1:].expand(-1, weights.shape[1], -1)
        on = {"the token before": weights.diagonal(-1, 2, 3), "[CLS]": weights[:, :, 1:, 0]}
        for what, shares in on.items():
            found[what].append(((shares * asking).sum((0, 2)) / asking.sum((0, 2))).tolist())
        x = layer(x, mask)
    return found


measured = lab.measured("heads", head_shares)
pictures.head_shares(measured)
most = max(max(row) for row in measured["the token before"])
reveal("largest share on the token before", round(most, 2))
means = [sum(row) / len(row) for row in measured["[CLS]"]]
print("on [CLS], mean of a layer's heads:", *(f"{mean:.2f}" for mean in means))

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# One head is a pure shift by one, which lesson 01's `shift_right` did by hand. And about half of
# the weight in the middle layers goes to [CLS], a token that no word needs: a place to look at when
# there is nothing to look at (so Clark et al. read it for [SEP] in BERT).
# </details>
#
# ### What can be read from the layers
#
# Tag words with their parts of speech by a linear layer on the frozen states: a **probe**. A word
# may have several pieces, so read it at its first.
#
# ### Exercise: `first_pieces`
# *2 points · difficulty 2 of 5 · 10 minutes*
#
# Return the ids of a whole sentence, and where in them each word's first piece stands.


# %% exercise="first_pieces"
def first_pieces(
    words: Sequence[str], encode: Callable[[str], list[int]]
) -> tuple[list[int], list[int]]:
    """Join the pieces of a sentence's words, and say where each word's first piece stands.

    The sentence is [CLS], the pieces of all words, [SEP]: ids 101 and 102 at its two ends, once. A
    word that has no piece (a lone soft hyphen) gets one: [UNK], id 100.

    Args:
        words: of one sentence.
        encode: word -> ids of its pieces, without [CLS] and [SEP].

    Returns:
        ids of the sentence, and for each word the index of its first piece in them.
    """
    # BEGIN SOLUTION
    ids, firsts = [101], []
    for word in words:
        firsts.append(len(ids))
        ids += encode(word) or [100]
    return [*ids, 102], firsts
    # END SOLUTION


# %% test="first_pieces" points=2
check.first_pieces(first_pieces)
# BEGIN HIDDEN TESTS
check.first_pieces(
    first_pieces,
    points=2,
    hidden=[
        dict(case="five words", lengths=[2, 1, 3, 1, 4]),
        dict(case="one word of two pieces", lengths=[2]),
        dict(case="a word without pieces, inside", lengths=[3, 0, 1, 2]),
        dict(case="the same word again", lengths=[2, 3, 2], repeated=True),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# Before a word's pieces are added, how long is the list? That is where its first piece will stand.
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# Begin with `[101]`. For each word, note `len(ids)`, then add its pieces (`encode(word) or [100]`).
# At the end add 102.
# </details>
#
# ### Exercise: `predict_best_layer`
# *1 point · difficulty 2 of 5 · 2 minutes*
#
# There are seven states: 0 comes out of `embed`, 6 out of the last layer. On which of them does a
# linear layer, trained on 50 sentences, tag best? A number from 0 to 6; one beside the best counts
# as well. Recall what this model was trained for.

# %% exercise="predict_best_layer"
# BEGIN SOLUTION
predict_best_layer = 2
# STUB
# predict_best_layer = None
# END SOLUTION

# %% test="predict_best_layer" points=1
check.predict_best_layer(predict_best_layer)
# BEGIN HIDDEN TESTS
check.predict_best_layer(predict_best_layer, points=1, hidden=[])
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# For a sentence's vector, must the last layer still tell that *dog* is a noun?
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# It is neither end. Neighbours help to tell a noun from a verb, and they are mixed in early.
# </details>
#
# Now measure: English-EWT's sentences (CC BY-SA 4.0), tags from UPOS, a linear layer on each state.


# %% tags=["skip-grading", "measured"]
def words_and_states(sentence: Sequence[str]) -> Tensor:
    """States of each word's first piece after 0 ... N layers: (words, N + 1, D)."""
    ids, firsts = first_pieces(sentence, encode)
    with torch.no_grad():
        states = states_of(bert, torch.tensor([ids[:512]]))
    return torch.stack([state[0, [n for n in firsts if n < 512]] for state in states], 1)


measured = lab.measured("layers", lambda: english.probe_layers(words_and_states))
pictures.probed_layers(measured["50"], "50")
best = max(range(7), key=lambda n: sum(runs[n] for runs in measured["50"]))
print("best with 50 sentences: state", best)

# %% [markdown]
# A linear layer reads word classes most easily after two layers, and at the output, where everybody
# looks, less easily than at the input. Did training for sentence vectors cost them? To know, one
# would have to probe the model before that training.
#
# ## 9. What is pretraining worth?
#
# The model has read much before: BERT's task, to name masked words from the words around; then a
# smaller copy learned to imitate it (MiniLM), and then came pairs of texts (section 10). Now you
# have fifty sentences with tags. You can look words up in a dictionary made of them, train a small
# encoder from scratch, train a linear layer on a frozen state, or **fine-tune** the published
# layers (the table of words stays as it is). **Predict:** what share of words does the last of
# these get right?

# %% tags=["skip-grading"]
guess("right with 50 sentences, layers trained on", None)  # from 0 to 1


# %% tags=["skip-grading", "measured"]
def encoded(words: Sequence[str]) -> tuple[list[int], list[int]]:
    return first_pieces(words, encode)


share = lab.measured(
    "one run", lambda: tagging.published_layers(bert, encoded, lab.files.sizes[1], n=50, seed=0)
)
print(f"a copy of your encoder, after fifty sentences: {share:.3f} of the test's words right")

# %% [markdown]
# That was one draw of fifty sentences. All ways, with three draws each (recorded):

# %% tags=["skip-grading", "folded"]
# Show what is recorded of all ways.
record, where = recorded("pretrained_tagging")
pictures.sentences_needed(record)
for way, rows in record.items():
    print(way.ljust(28), *(f"{n}: {sum(runs) / len(runs):.3f}" for n, runs in rows.items()))
runs = record["layers trained on"]["50"]
reveal("right with 50 sentences, layers trained on", round(sum(runs) / len(runs), 2))
print(where)

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# Fifty tagged sentences with the published weights get more words right than a thousand give a
# dictionary, or a small encoder with sinusoids. (Lesson 06's taggers, with endings and rotary
# positions, are better rivals: 90% of a larger set of tags from 1,500 sentences.) With fifty, a
# linear layer on state 2, trained in seconds, comes within five points of training all layers. (No
# row was tuned.)
# </details>
#
# ## 10. Train it on pairs
#
# How did the model learn which texts are alike? From a billion pairs that belong together, such as
# a question and its answer, and from one loss (**InfoNCE** with in-batch negatives). In a batch of
# pairs $(a_i, b_i)$, every other $b_j$ is wrong for $a_i$; the scale $s$ is 20 here:
#
# $$L = -\frac1B \sum_i \ln \frac{e^{s\, a_i \cdot b_i}}{\sum_j e^{s\, a_i \cdot b_j}}$$
#
# ### Exercise: `contrastive_loss`
# *2 points · difficulty 2 of 5 · 10 minutes*
#
# Compute it for a batch of pairs.


# %% exercise="contrastive_loss"
def contrastive_loss(a: Tensor, b: Tensor, scale: float = 20.0) -> Tensor:
    """Cross-entropy of finding b[i] for a[i] among all b of the batch; the mean over i.

    Args:
        a: (B, D), vectors of length 1.
        b: (B, D), vectors of length 1; b[i] belongs to a[i].
        scale: s, by which the cosines are multiplied.

    Returns:
        a tensor without axes.
    """
    # BEGIN SOLUTION
    scores = scale * (a @ b.T)
    return F.cross_entropy(scores, torch.arange(len(a), device=a.device))
    # END SOLUTION


# %% test="contrastive_loss" points=2
check.contrastive_loss(contrastive_loss)
# BEGIN HIDDEN TESTS
check.contrastive_loss(
    contrastive_loss,
    points=2,
    hidden=[
        dict(case="seven pairs", B=7, D=4),
        dict(case="a small scale", B=4, D=3, scale=1.5),
        dict(case="scores far apart", B=5, D=6, scale=400.0),
        dict(case="three pairs in float64", demand="float64", B=3, D=7, dtype="float64"),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# All cosines of a batch are one matrix product. Row i of it holds what a[i] chooses from. Which
# column is right?
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# `F.cross_entropy(scores, target)` takes scores as they are, without a softmax. The right column of
# row i is i: `torch.arange(B)`.
# </details>
#
# Pairs lie around everywhere: two neighbouring sentences of a text belong together more than two
# others. Train the model on those of this course, for twenty steps.


# %% tags=["skip-grading", "measured"]
def loss_of(encoder: nn.Module, pairs: Sequence[tuple[str, str]]) -> Tensor:
    device = next(encoder.parameters()).device  # a copy that learns goes to a GPU where one is
    sides = (ids_of([pair[side] for pair in pairs]).to(device) for side in (0, 1))
    return contrastive_loss(*(sentence_vectors(encoder(ids), ids != 0) for ids in sides))


pairs = library.neighbours()
kept = pairs[:: len(pairs) // 32][:32]  # from all lessons
learned = [pair for pair in pairs if pair not in kept]
measured = lab.measured(
    "pairs", lambda: training.before_and_after(bert, loss_of, kept, learned, steps=20)
)
print(f"loss on pairs kept aside: before {measured['before']:.2f}, after {measured['after']:.2f}")
print(f"blind guessing among 32: {torch.tensor(32.0).log().item():.2f}")

# %% [markdown]
# The loss begins *above* blind guessing: at a scale of 20, a wrong sentence that is a little more
# alike costs much, and this course's neighbours are often not alike. Twenty steps bring it down,
# and they are next to nothing beside a billion pairs. But loss and code are the same. On a GPU it
# runs in bfloat16 by autocast, with weights in float32. Weights in float16 would not do: there
# $\varepsilon = 10^{-12}$ becomes 0, and a norm of equal entries would divide 0 by 0.

# %% tags=["skip-grading"]
summary()

# %% [markdown]
# ## Recap
#
# - A published model is a file of numbers and a handful of conventions. The engine is yours.
# - Five parts differ from what you wrote, and no shape shows it if you forget one. - Faults have no
#   common scale: another formula for GELU moves nothing, a missing constant row a lot.
# - A cosine says "about the same thing". Opposites can be about the same thing. - What is easy to
#   read differs from layer to layer; the last is not always the best.
# - With pretraining, fifty labelled sentences go a long way.
#
# ## Three open questions
#
# 1. Take one of the six layers out. Which can the model spare, and how do you measure that?
# 2. Round all weights to 8 bits, then to 4. Where does the search break?
# 3. Ask the search twenty questions of your own, written down before you search. How many sections
#    does it find?
#
# **Next:** the encoder is whole, and the world is full of weights for it. Is there a text of your
# own that you would like to search? [Start page](../Start.md)
#
# **Sources.** J. Devlin et al., *BERT*, NAACL 2019. Y. Wu et al., *Google's neural machine
# translation system*, 2016: WordPiece. N. Reimers, I. Gurevych, *Sentence-BERT*, EMNLP 2019. W.
# Wang et al., *MiniLM*, NeurIPS 2020. D. Hendrycks, K. Gimpel, *Gaussian error linear units*, 2016.
# K. Clark et al., *What does BERT look at?*, 2019. A. van den Oord et al., *Representation learning
# with contrastive predictive coding*, 2018. The model: sentence-transformers/all-MiniLM-L6-v2,
# Apache licence 2.0. English-EWT: Universal Dependencies, CC BY-SA 4.0.
