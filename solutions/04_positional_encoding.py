# %% [markdown]
# # 04 · Positional encoding
#
# **What this lesson answers:** how does a model that looks everywhere at once know which word comes
# first?
#
# **What it needs:** attention from lesson 02, heads from lesson 03; sine and cosine.
#
# <span class="course-chip">**Time:** 100 minutes</span>
# <span class="course-chip">**Points:** 13</span>
#
# *Dog bites man* is no news. *Man bites dog* is. Could your attention tell the two apart? The heads
# of lesson 03 see which words are there, but not in which order. Now you give every word a place,
# in four ways: with sinusoids, with a table that is trained, by turning vectors, and with a bias on
# the scores. At the end all four compete at a task that only word order can solve.
#
# Dimensions: **B** sentences in a batch, **T** words in each, **D** entries of a word's vector,
# **Dh** of them in each of **H** heads.

# %% tags=["folded"]
# Set up: what this lesson uses. Run it first.
import math

import torch
from torch import Tensor, nn

from utils import drawn
from utils.checks import check
from utils.notebook.lend import lend
from utils.experiments import word_order_task as task
from utils.experiments.buggy import broken_encoding
from utils.experiments.fixed_positions import clock
from utils.experiments.recorded import recorded
from utils.plots import positions as pictures
from utils.progress.guesses import guess, reveal, summary

torch.set_num_threads(1)  # small matrices gain nothing from more

# %% [markdown]
# ## 1. Dog bites man
#
# One attention with random weights reads both sentences. How far does each word's vector move from
# the first sentence to the second?


# %% tags=["skip-grading"]
def plain_attention(x: Tensor) -> Tensor:
    """One self-attention with fixed random weights: (T, D) -> (T, D)."""
    w_q, w_k, w_v = torch.randn(3, 8, 8, generator=torch.Generator().manual_seed(5))
    return ((x @ w_q.T) @ (x @ w_k.T).T / math.sqrt(8)).softmax(-1) @ (x @ w_v.T)


torch.manual_seed(1)
words = ["dog", "bites", "man"]
vectors = torch.randn(3, 8)
for name, places in {"words alone": torch.zeros(3, 8), "with places": clock(3, 8, 10000)}.items():
    dog_first = plain_attention(vectors + places)
    man_first = plain_attention(vectors.flip(0) + places).flip(0)
    moved = (dog_first - man_first).abs().amax(1).tolist()
    print(f"{name:12}", ", ".join(f"{w} {gap:.2f}" for w, gap in zip(words, moved, strict=True)))

# %% [markdown]
# Without places a sentence is a **bag of words**: each word gets the same vector in both, so
# nobody can tell who bit whom. The second row shows what you build now.
#
# ## 2. A clock with many hands
#
# Each position needs a mark of its own, a vector that is added to the word's vector. Three simple
# marks, and what is wrong with them:
#
# - **Count:** 0, 1, 2, ... At position 500 the mark is 500 times as long as at position 1.
# - **Count up to 1:** $p / T$ at position $p$. One step is 1/10 in one sentence and 1/50 in
#   another.
# - **Binary digits** of $p$. The last digit changes at every step, the one before it at every
#   second step: fast columns and slow ones. But they jump: from 7 (0111) to 8 (1000) every digit
#   changes, and two neighbours look like strangers.
#
# Vaswani et al. (2017), "the paper" from here on, have fast and slow columns without jumps: a clock
# with $D/2$ hands that turn smoothly. From one position to the next, hand $i$ turns by the angle
# $\omega_i$, and two columns say where its tip is:
#
# $$PE_{p,\,2i} = \sin(p\,\omega_i), \qquad PE_{p,\,2i+1} = \cos(p\,\omega_i), \qquad
# \omega_i = 10000^{-2i/D}$$
#
# Why two columns for one hand? A sine alone does not tell you where the hand points: it is 0.5 at
# 30° and again at 150°.
#
# ### Exercise: `predict_fastest_column`
# *1 point · difficulty 1 of 5 · 2 minutes*
#
# Let $D = 64$. Which of the 64 columns change fastest from one position to the next? Answer before
# you compute anything:
# `"first"` (columns 0 and 1), `"middle"` (around 32), `"last"` (62 and 63) or `"all alike"`.

# %% exercise="predict_fastest_column"
# BEGIN SOLUTION
predict_fastest_column = "first"
# STUB
# predict_fastest_column = None  # "first", "middle", "last" or "all alike"
# END SOLUTION

# %% test="predict_fastest_column" points=1
check.predict_fastest_column(predict_fastest_column)
# BEGIN HIDDEN TESTS
check.predict_fastest_column(
    predict_fastest_column,
    points=1,
    hidden=[],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint: a nudge</summary>
#
# $\omega_i$ is the speed of hand $i$. Put $i = 0$ into it, and then $i = 31$.
# </details>
#
# ### Exercise: `sinusoidal_encoding`
# *1 point · difficulty 2 of 5 · 8 minutes*
#
# Build the table for all positions at once, without a loop over positions.


# %% exercise="sinusoidal_encoding"
def sinusoidal_encoding(max_len: int, d_model: int) -> Tensor:
    """Positions as sinusoids: sin(p w_i) in column 2i, cos(p w_i) in column 2i + 1.

    The frequencies are w_i = 10000^(-2i / d_model), for i = 0, 1, ..., d_model / 2 - 1.

    Args:
        max_len: number of positions; the first is 0.
        d_model: number of columns D, even.

    Returns:
        (max_len, d_model), float32.

    Raises:
        ValueError: d_model is odd.
    """
    # BEGIN SOLUTION
    if d_model % 2:
        raise ValueError(f"d_model must be even for pairs of sin and cos, not {d_model}")
    frequencies = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)  # (D/2,)
    angles = torch.arange(max_len).unsqueeze(1) * frequencies  # (max_len, D/2)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)
    # END SOLUTION


# %% test="sinusoidal_encoding" points=1
check.sinusoidal_encoding(sinusoidal_encoding)
# BEGIN HIDDEN TESTS
check.sinusoidal_encoding(
    sinusoidal_encoding,
    points=1,
    hidden=[
        dict(case="two positions, many columns", max_len=2, d_model=64),
        dict(case="many positions", max_len=200, d_model=10),
        dict(case="more positions than float16 can count", max_len=3000, d_model=2),
        dict(case="one column", demand="ValueError for an odd d_model", max_len=3, d_model=1),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# Positions are a column of numbers, frequencies a row. Their product broadcasts to a table of
# angles with one column for each *pair*.
# </details>
# <details><summary>Hint 2: the frequencies</summary>
#
# `torch.arange(0, d_model, 2)` is 0, 2, 4, ...: that is $2i$ already. Divide by `d_model`, change
# the sign, and take 10000.0 to that power.
# </details>
# <details><summary>Hint 3: almost the answer</summary>
#
# Sines go to the columns `0::2`, cosines to `1::2`. Either write them into a table of zeros, or
# `torch.stack` both along a new last axis and `flatten` the last two.
# </details>
#
# ### The clock, drawn
#
# Your table for D = 16 is a clock with eight hands. Each dial below shows one hand at one position,
# and a row of dials is the mark of that position. All hands start at three o'clock and turn
# anticlockwise, by 1, 0.316, 0.1, 0.0316, ... radians per position. **Predict:** which dials look
# the same at position 60 as at position 0?

# %% tags=["skip-grading"]
guess("dials that look the same at 60", None)  # a list of dials, 0 to 7; same: within 20 degrees

# %% tags=["skip-grading"]
pictures.dials(sinusoidal_encoding(61, 16), positions=[0, 1, 2, 3, 10, 60], pairs=range(8))

# %% tags=["skip-grading"]
hands = sinusoidal_encoding(61, 16).view(61, 8, 2)  # (position, pair, sin and cos)
same = (hands[60] * hands[0]).sum(-1) > math.cos(math.radians(20))
reveal("dials that look the same at 60", same.nonzero().flatten().tolist())

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# By position 60, hand 0 has gone round nine and a half times, and hands 5, 6 and 7 have hardly left
# their start. Hands 1 and 2 are back by chance: 60 steps of 0.316 radians make three turns, and 60
# steps of 0.1 almost one.
# </details>
#
# ## 3. How fast, and for how long?
#
# You may read that the first columns vary slowly and the last ones fast. Your dials show the
# reverse. **Predict** by how much, for D = 64: the first hand is back at its start after $2\pi$
# positions. After how many is the last one?

# %% tags=["skip-grading"]
guess("one turn, last hand", None)

# %% tags=["skip-grading"]
step = sinusoidal_encoding(1000, 64).diff(dim=0).abs().mean(0)  # (64,)
turn = 2 * math.pi / 10000.0 ** (-torch.arange(0, 64, 2) / 64)
pictures.speeds(step, turn)
print(f"mean step: column 0 {step[0]:.3f}, column 32 {step[32]:.4f}, column 62 {step[62]:.5f}")
print("one turn, first hand:", round(turn[0].item(), 1))
reveal("one turn, last hand", round(turn[-1].item()))

# %% [markdown]
# ### Turn it yourself
#
# Within a sentence the last hands hardly move. Why a **base** of 10,000? The paper does not say;
# with it, a turn of the slowest hand is longer than any sentence here. Walk through a sentence with
# the slider for $p$. Then make the base smaller, and watch the last hands.

# %% tags=["skip-grading", "folded"]
# Draw the hands of a position.
drawn.clock()

# %% [markdown]
# ## 4. How alike are two positions?
#
# Multiply two rows of your table: $PE_p \cdot PE_{p+k}$. **Predict:** does this product tell
# *before* from *after*? In other words, does it differ between $k$ and $-k$?

# %% tags=["skip-grading"]
guess("it tells before from after", None, choices=("yes", "no"))

# %% tags=["skip-grading"]
table = sinusoidal_encoding(201, 64)
offsets = torch.arange(-50, 51)
match = {f"from position {p}": table[p + offsets] @ table[p] for p in (60, 100, 150)}
pictures.alike(offsets, match, title="Product of two encodings (D = 64)")
spread = torch.stack(list(match.values())).std(0).max()
print(f"largest spread between the three starting points: {spread:.4f}")
here = match["from position 100"]
print(f"largest, at k = 0: {here[50]:.1f}")
mirrored = torch.allclose(here, here.flip(0), atol=1e-3)
reveal("it tells before from after", "no" if mirrored else "yes")

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# One pair of columns gives $\sin a \sin b + \cos a \cos b = \cos(a - b)$, so the whole product is
# $\sum_i \cos(k\,\omega_i)$. **It depends on the distance alone**, wherever you start. It is
# largest at distance 0, and the same for $k$ and $-k$. Telling which of two words comes first is
# left to $w_q$ and $w_k$; section 6 shows how.
# </details>
#
# ## 5. A law is broken: find the bug
#
# Somebody else wrote such a table. Its shape and its first row are right, and all its numbers lie
# between -1 and 1. But here are the products of section 4 for both tables, each from two starting
# points. Which law does the other clock break?

# %% tags=["skip-grading"]
far = torch.arange(-20, 21)
programs = {"yours": sinusoidal_encoding(200, 32), "the other": broken_encoding(200, 32)}
pictures.alike(
    far,
    {f"{name}, from {p}": t[p + far] @ t[p] for name, t in programs.items() for p in (30, 150)},
    title="Product of two encodings (D = 32)",
)

# %% [markdown]
# ### Exercise: `repaired_encoding`
# *1 point · difficulty 2 of 5 · 5 minutes*
#
# The other program's product depends on where you start. Here is its code. One change mends it.


# %% exercise="repaired_encoding"
def repaired_encoding(max_len: int, d_model: int) -> Tensor:
    """The table of sinusoidal_encoding, (max_len, d_model), for even d_model."""
    places = torch.arange(max_len).unsqueeze(1)
    angles = places * 10000.0 ** (-torch.arange(d_model) / d_model)
    # BEGIN SOLUTION
    return torch.stack([angles[:, 0::2].sin(), angles[:, 0::2].cos()], -1).flatten(1)
    # STUB
    # return torch.stack([angles[:, 0::2].sin(), angles[:, 1::2].cos()], -1).flatten(1)
    # END SOLUTION


# %% test="repaired_encoding" points=1
check.repaired_encoding(repaired_encoding)
# BEGIN HIDDEN TESTS
check.repaired_encoding(
    repaired_encoding,
    points=1,
    hidden=[
        dict(case="two columns", max_len=9, d_model=2),
        dict(case="many positions", max_len=150, d_model=12),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# A hand of the clock is a sine and a cosine of one angle: their squares add up to 1. Do they here?
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# `angles` has D columns, each with a frequency of its own. Which of them does the cosine take, and
# which one does the sine beside it?
# </details>
#
# ## 6. Two positions on
#
# Can *one* matrix move every row of the table two positions on, or does each position need its
# own? To go $k$ positions on, hand $i$ turns by $k\,\omega_i$, whatever the time on the clock. With
# $a = p\,\omega_i$ and $b = k\,\omega_i$:
#
# $$\sin(a + b) = \sin a \cos b + \cos a \sin b$$
# $$\cos(a + b) = \cos a \cos b - \sin a \sin b$$
#
# So one fixed matrix $M_k$ moves *every* row: $PE_{p+k} = M_k\,PE_p$. It needs both columns of a
# pair: from a sine alone you cannot compute the next sine.
#
# ### Exercise: `shift_matrix`
# *2 points · difficulty 3 of 5 · 10 minutes*
#
# Write that matrix. It holds a 2 × 2 block for each pair, and zeros elsewhere.


# %% exercise="shift_matrix"
def shift_matrix(offset: int, d_model: int) -> Tensor:
    """The matrix M with PE[p + offset] = M @ PE[p] for every position p.

    PE is sinusoidal_encoding's table, with sin and cos of a pair side by side.

    Args:
        offset: how far to shift, in positions; negative means backwards.
        d_model: number of columns D of the encoding, even.

    Returns:
        (d_model, d_model), float32.
    """
    # BEGIN SOLUTION
    angles = offset * 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)  # (D/2,)
    cos, sin = angles.cos(), angles.sin()
    even = torch.arange(0, d_model, 2)
    matrix = torch.zeros(d_model, d_model)
    matrix[even, even], matrix[even, even + 1] = cos, sin
    matrix[even + 1, even], matrix[even + 1, even + 1] = -sin, cos
    return matrix
    # END SOLUTION


# %% test="shift_matrix" points=2
check.shift_matrix(shift_matrix)
# BEGIN HIDDEN TESTS
check.shift_matrix(
    shift_matrix,
    points=2,
    hidden=[
        dict(case="far away", offset=30, d_model=8),
        dict(case="far back", offset=-17, d_model=12),
        dict(case="one step, many columns", offset=1, d_model=32),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# Write the two formulas above as a matrix times the column (sin a, cos a). That is one block.
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# With c = cos(offset · ω) and s = sin(offset · ω), the block is [[c, s], [-s, c]]. Its top left
# corner stands at row 2i, column 2i. With `even = torch.arange(0, d_model, 2)` you can write
# `matrix[even, even + 1] = s` for all pairs at once.
# </details>
#
# ### Four laws of your matrix

# %% tags=["skip-grading"]
table, move = sinusoidal_encoding(100, 12), shift_matrix(2, 12)
laws = {
    "M_2 moves every row two positions on": (table[:-2] @ move.T, table[2:]),
    "M_2 M_2 is M_4": (move @ move, shift_matrix(4, 12)),
    "M_2 times its transpose is the identity": (move @ move.T, torch.eye(12)),
    "M_2 transposed is M_-2": (move.T, shift_matrix(-2, 12)),
}
for law, (one, other) in laws.items():
    print(f"{law:41} largest difference {(one - other).abs().max():.4f}")

# %% [markdown]
# ### Could attention use it?
#
# Two shifts make one longer shift, lengths do not change, and the transpose shifts back: $M$ is a
# rotation.
#
# The query at position $p$ is $w_q\,PE_p$ and the key at position $s$ is $w_k\,PE_s$. As in torch,
# a matrix has a row for each output. Their score is (a matrix changes sides in a dot product as its
# transpose)
#
# $$(w_q\,PE_p) \cdot (w_k\,PE_s) = PE_p \cdot (w_q^\top w_k\,PE_s)$$
#
# If $w_q^\top w_k$ is $M_2$, the score is $PE_p \cdot PE_{s+2}$, which is largest at $s = p - 2$; a
# multiple such as $20\,M_2$ makes softmax look almost only there. So **"look two places back" is a
# matrix that attention can hold,** in a head as wide as the model. Section 11 shows whether a model
# learns it.
#
# But attention never meets a position alone. It sees word *plus* position. With
# $A = w_q^\top w_k$ and $x_p$ for the vector of the word at $p$, each score is a sum of four terms:
#
# $$(x_p + PE_p) \cdot A\,(x_s + PE_s) = \underbrace{x_p \cdot A\,x_s}_{\text{what · what}} +
# \underbrace{x_p \cdot A\,PE_s}_{\text{what · where}} +
# \underbrace{PE_p \cdot A\,x_s}_{\text{where · what}} +
# \underbrace{PE_p \cdot A\,PE_s}_{\text{where · where}}$$
#
# One matrix serves all four, and the longer of the two vectors speaks louder. Section 8 asks which
# one that is.
#
# ## 7. Positions as a layer
#
# Now make a layer that keeps the table, adds the rows that a sentence needs, and applies dropout in
# train mode. The table is not trained, but it has to move with the model, to a GPU or to another
# dtype. That is what a **buffer** is for.
#
# ### Exercise: `PositionalEncoding`
# *1 point · difficulty 2 of 5 · 8 minutes*
#
# Use your `sinusoidal_encoding`. For a sentence that is longer than the table, `forward` raises a
# `ValueError`; a good message names T and max_len. The result has the dtype of x.


# %% exercise="PositionalEncoding"
class PositionalEncoding(nn.Module):
    """Adds sinusoidal positions, then applies dropout to the sum (in train mode only).

    Attributes:
        pe: buffer (max_len, d_model), the table of sinusoidal_encoding; not trained.

    Args:
        d_model: D, even.
        max_len: longest sentence, in words.
        dropout: share of entries that are dropped.
    """

    def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.0) -> None:
        super().__init__()
        # BEGIN SOLUTION
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model))
        self.dropout = nn.Dropout(dropout)
        # END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """Add row p to the word at position p: (B, T, D) -> (B, T, D), of x's dtype.

        Raises:
            ValueError: T is more than max_len.
        """
        # BEGIN SOLUTION
        length, max_len = x.shape[1], len(self.pe)
        if length > max_len:
            raise ValueError(f"a sentence of {length} words, but max_len is {max_len}")
        return self.dropout(x + self.pe[:length].to(x.dtype))
        # END SOLUTION


# %% test="PositionalEncoding" points=1
check.PositionalEncoding(PositionalEncoding)
# BEGIN HIDDEN TESTS
check.PositionalEncoding(
    PositionalEncoding,
    points=1,
    hidden=[
        dict(case="max_len left at 5000", B=2, T=3, D=6, spare=None),
        dict(case="a batch as large as max_len", B=8, T=3, D=4, spare=5),
        dict(
            case="much longer than max_len",
            demand="ValueError past max_len",
            B=3,
            T=9,
            D=2,
            spare=-5,
        ),
        dict(case="dropout, wider", B=5, T=11, D=16, spare=7, dropout=0.5),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# `self.register_buffer("pe", ...)` makes `self.pe`. In `forward`, x is (B, T, D): you need the
# first T rows, and (T, D) broadcasts over the batch by itself.
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# `nn.Dropout` made in `__init__` knows whether the module is in train mode. In `forward`: compare
# `x.shape[1]` with the number of rows, raise if need be, add the slice in the dtype of x, call the
# dropout.
# </details>
#
# ### Exercise: `LearnedPositionalEncoding`
# *1 point · difficulty 2 of 5 · 5 minutes*
#
# Why a formula at all? You can also train a row for each position, like a word's vector. BERT and
# GPT-2 do that. For a sentence without enough rows, `forward` raises a `ValueError` here, too.


# %% exercise="LearnedPositionalEncoding"
class LearnedPositionalEncoding(nn.Module):
    """Adds a trained row for each position, then applies dropout to the sum.

    Attributes:
        weight: parameter (max_len, d_model), trained; any finite start with a spread of about 1 or
            less will do, such as torch.randn or zeros.

    Args:
        d_model: D, even or odd.
        max_len: longest sentence, in words.
        dropout: share of entries that are dropped, in train mode only.
    """

    def __init__(self, d_model: int, max_len: int, dropout: float = 0.0) -> None:
        super().__init__()
        # BEGIN SOLUTION
        self.weight = nn.Parameter(0.02 * torch.randn(max_len, d_model))
        self.dropout = nn.Dropout(dropout)
        # END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """Add row p to the word at position p: (B, T, D) -> (B, T, D).

        Raises:
            ValueError: T is more than max_len.
        """
        # BEGIN SOLUTION
        length, max_len = x.shape[1], len(self.weight)
        if length > max_len:
            raise ValueError(f"a sentence of {length} words, but max_len is {max_len}")
        return self.dropout(x + self.weight[:length])
        # END SOLUTION


# %% test="LearnedPositionalEncoding" points=1
check.LearnedPositionalEncoding(LearnedPositionalEncoding)
# BEGIN HIDDEN TESTS
check.LearnedPositionalEncoding(
    LearnedPositionalEncoding,
    points=1,
    hidden=[
        dict(case="a batch as large as max_len", B=8, T=3, D=6, spare=5),
        dict(
            case="much longer than max_len",
            demand="ValueError past max_len",
            B=3,
            T=9,
            D=2,
            spare=-5,
        ),
        dict(case="dropout, wider", B=5, T=11, D=16, spare=7, dropout=0.5),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# The same layer with one line changed: what is trained is an `nn.Parameter`.
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# `self.weight = nn.Parameter(...)` around small random numbers of shape (max_len, d_model). The
# rest is your `PositionalEncoding` with `weight` in place of `pe`.
# </details>
#
# ## 8. The words that positions are added to
#
# The paper multiplies the word vectors by $\sqrt{D}$ before it adds positions. It does not say why.
# Build it so; section 12 shows a catch, and its cure.
#
# ### Exercise: `TokenEmbedding`
# *1 point · difficulty 1 of 5 · 5 minutes*
#
# Build a table of word vectors, multiplied by $\sqrt{D}$ in `forward`. The padding row is zero, and
# stays so: no gradient reaches it.


# %% exercise="TokenEmbedding"
class TokenEmbedding(nn.Module):
    """A table of word vectors, with a padding row of 0; forward scales by sqrt(d_model).

    The table is the module's only parameter, (vocab_size, d_model), under a name of your choice.

    Args:
        vocab_size: number of ids V.
        d_model: D.
        padding_idx: the id of padding, whose row is zero and gets no gradient.
    """

    def __init__(self, vocab_size: int, d_model: int, padding_idx: int = 0) -> None:
        super().__init__()
        # BEGIN SOLUTION
        self.table = nn.Embedding(vocab_size, d_model, padding_idx=padding_idx)
        # END SOLUTION

    def forward(self, ids: Tensor) -> Tensor:
        """Look ids up: (B, T) -> (B, T, D)."""
        # BEGIN SOLUTION
        return self.table(ids) * math.sqrt(self.table.embedding_dim)
        # END SOLUTION


# %% test="TokenEmbedding" points=1
check.TokenEmbedding(TokenEmbedding)
# BEGIN HIDDEN TESTS
check.TokenEmbedding(
    TokenEmbedding,
    points=1,
    hidden=[
        dict(case="a larger table", B=4, T=7, V=30, D=12),
        dict(case="padding is the last id", B=2, T=4, V=6, D=3, padding_idx=5),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# `nn.Embedding` has an argument for padding: it clears that row and keeps gradients from it.
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# Make an `nn.Embedding` with `padding_idx=padding_idx` in `__init__`. In `forward`, look the ids up
# in it and multiply by `math.sqrt(d_model)`.
# </details>
#
# ### Which is longer, a word or a position?
#
# Why that factor? In forums you can read that without it positions would drown the words. You might
# as well fear that with it words drown the positions. So compare their lengths:
#
# - A row of sinusoids has length $\sqrt{D/2}$, because each pair adds $\sin^2 + \cos^2 = 1$ to its
#   square.
# - $D$ numbers drawn with mean 0 and variance $v$ have a length of about $\sqrt{D v}$. For words
#   torch takes $v = 1$; the paper's own program took $v = 1/D$.


# %% tags=["skip-grading"]
D = 512
print(f"D = {D}: a position has length {math.sqrt(D / 2):.0f}\n")
print(f"{'words drawn with':20}{'word':>8}{'× sqrt(D)':>12}{'word : position, scaled':>26}")
for name, std in (("v = 1, torch's", 1.0), ("v = 1/D", D**-0.5)):
    torch.manual_seed(0)
    plain = (std * torch.randn(1000, D)).norm(dim=1).mean().item()
    scaled = plain * math.sqrt(D)
    print(f"{name:20}{plain:8.0f}{scaled:12.0f}{scaled / math.sqrt(D / 2):26.1f}")

# %% [markdown]
# With the paper's draw the forums are right: a position has length 16 and a word 1, with the factor
# 23. With torch's draw a word is longer from the start, and the factor makes it 32 times as long as
# a position. So `nn.Embedding` times $\sqrt{D}$ mixes two recipes: torch's draw and the paper's
# factor. Section 12 measures whether that does any harm.
#
# <details><summary>Why add a position, and not concatenate it?</summary>
#
# A matrix would turn $[x; p]$ into $W_x\,x + W_p\,p$.
# Adding is the same with one $W$ for both, and the width stays $D$; training has to find directions
# in which "what" and "where" do not collide.
# </details>
#
# **A good place to rest.** You have the positions that are added. In the second half vectors turn,
# and then all compete.
#
# ## 9. Rotary positions
#
# Rotary positions (**RoPE**, 2021, in many language models since) add nothing. Just before the
# scores are taken, they *turn* queries and keys, pair by pair of columns, by an angle that grows
# with the position:
#
# $$(a, b) \mapsto (a\cos\theta - b\sin\theta,\; a\sin\theta + b\cos\theta), \qquad
# \theta = p\,\omega_i, \quad \omega_i = \mathrm{base}^{-2i/D_h}$$
#
# Why does that help? Turning at position $p$ is a matrix $R_p$ that obeys the laws of section 6:
# the transpose turns back, and two turns make one longer turn. So the score of a turned query and a
# turned key is
#
# $$(R_p\,q) \cdot (R_s\,k) = q \cdot (R_p^\top R_s\,k) = q \cdot (R_{s-p}\,k).$$
#
# It depends on $p$ and $s$ through their difference alone: at positions 3 and 5, and also at 103
# and 105, the key is turned by $2\omega$ more than the query.

# %% tags=["skip-grading", "folded"]
# Draw added positions, and queries and keys that are turned.
drawn.way("positions")

# %% [markdown]
# ### Exercise: `rotary_embedding`
# *4 points · difficulty 4 of 5 · 14 minutes*
#
# Whatever number type x has, compute the angles in float32 at least: bfloat16, a number of 16 bits,
# cannot even count to 300. Many libraries pair column i with column i + Dh/2: never mix both in one
# program.


# %% exercise="rotary_embedding"
def rotary_embedding(x: Tensor, base: float = 10000.0, offset: int = 0) -> Tensor:
    """Turn each pair of columns (2i, 2i + 1) at position p by the angle p * base^(-2i / Dh).

    (a, b) becomes (a cos - b sin, a sin + b cos).

    Args:
        x: queries or keys (B, H, T, Dh), Dh even.
        base: decides how slowly the last pairs turn.
        offset: the position of the first word.

    Returns:
        Like x, in shape and dtype; x itself is left as it was.
    """
    # BEGIN SOLUTION
    length, width = x.shape[-2:]
    frequencies = base ** (-torch.arange(0, width, 2, device=x.device) / width)  # (Dh/2,)
    places = offset + torch.arange(length, device=x.device)
    angles = places.unsqueeze(1) * frequencies  # (T, Dh/2)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)
    # END SOLUTION


# %% test="rotary_embedding" points=4
check.rotary_embedding(rotary_embedding)
# BEGIN HIDDEN TESTS
check.rotary_embedding(
    rotary_embedding,
    points=4,
    hidden=[
        dict(case="one word", B=1, H=1, T=1, Dh=4),
        dict(case="more positions, wider", B=3, H=2, T=20, Dh=16),
        dict(case="a small base", B=2, H=4, T=7, Dh=8, base=3.0),
        dict(
            case="float64, another base",
            demand="float64",
            B=2,
            H=1,
            T=5,
            Dh=6,
            base=50.0,
            dtype="float64",
        ),
        dict(case="far into a text", demand="an offset", B=1, H=2, T=3, Dh=4, offset=3000),
        dict(case="one word, further on", demand="an offset", B=2, H=3, T=1, Dh=4, offset=9),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# The angles are those of `sinusoidal_encoding`, with Dh in place of D: a table (T, Dh/2). It
# broadcasts over B and H.
# </details>
# <details><summary>Hint 2: the pairs</summary>
#
# `x[..., 0::2]` holds every a, `x[..., 1::2]` every b. Make two new tensors from them; do not write
# into x.
# </details>
# <details><summary>Hint 3: almost the answer</summary>
#
# Weave the two results together as in `sinusoidal_encoding`: stack along a new last axis, flatten
# the last two. Cast cos and sin to the dtype of x, not the angles.
# </details>
#
# ### Added or turned
#
# Put the same query and the same key at every position, and draw the score of each pair of
# positions. Each diagonal holds the pairs at one distance. Where positions *turn* query and key,
# you know what to expect on a diagonal. **Predict:** are its scores also equal where positions are
# *added*?

# %% tags=["skip-grading"]
guess("scores at one distance, added", None, choices=("equal", "different"))

# %% tags=["skip-grading"]
torch.manual_seed(1)
query, noise = torch.randn(2, 32)
query, key = (v.expand(24, 32) for v in (query, 0.7 * query + 0.7 * noise))  # at all 24 positions
rows = sinusoidal_encoding(24, 32)
added = (query + rows) @ (key + rows).T / math.sqrt(32)
turned = rotary_embedding(query[None, None])[0, 0] @ rotary_embedding(key[None, None])[0, 0].T
turned = turned / math.sqrt(32)
pictures.score_tables({"Added": added, "Turned (rotary)": turned})
spread = [
    max(scores.diagonal(k).std().item() for k in range(-12, 13))  # of 12 scores or more
    for scores in (added, turned)
]
print(f"at one distance, scores spread by up to {spread[0]:.2f} added, {spread[1]:.2f} turned")
reveal("scores at one distance, added", "different" if spread[0] > 0.01 else "equal")

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# Added, what and where mix: along a diagonal, section 6's terms *what · where* and *where · what*
# change.
# </details>
#
# With rotary positions **the score depends on the two vectors, their distance and their order**,
# and never on where in the sentence they stand. And the values are left alone: what is passed on is
# the word itself.
#
# Move query and key on together with the first slider, and apart with the second:

# %% tags=["skip-grading", "folded"]
# Draw a query and a key that are turned.
drawn.turned_pair()

# %% [markdown]
# ### A bias on the scores: ALiBi
#
# The last way leaves all vectors alone and changes the scores. The model T5 learns a number to add
# for each distance to the left or right; far ones share one. **ALiBi** (2021) learns nothing. It
# lowers each score in proportion to the distance between query $t$ and key $s$. Each head has a
# slope of its own, so some heads see near words only and others nearly all:
#
# $$b_{h,t,s} = -2^{-8h/H}\,|t - s|, \qquad h = 1, \dots, H$$
#
# It was made for decoders, which see one side only. With $|t - s|$ it tells an encoder near from
# far, but not left from right.
#
# ### Exercise: `alibi_bias`
# *1 point · difficulty 2 of 5 · 5 minutes*
#
# Build what is added to the scores: one T × T matrix for each head, by the formula as it stands,
# whatever H is.


# %% exercise="alibi_bias"
def alibi_bias(n_heads: int, length: int) -> Tensor:
    """What ALiBi adds to the scores: -slope_h * |t - s|, with the slopes 2^(-8 h / H).

    Args:
        n_heads: H; the first head is h = 1.
        length: T.

    Returns:
        (H, T, T), float32: [head, query, key].
    """
    # BEGIN SOLUTION
    slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)  # (H,)
    places = torch.arange(length)
    distance = (places.unsqueeze(1) - places).abs()  # (T, T)
    return -slopes[:, None, None] * distance
    # END SOLUTION


# %% test="alibi_bias" points=1
check.alibi_bias(alibi_bias)
# BEGIN HIDDEN TESTS
check.alibi_bias(
    alibi_bias,
    points=1,
    hidden=[
        dict(case="twelve heads", H=12, T=5),
        dict(case="a long sentence", H=2, T=40),
        dict(case="five heads", H=5, T=4),
        dict(case="sixteen heads, two words", H=16, T=2),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# Two small tables: the slopes, (H,), and the distances, (T, T). Which axes must each get to meet
# the other?
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# `places.unsqueeze(1) - places`, `.abs()`, times `-slopes[:, None, None]`.
# </details>
#
# ## 10. Who can look two places back?
#
# Now they compete. A made-up language has 16 words in four groups, and a word's tag is the group of
# **the word two places before it**. The model is small: your `TokenEmbedding`, one attention with
# one head, and a linear layer. Only the positions differ. Sentences have 16 words, and each kind
# gets three seeds; bands and brackets reach from the lowest to the highest.
#
# **Predict:** how often is the model *without* positions right? Blind guessing among four tags is
# right in a quarter of the cases. Can a bag of words do better?

# %% tags=["skip-grading"]
guess("accuracy without positions", None)  # from 0 to 1

# %% tags=["skip-grading", "measured"]
WIDTH, REACH, SEEDS = 32, 64, (0, 1, 2)


def new_tagger(kind: str, seed: int) -> nn.Module:
    """A fresh tagger with positions of this kind; its words are as long as the paper's."""
    torch.manual_seed(seed)
    words = TokenEmbedding(task.VOCABULARY, WIDTH)
    task.redraw(words, WIDTH**-0.5)
    layer = PositionalEncoding(WIDTH, max_len=REACH) if kind == "sinusoidal" else None
    if kind == "learned":
        layer = LearnedPositionalEncoding(WIDTH, max_len=REACH)
        nn.init.normal_(layer.weight, std=0.02)
    rotate = rotary_embedding if kind == "rotary" else None
    bias = (lambda length: alibi_bias(8, length)[:1]) if kind == "ALiBi" else None  # slope 1/2
    return task.OrderTagger(words, WIDTH, layer, rotate, bias)


taggers, curves = {}, {}
for kind in ("none", "sinusoidal", "learned", "rotary", "ALiBi"):
    taggers[kind] = [new_tagger(kind, seed) for seed in SEEDS]
    curves[kind] = [task.train(t, 100 + s) for t, s in zip(taggers[kind], SEEDS, strict=True)]
pictures.learning(curves, every=task.MEASURE_EVERY)

# %% tags=["skip-grading", "measured", "folded"]
# Measure what a guess without word order would get.
batch = task.look_back_sentences(128, task.LENGTH, seed=12345)
groups = torch.nn.functional.one_hot(batch.words % task.N_TAGS).sum(1)  # (B, 4)
bag = (batch.tags[:, task.BACK :] == groups.argmax(1, keepdim=True)).float().mean()
print(f"always guessing the sentence's most frequent group: {bag:.2f}")
soon = 40 // task.MEASURE_EVERY - 1
reached = {kind: [[r[soon] for r in runs], [r[-1] for r in runs]] for kind, runs in curves.items()}
print(pictures.ranges(reached, columns=["after 40 steps", "at the end"]))
reveal("accuracy without positions", sum(run[-1] for run in curves["none"]) / len(SEEDS))

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# Without positions the model does as well as if it always named the sentence's most frequent group.
# ALiBi (one head, slope 1/2) hardly does better: its bias makes near words louder, on both sides
# alike, so it cannot single out one of them. The other three solve the task, and rotary positions
# learn it first.
# </details>
#
# ## 11. Longer than any sentence in training
#
# The paper chose sinusoids because they "may allow the model to extrapolate" to longer sentences
# than those of training (section 3.5). The formula has a row for every position. But can the model
# read it? Learned positions, says a tutorial of the University of Amsterdam, "would not
# generalize". Let your models, trained on 16 words, read sentences of 64, so that positions 2 to 15
# have 48 new words beside them. All tables have 64 rows.
#
# **Predict:** how often is the *learned* table right at positions 32 to 63?

# %% tags=["skip-grading"]
guess("beyond, learned", None)  # from 0 to 1

# %% tags=["skip-grading", "measured"]
parts = {"2 to 15": slice(0, 14), "16 to 31": slice(14, 30), "32 to 63": slice(30, 62)}
beyond = {}
for kind in ("sinusoidal", "learned", "rotary", "ALiBi"):
    hits = torch.stack([task.hits(tagger, REACH) for tagger in taggers[kind]])  # (3, 62)
    beyond[kind] = [hits[:, part].mean(1).tolist() for part in parts.values()]
record, where = recorded("positions")
beyond["rotary, base 10*"] = list(record["kinds"]["rotary, base 10"]["beyond"].values())
print(pictures.ranges(beyond, columns=list(parts)))
print("* ten seeds,", where)
reveal("beyond, learned", sum(beyond["learned"][-1]) / len(SEEDS))

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# - *Learned:* no training ever touched the rows past 15, so the model guesses there. -
#   *Sinusoidal:* the formula goes on, but the model reads it badly, worst just past the trained
#   length. Section 6's matrix would move *every* row; what was learned is not that matrix alone.
# - *ALiBi* is as good on long sentences as on short ones. It was not good on short ones. - *Rotary*
#   holds best: training showed it the distance two at every place. With base 10,000 the first words
#   of a long sentence suffer (we do not know why); with base 10 hardly anything is lost. Here only
#   a distance of two counts: models that must tell thousands of positions apart take *larger*
#   bases.
# </details>
#
# ## 12. Does the factor matter?
#
# Back to $\sqrt{D}$. At D = 32 a position has length 4, and a word drawn torch's way, scaled, 32.
# Two things could go wrong, and each has its cure:
#
# - Positions are **drowned**. The cure: *longer positions*, as long as the words.
# - The softmax is **too sure** from the start, because scores grow with the square of the lengths;
#   then it hardly passes a gradient (lesson 02). The cure: a *calm start*, with queries and keys
#   that begin short.
#
# Here are both, alone and together, at two learning rates:

# %% tags=["skip-grading", "folded"]
# Show the recorded cures at two learning rates.
cures = {
    "sinusoids, no cure": "sinusoidal; as it is",
    "sinusoids, longer positions": "sinusoidal, as long as the words; as it is",
    "sinusoids, calm start": "sinusoidal; calm start",
    "sinusoids, both": "sinusoidal, as long as the words; calm start",
    "rotary, no cure": "rotary; as it is",
    "rotary, calm start": "rotary; calm start",
}
ends = {
    cure: [record["long words"][f"{name}; rate {rate}"] for rate in (0.01, 0.002)]
    for cure, name in cures.items()
}
print(pictures.ranges(ends, columns=["rate 0.01", "rate 0.002"]))
print(f"accuracy after {task.STEPS} steps, ten seeds; {where}")

# %% [markdown]
# At the rate of 0.01, at which the models above learned, nothing helps the sinusoids. At a fifth of
# it **only both cures together** bring them to 0.99. So drowned positions are real, and so is the
# sure softmax. Rotary positions add nothing that could drown, and the calm start alone helps them.
# Before you train, look how long your words and your positions are.

# %% tags=["skip-grading"]
summary()

# %% [markdown]
# ## Recap
#
# - Attention without a mask sees a bag of words. Positions make it see order.
# - Sinusoids are the hands of a clock, and the first columns are the fast ones. The product of two
#   rows depends on their distance alone, and a shift is a rotation. Attention could hold it; the
#   model here learned less.
# - A learned table is as good within the trained length, and knows nothing beyond it. - Rotary
#   positions turn queries and keys. A score then depends on the two vectors, their distance and
#   their order alone. They did best on longer sentences.
#
# What is built so far:

# %% tags=["skip-grading"]
drawn.encoder(4)

# %% [markdown]
# ## Three open questions
#
# 1. With base 10 rotary positions read sentences four times as long, and with 10,000 not quite.
#    Which distances look alike under each base?
# 2. Hide the tags at positions 6 and 11 in training: `task.train(tagger, seed, left_out=(6, 11))`.
#    Which models can tag these positions all the same, and what do their rows have in common?
# 3. How well would section 10 go with a bias that is largest at distance two? And what does the
#    model without positions know once it has a causal mask?
#
# **Next:** attention only mixes what is there; [lesson 05](../05_encoder/05_encoder.ipynb) adds a
# small network for each word, and stacks both into an encoder. [Start page](../Start.md)
#
# **Sources**
#
# - A. Vaswani et al., *Attention is all you need*, NeurIPS 2017 (arXiv:1706.03762): sinusoids and
#   the hope that they extend beyond the trained length (3.5; *The Annotated Transformer* by A. Rush
#   et al., 2018, has the same words), the factor (3.4). Its program, tensor2tensor
#   (github.com/tensorflow/tensor2tensor), draws words from $N(0, 1/D)$.
# - That lower dimensions change slowly is said, for example, in *Positional encoding visualization*
#   (thanh31596.github.io/data/data5000); that positions would dominate without the factor, in
#   DeepLearning.AI's forum (community.deeplearning.ai/t/28521 and 890839).
# - P. Lippe, *UvA deep learning tutorials*, 6: Transformers and multi-head attention.
# - J. Gehring et al., *Convolutional sequence to sequence learning*, ICML 2017 (arXiv:1705.03122):
#   learned positions.
# - P. Shaw et al., *Self-attention with relative position representations*, NAACL 2018
#   (arXiv:1803.02155); C. Raffel et al., *Exploring the limits of transfer learning with a unified
#   text-to-text transformer* (T5), JMLR 2020 (arXiv:1910.10683): 32 buckets of distances.
# - J. Su et al., *RoFormer: enhanced Transformer with rotary position embedding*, 2021
#   (arXiv:2104.09864).
# - O. Press, N. A. Smith, M. Lewis, *Train short, test long*, ICLR 2022 (arXiv:2108.12409): ALiBi,
#   and sinusoidal and rotary positions beyond the trained length.
