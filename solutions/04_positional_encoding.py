# %% [markdown]
# # 04 · Positional encoding
#
# **What this lesson answers:** how does a model that looks everywhere at once know which word
# comes first? What are the sinusoids for, which of their columns are fast, and are they the best
# there is?
# **What it needs:** attention from lesson 02; sine and cosine. **Time:** 75 minutes.
# **Points:** 12.
#
# You will build four pieces: sinusoidal positions, learned positions, the token embedding that
# they are added to, and rotary positions. At the end all of them meet one task, and the word
# order decides. On the way, four statements from popular texts are put to the test.
#
# Dimensions: **B** sentences in a batch, **T** words in each, **D** entries of a word's vector,
# **Dh** of them in each of **H** heads.

# %%
import math

import matplotlib.pyplot as plt
import torch
from torch import Tensor, nn

from utils import plots
from utils.experiments import word_order_task as task
from utils.checks import check
from utils.experiments.buggy import broken_encoding

torch.set_num_threads(1)  # small matrices gain nothing from more

# %% [markdown]
# ## Without positions a sentence is a bag
#
# Attention compares every word with every word. Nothing in
# $\mathrm{softmax}(QK^\top/\sqrt{d_k})\,V$ says where a word stands. Take two sentences of the same
# words that mean different things, and let one attention with random weights read both.
#
# **Predict:** the vector that comes out for *dog*: is it the same in both sentences?


# %% tags=["skip-grading"]
def plain_attention(x: Tensor) -> Tensor:
    """One self-attention with fixed random weights: (T, D) -> (T, D)."""
    w_q, w_k, w_v = torch.randn(3, 8, 8, generator=torch.Generator().manual_seed(5))
    return ((x @ w_q) @ (x @ w_k).T / math.sqrt(8)).softmax(-1) @ (x @ w_v)


torch.manual_seed(1)
first = ["the", "dog", "chased", "a", "cat"]
second = ["a", "cat", "chased", "the", "dog"]
meaning = dict(zip(first, torch.randn(5, 8), strict=True))
outputs = [plain_attention(torch.stack([meaning[word] for word in s])) for s in (first, second)]
for word in first:
    gap = (outputs[0][first.index(word)] - outputs[1][second.index(word)]).abs().max()
    print(f"{word:7} differs by {gap:.4f} between the two sentences")

# %% [markdown]
# Every word gets the same vector in both. Who chased whom is lost: for this model a sentence is a
# bag of words. (The table of weights is not the same, but permuted with the words: lesson 02,
# section 8.)
#
# ## A clock with many hands
#
# So each position needs a mark of its own, a vector that is added to the word's vector. A counter
# 0, 1, 2, ... would grow without end. Vaswani et al. (2017), "the paper" from here on, use a clock
# with many hands instead. Hand $i$ turns by the angle $\omega_i$ for each position. Two columns
# hold the place of its tip:
#
# $$PE_{p,\,2i} = \sin(p\,\omega_i), \qquad PE_{p,\,2i+1} = \cos(p\,\omega_i), \qquad
# \omega_i = 10000^{-2i/D}$$
#
# ### Exercise: `predict_fastest_column`
# *1 point · difficulty 1 of 5 · 2 minutes*
#
# Let $D = 64$, so that there are 64 columns. Which ones change fastest from one position to the
# next? Answer before you compute anything:
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

    The frequencies are w_i = 10000^(-2i / d_model), for i from 0 up to d_model / 2.

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
        dict(case="one position, many columns", max_len=1, d_model=64),
        dict(case="many positions", max_len=200, d_model=10),
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
# ## The picture, in two layouts
#
# The formula weaves sines and cosines. Many programs put all sines first and all cosines after
# them. **Predict:** does a model lose or gain anything by that?

# %% tags=["skip-grading"]
pe = sinusoidal_encoding(64, 64)
halves = torch.cat([pe[:, 0::2], pe[:, 1::2]], 1)
fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
titles = ("Interleaved: sin, cos, sin, cos, ...", "Two halves: all sin, then all cos")
for ax, table, title in zip(axes, (pe, halves), titles, strict=True):
    plots.heat_map(ax, table, title=title)
    ax.set(xlabel="column", ylabel="position")
plots.show(
    fig,
    alt="Left: columns alternate between sines and cosines, with quick stripes in the first "
    "columns and no change in the last ones. Right: the same columns, sorted into two halves.",
)
woven = halves[:, torch.arange(64).view(2, 32).T.flatten()]  # columns 0, 32, 1, 33, ...
print("same columns in another order:", torch.equal(woven, pe))
print("same product of any two rows: ", torch.allclose(halves @ halves.T, pe @ pe.T, atol=1e-4))

# %% [markdown]
# The columns are the same, only their order differs. The next layer's weights are learned, and
# may have their rows in any order: nothing is lost or gained. (Mixing the two layouts in one
# program is another matter.)
#
# ## Fast columns come first
#
# **Claimed in popular texts:** "the first dimensions vary slowly and the last ones fast." You have
# already said what you think. Measure it: how far does a column move from one position to the
# next, and how many positions does a full turn take?

# %% tags=["skip-grading"]
long = sinusoidal_encoding(1000, 64)
step = long.diff(dim=0).abs().mean(0)  # (64,)
turn = 2 * math.pi / 10000.0 ** (-torch.arange(0, 64, 2) / 64)
fig, axes = plt.subplots(1, 2, figsize=(9, 3))
plots.lines(axes[0], range(64), {"step": step}, title="How far a column moves per position")
axes[0].set(xlabel="column", ylabel="mean change per position")
plots.lines(axes[1], range(0, 64, 2), {"turn": turn}, title="Positions until a column repeats")
axes[1].set(xlabel="column", ylabel="length of a turn (positions)", yscale="log")
plots.show(
    fig,
    alt="Left: the mean step falls from 0.6 in the first columns to almost nothing in the last. "
    "Right: one turn takes 6 positions in the first pair and 47,000 in the last.",
)
print(f"mean step: column 0 {step[0]:.3f}, column 32 {step[32]:.4f}, column 62 {step[62]:.5f}")
print(f"one turn: {turn[0]:.1f} positions in the first pair, {turn[-1]:,.0f} in the last")

# %% [markdown]
# **Measured:** the reverse. The first columns are the fast ones. In the last columns nothing
# happens within a sentence: their sines stay near 0 and their cosines near 1. Like the hands of a
# clock, fast columns tell neighbours apart, and slow ones tell near from far.
#
# ## Read a heat map, find a bug
#
# Another program makes such a table too. Its shape is right, all its numbers lie between -1 and 1,
# and position 0 is right as well. **Before you read on:** what is wrong with this clock?

# %% tags=["skip-grading"]
fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True)
tables = {"A broken encoding": broken_encoding(40, 32), "Yours": sinusoidal_encoding(40, 32)}
for ax, (title, table) in zip(axes, tables.items(), strict=True):
    plots.heat_map(ax, table, title=title)
    ax.set(xlabel="column", ylabel="position")
plots.show(
    fig,
    alt="Left: apart from its first two columns, the broken encoding looks like noise, and a few "
    "columns look slow by accident. Right: smooth waves that grow longer from left to right.",
)
print("mean product of two positions, 1 for equal ones")
for title, table in tables.items():
    near, far = ((table[k:] * table[:-k]).sum(1).mean() / 16 for k in (1, 20))
    print(f"{title:18} one apart: {near:.1f}   twenty apart: {far:.1f}")

# %% [markdown]
# ### Exercise: `repaired_encoding`
# *1 point · difficulty 1 of 5 · 4 minutes*
#
# Here is the program. One character is missing.


# %% exercise="repaired_encoding"
def repaired_encoding(max_len: int, d_model: int) -> Tensor:
    """The table of sinusoidal_encoding, (max_len, d_model), for even d_model."""
    places = torch.arange(max_len).unsqueeze(1)
    # BEGIN SOLUTION
    frequencies = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    # STUB
    # frequencies = 10000.0 ** (torch.arange(0, d_model, 2) / d_model)
    # END SOLUTION
    angles = places * frequencies
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


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
# Print the frequencies for `d_model = 8`. The first should be 1, and each later one smaller.
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# Compare the exponent with the one in $\omega_i$, sign by sign.
# </details>
#
# **Found in popular texts:** $PE_{p,2i} = \sin(p \cdot 10000^{2i/D})$, with no minus sign: easy to
# miss, and this is what it makes. **Measured:** only the first pair is right. A hand that turns by
# many radians for each position is a random number to whoever looks once per position, so that
# neighbours match no better than positions that are far apart. Training can hide this, for a
# model may learn the few positions that it sees by heart. The picture does not hide it.
#
# ## How alike are two positions?
#
# **Predict:** the product $PE_p \cdot PE_{p+k}$: does it depend on $p$? Is it larger for
# neighbours? Does it tell *before* from *after*?

# %% tags=["skip-grading"]
table = sinusoidal_encoding(201, 64)
offsets = torch.arange(-50, 51)
match = {f"from position {p}": table[p + offsets] @ table[p] for p in (60, 100, 150)}
fig, ax = plt.subplots(figsize=(7, 3))
plots.lines(ax, offsets, match, markers=False, title="Product of two encodings (D = 64)")
ax.set(xlabel="offset k in positions", ylabel="PE[p] · PE[p + k]")
plots.show(
    fig,
    alt="Three curves that coincide: a sharp peak of 32 at offset 0, falling on both sides with "
    "ripples to about 15 at an offset of 50.",
)
spread = torch.stack(list(match.values())).std(0).max()
print(f"largest spread between the three starting points: {spread:.4f}")
print(f"k = 0: {match['from position 100'][50]:.1f}, D/2 = 32")

# %% [markdown]
# One pair of columns gives $\sin a \sin b + \cos a \cos b = \cos(a - b)$, so the whole product is
# $\sum_i \cos(k\,\omega_i)$: **it depends on the distance alone**. It is largest at distance 0,
# falls with ripples, not steadily, and it is the same for $k$ and $-k$. Which of two words comes
# first it cannot tell. That is left to the weights $W_Q$ and $W_K$. Can they?
#
# ## A shift is a rotation
#
# Moving $k$ positions on turns hand $i$ by $k\,\omega_i$, whatever the time on the clock:
#
# $$\sin(a + b) = \sin a \cos b + \cos a \sin b$$
# $$\cos(a + b) = \cos a \cos b - \sin a \sin b$$
#
# So one fixed matrix $M_k$ moves *every* encoding by $k$: $PE_{p+k} = M_k\,PE_p$.
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

# %% tags=["skip-grading"]
table, move = sinusoidal_encoding(100, 12), shift_matrix(2, 12)
laws = {
    "M_2 @ PE[p] is PE[p + 2], for all p": (table[:-2] @ move.T, table[2:]),
    "M_2 M_2 is M_4": (move @ move, shift_matrix(4, 12)),
    "M_2 times its transpose is the identity": (move @ move.T, torch.eye(12)),
    "M_2 transposed is M_-2": (move.T, shift_matrix(-2, 12)),
}
for law, (one, other) in laws.items():
    print(f"{law:41} largest difference {(one - other).abs().max():.4f}")
fig, ax = plt.subplots(figsize=(4.4, 3.6))
plots.heat_map(ax, move, title="M for a shift of 2 (D = 12)", bar=True)
ax.set(xlabel="column", ylabel="row")
plots.show(
    fig,
    alt="A twelve by twelve matrix with six blocks along its diagonal: the first turns far, the "
    "last hardly at all.",
)

# %% [markdown]
# Two shifts are one longer shift, lengths stay, and back is the transpose: a rotation. Now look at
# a score, $(W_Q\,PE_p) \cdot (W_K\,PE_s) = PE_p^\top\,W_Q^\top W_K\,PE_s$. With
# $W_Q^\top W_K = M_2$ it becomes $PE_p \cdot PE_{s+2}$, which is largest at $s = p - 2$. So
# **"look two places back" is a matrix that attention can learn.** At the end of this lesson it
# will have to.
#
# ## Positions as a layer
#
# A layer for the model: it keeps the table, adds the rows that the sentence needs, and drops
# entries while training. The table is not trained, but it has to move with the model, to a GPU or
# to another dtype. That is what a **buffer** is for.
#
# ### Exercise: `PositionalEncoding`
# *1 point · difficulty 2 of 5 · 8 minutes*
#
# Use your `sinusoidal_encoding`. A sentence that is longer than the table raises a `ValueError`,
# best with both lengths in its message.


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
        dict(case="dropout, wider", B=3, T=7, D=10, spare=2, dropout=0.5),
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
# `x.shape[1]` with the number of rows, raise if need be, add the slice, call the dropout.
# </details>
#
# ### Exercise: `LearnedPositionalEncoding`
# *1 point · difficulty 2 of 5 · 5 minutes*
#
# Why a formula at all? Give each position a row of its own and train it, like a word's vector.
# BERT and GPT-2 do that.


# %% exercise="LearnedPositionalEncoding"
class LearnedPositionalEncoding(nn.Module):
    """Adds a trained row for each position, then applies dropout to the sum.

    Attributes:
        weight: parameter (max_len, d_model), trained; starts as numbers no larger than about 1.

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
        dict(case="dropout, wider", B=3, T=7, D=10, spare=2, dropout=0.5),
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
# ## The words that positions are added to
#
# The paper multiplies the word vectors by $\sqrt{D}$ before it adds positions, and does not say
# why.
#
# ### Exercise: `TokenEmbedding`
# *1 point · difficulty 1 of 5 · 5 minutes*
#
# A table of word vectors, multiplied by $\sqrt{D}$ in `forward`. The padding row is zero, and
# stays so: no gradient reaches it.


# %% exercise="TokenEmbedding"
class TokenEmbedding(nn.Module):
    """Vectors for words, scaled by sqrt(d_model); padding has the vector 0.

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
# ## Which drowns which?
#
# Why that factor? **Two explanations go round, and they contradict each other.** One says that the
# factor keeps *positions* from drowning the words, the other that it keeps the *words* from
# drowning the positions. **Predict** which, then measure. A row of sinusoids has length
# $\sqrt{D/2}$, for each pair contributes $\sin^2 + \cos^2 = 1$. How long a word's vector is depends
# on how its table was filled. torch draws from $N(0, 1)$; the paper's own program drew from
# $N(0, 1/D)$.


# %% tags=["skip-grading"]
def lengths(d_model: int, std: float) -> list[float]:
    """Mean length of word vectors, as they are and times sqrt(D), for a table of this spread."""
    torch.manual_seed(0)
    plain = (std * torch.randn(1000, d_model)).norm(dim=1).mean().item()
    return [plain, plain * math.sqrt(d_model)]


D = 512
print(f"D = {D}: a position has length {math.sqrt(D / 2):.0f}\n")
print(f"{'table drawn from':20}{'word':>8}{'× sqrt(D)':>12}{'word : position, scaled':>26}")
for name, std in (("N(0, 1), torch's", 1.0), ("N(0, 1/D)", D**-0.5)):
    plain, scaled = lengths(D, std)
    print(f"{name:20}{plain:8.0f}{scaled:12.0f}{scaled / math.sqrt(D / 2):26.1f}")

# %% [markdown]
# **Measured:** both explanations name a danger, and the factor meets only one of them.
# - Drawn from $N(0, 1/D)$, a word has length 1 beside a position of length 16. Without the factor
#   **positions drown the words**. With it they are about even (1.4 to 1). Here the factor makes
#   sense.
# - Drawn from $N(0, 1)$, torch's default, a word is already longer than a position. With the
#   factor it is 32 times as long: the factor *makes* **the words drown the positions**.
#
# So the factor belongs to the initialisation, not to the architecture. `nn.Embedding` times
# $\sqrt{D}$ combines torch's spread with the paper's factor: two halves that do not fit. Does it
# matter to a model? We shall see in a moment.
#
# ## Rotary positions
#
# Adding puts "what" and "where" into one vector and hopes that they can be taken apart again.
# Rotary positions (2021, in many language models since) add nothing. Just before the scores
# are taken, they *turn* queries and keys, pair by pair of columns, by an angle that grows with the
# position:
#
# $$(a, b) \mapsto (a\cos\theta - b\sin\theta,\; a\sin\theta + b\cos\theta), \qquad
# \theta = p \cdot \mathrm{base}^{-2i/D_h}$$
#
# A query turned by $p\,\omega$ and a key turned by $s\,\omega$ meet at the angle $(p - s)\,\omega$.
#
# ### Exercise: `rotary_embedding`
# *4 points · difficulty 4 of 5 · 14 minutes*
#
# Pair i is made of the columns 2i and 2i + 1. The first position is 0.


# %% exercise="rotary_embedding"
def rotary_embedding(x: Tensor, base: float = 10000.0) -> Tensor:
    """Turn each pair of columns (2i, 2i + 1) at position p by the angle p * base^(-2i / Dh).

    (a, b) becomes (a cos - b sin, a sin + b cos).

    Args:
        x: queries or keys (B, H, T, Dh), Dh even.
        base: decides how slowly the last pairs turn.

    Returns:
        Like x, in shape and dtype; x itself is left as it was.
    """
    # BEGIN SOLUTION
    length, width = x.shape[-2:]
    frequencies = base ** (-torch.arange(0, width, 2, device=x.device) / width)  # (Dh/2,)
    angles = torch.arange(length, device=x.device).unsqueeze(1) * frequencies  # (T, Dh/2)
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
# the last two. Mind the dtype of the angles: cos and sin should have that of x.
# </details>
#
# **Predict:** put the same query and the same key at every position, and draw the score of each
# pair of positions. What does the picture look like when positions are added? And when they turn
# query and key?

# %% tags=["skip-grading"]
torch.manual_seed(1)
query, noise = torch.randn(2, 32)
query, key = (v.expand(24, 32) for v in (query, 0.7 * query + 0.7 * noise))  # at all 24 positions
rows = sinusoidal_encoding(24, 32)
added = (query + rows) @ (key + rows).T / math.sqrt(32)
turned = rotary_embedding(query[None, None])[0, 0] @ rotary_embedding(key[None, None])[0, 0].T
turned = turned / math.sqrt(32)
fig, axes = plt.subplots(1, 2, figsize=(8.4, 3.4))
for ax, scores, title in zip(axes, (added, turned), ("Added", "Turned (rotary)"), strict=True):
    plots.heat_map(ax, scores, title=title, limits=(scores.min().item(), scores.max().item()))
    ax.set(xlabel="position of the key", ylabel="position of the query")
plots.show(
    fig,
    alt="Scores of one query and one key at all pairs of positions. Added: blurred squares, and "
    "values that change along the diagonals. Turned: each diagonal has one colour, and those "
    "above the main diagonal differ from those below.",
)
for name, scores in (("added", added), ("turned", turned)):
    spread = max(scores.diagonal(k).std().item() for k in range(-22, 23))
    print(f"{name:7} largest spread of scores at one distance: {spread:.2f}")

# %% [markdown]
# Every diagonal is one distance. With rotary positions **the score depends on what the two words
# are and how far apart they stand, and in which order**, and never on where in the sentence. With
# added positions, what and where mix. Moreover, rotary turns no values: what is passed on is
# the word alone, as it was.
#
# ## The test: who can look two places back?
#
# A made-up language of 16 words in four groups. A word's tag is the group of **the word two places
# before it**. The model is the smallest that could do it: your `TokenEmbedding`, one attention with
# one head, a residual, a layer norm and a linear layer (`utils/experiments/word_order_task.py`).
# We train it on sentences of 16 words. Only the positions differ.
#
# The word tables are drawn from $N(0, 1/D)$ here, the paper's way.
#
# **Predict:** how well does the model without positions do? Blind guessing is right in a quarter
# of the cases. And which of the other three will learn fastest?


# %% tags=["skip-grading"]
WIDTH = 32


def new_tagger(kind: str, seed: int, std: float = WIDTH**-0.5, start: float = 0.02) -> nn.Module:
    """A fresh tagger; std is the spread of its word table, start that of learned positions."""
    torch.manual_seed(seed)
    words = TokenEmbedding(task.VOCABULARY, WIDTH)
    task.redraw(words, std)
    layers = {
        "sinusoidal": lambda: PositionalEncoding(WIDTH, max_len=64),
        "learned": lambda: LearnedPositionalEncoding(WIDTH, max_len=64),
    }
    layer = layers[kind]() if kind in layers else None
    if kind == "learned":
        nn.init.normal_(layer.weight, std=start)
    rotate = rotary_embedding if kind == "rotary" else None
    return task.OrderTagger(words, WIDTH, layer, rotate)


SEEDS = (0, 1, 2)
taggers, curves = {}, {}
for kind in ("none", "sinusoidal", "learned", "rotary"):
    taggers[kind] = [new_tagger(kind, seed) for seed in SEEDS]
    curves[kind] = [task.train(t, 100 + s) for t, s in zip(taggers[kind], SEEDS, strict=True)]


# %% tags=["skip-grading"]
def draw_curves(ax: plt.Axes, curves: dict[str, list[list[float]]], title: str) -> None:
    """Mean over the seeds as a line, lowest to highest as a band."""
    means = {name: torch.tensor(c).mean(0) for name, c in curves.items()}
    steps = (torch.arange(len(next(iter(means.values())))) + 1) * task.MEASURE_EVERY
    plots.lines(ax, steps, means, title=title, xlabel="training step", ylim=(0, 1.03))
    for line, runs in zip(ax.get_lines(), curves.values(), strict=True):
        low, high = torch.tensor(runs).min(0).values, torch.tensor(runs).max(0).values
        ax.fill_between(steps, low, high, color=line.get_color(), alpha=0.2)
    ax.set(ylabel="accuracy on new sentences")


fig, ax = plt.subplots(figsize=(7, 3.4))
draw_curves(ax, curves, "A tag that depends on the word two places before")
plots.show(
    fig,
    alt="Accuracy against training steps, mean and range of three seeds. Without positions it "
    "stays near 0.4; rotary reaches 1 first, then sinusoidal and learned.",
)

# %% tags=["skip-grading", "measured"]
batch = task.look_back_sentences(128, task.LENGTH, seed=12345)
groups = torch.nn.functional.one_hot(batch.words % task.N_TAGS).sum(1)  # (B, 4)
bag = (batch.tags[:, task.BACK :] == groups.argmax(1, keepdim=True)).float().mean()
print(f"always guessing the sentence's most frequent group: {bag:.2f}")
for kind, runs in curves.items():
    last = [run[-1] for run in runs]
    print(f"{kind:12} {sum(last) / 3:.2f}   from {min(last):.2f} to {max(last):.2f} over 3 seeds")

# %% [markdown]
# Without positions the model ends where you end by always guessing the sentence's most frequent
# group: that is about all that a bag can tell. The other three solve the task, and differ in speed.
# **Rotary** is first: every sentence shows it the distance of two places fourteen times over,
# wherever it occurs. The learned table is last, and we shall come back to why.
#
# Where do they look? The mean weights over many sentences, for the first seed. The sentences here
# have 32 words, twice as many as in training. **Predict:** what will the picture of each look like
# above and left of the dashed lines, and what beyond them?

# %% tags=["skip-grading"]
LONG = 32
sample = task.look_back_sentences(200, LONG, seed=7).words
fig, axes = plt.subplots(2, 2, figsize=(8, 6.4))
for ax, kind in zip(axes.flat, taggers, strict=True):
    with torch.no_grad():
        seen = taggers[kind][0].attention(sample).mean(0)
    title = f"none (1/{LONG} everywhere)" if kind == "none" else kind
    plots.heat_map(ax, seen, title=title, limits=(0, 1))
    ax.axhline(task.LENGTH - 0.5, color="C1", ls="--", lw=1)
    ax.axvline(task.LENGTH - 0.5, color="C1", ls="--", lw=1)
    ax.set(xlabel="looked at (position)", ylabel="looking (position)")
plots.show(
    fig,
    alt="Mean attention for four kinds of positions over 32 positions; dashed lines mark 16, the "
    "length in training. None: even. Sinusoidal: a stripe two below the diagonal that pales past "
    "16, among weaker stripes beside it. Learned: the stripe ends at 16. Rotary: it goes on.",
)

# %% [markdown]
# The stripe two below the diagonal is the shift by two, found by training. (The first two words
# have nothing to find, and look anywhere.) Past the dashed lines the learned table has nothing to
# say; the sinusoidal stripe, weaker from the start in sentences this long, pales, and ghosts of it
# appear at other distances; the rotary one goes on.
#
# ## Beyond the trained length
#
# **Claimed in popular texts:** sinusoidal positions work for sentences longer than any in training,
# because they are a formula. **Predict**, from the pictures: who can still tag position 40?
# (The learned table has 64 rows, so that it can be asked at all. Rows past 16 were never trained.)

# %% tags=["skip-grading"]
REACH = 64
parts = {"2 to 15": slice(0, 14), "16 to 31": slice(14, 30), "32 to 63": slice(30, 62)}
beyond = {
    kind: torch.stack([task.hits(tagger, REACH) for tagger in runs])  # (3, 62)
    for kind, runs in taggers.items()
}
fig, ax = plt.subplots(figsize=(8, 3.2))
places = range(task.BACK, REACH)
means = {kind: table.mean(0) for kind, table in beyond.items()}
plots.lines(ax, places, means, markers=False, title="Sentences of 64 words, after training on 16")
for line, table in zip(ax.get_lines(), beyond.values(), strict=True):
    low, high = table.min(0).values, table.max(0).values
    ax.fill_between(places, low, high, color=line.get_color(), alpha=0.15)
ax.axvline(task.LENGTH - 0.5, color="0.4", ls=":")
ax.set(xlabel="position (dotted: longest in training)", ylabel="accuracy", ylim=(0, 1.03))
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
plots.show(
    fig,
    alt="Accuracy by position in sentences of 64 words, mean and range of three seeds. Past "
    "position 15 learned falls to a quarter at once, sinusoidal rises and falls in waves between a "
    "quarter and 1, and rotary stays between 0.7 and 1. In the first 16 positions learned stays "
    "at 1; the other two lose a fifth on average, and sinusoidal starts at a half.",
)

# %% tags=["skip-grading", "measured"]
print(f"{'':12}" + "".join(f"{f'positions {name}':>28}" for name in parts))
for kind, table in beyond.items():
    cells = [table[:, part].mean(1) for part in parts.values()]
    shown = [f"{c.mean():.2f} ({c.min():.2f} to {c.max():.2f})" for c in cells]
    print(f"{kind:12}" + "".join(f"{text:>28}" for text in shown))

# %% [markdown]
# **Measured:** the formula *gives* a row for every position, which is more than the learned table
# can say. That the model *understands* that row is another thing. Past the trained length the
# sinusoidal model does badly for a stretch, better again further on, and differently for each seed:
# fast columns come round to where they have been, and slow ones take values never seen in training.
# The learned table knows nothing at all there. Rotary positions carry over best, but not freely:
# in a sentence four times as long, even the first words are tagged less well. (The sinusoidal model
# loses there, too.) Is it that many more words compete for attention? The learned table faces just
# as many, and stays right. **Predict:** where does the rotary model look instead?

# %% tags=["skip-grading", "measured"]
long_sample = task.look_back_sentences(128, REACH, seed=12345).words
distance = torch.arange(REACH) - torch.arange(REACH).unsqueeze(1)  # (T, S), ahead is positive
early, far = slice(task.BACK, task.LENGTH), distance.abs() >= task.LENGTH
wrong = (distance != -task.BACK) & ~far
for seed, tagger in zip(SEEDS, taggers["rotary"], strict=True):
    with torch.no_grad():
        seen = tagger.attention(long_sample).mean(0)  # (T, S)
    on_far, on_wrong = ((seen * chosen)[early].sum(1).mean() for chosen in (far, wrong))
    at = torch.stack([seen.diagonal(k)[early].sum() for k in range(REACH - task.BACK)])
    print(
        f"seed {seed}, positions 2 to 15: {on_far:.0%} of the weight 16 or more away, "
        f"{on_wrong:.1%} on nearer wrong words; most ahead at {at.topk(2).indices.tolist()}"
    )

# %% [markdown]
# Far away. Distances over 15 never occurred in training, and some, such as 42 or 55 ahead, match by
# accident. Among the distances that it knows, the model still looks at the right word.
#
# ## And does the factor matter?
#
# Back to $\sqrt{D}$. The models above had words from $N(0, 1/D)$, times $\sqrt{D}$. Now the same
# with lengths out of balance:
# - sinusoids beside *short* words, $N(0, 1/D)$ without the factor, and beside *long* ones,
#   $N(0, 1)$ with the factor;
# - a learned table that starts as long as the sinusoids (spread $\sqrt{1/2}$, not 0.02);
# - as a cross-check, rotary positions with long words.
#
# **Predict:** if drowned positions are the whole story, what happens to rotary, which adds nothing
# to the words?

# %% tags=["skip-grading"]
settings = {
    "sinusoidal, short words": ("sinusoidal", 1 / WIDTH, 0.02),  # forward's factor is undone
    "sinusoidal, long words": ("sinusoidal", 1.0, 0.02),
    "learned, longer start": ("learned", WIDTH**-0.5, 0.5**0.5),
    "rotary, long words": ("rotary", 1.0, 0.02),
}
balance = {"sinusoidal, as above": curves["sinusoidal"], "learned, as above": curves["learned"]}
for name, (kind, std, start) in settings.items():
    runs = [new_tagger(kind, seed, std, start) for seed in SEEDS]
    balance[name] = [task.train(t, 100 + s) for t, s in zip(runs, SEEDS, strict=True)]
fig, axes = plt.subplots(1, 2, figsize=(10, 3.6), sharey=True)
long_ones = {name: c for name, c in balance.items() if "long words" in name}
draw_curves(axes[0], {n: c for n, c in balance.items() if n not in long_ones}, "Balanced, or short")
draw_curves(axes[1], long_ones, "Words six times as long")
axes[1].set_ylabel("")
plots.show(
    fig,
    alt="Two plots of accuracy against training steps, mean and range of three seeds. Left: all "
    "solve the task; a learned table with a longer start is much faster than before. Right: with "
    "long words neither sinusoidal nor rotary positions get far above chance.",
)

# %% tags=["skip-grading", "measured"]
for name, runs in balance.items():
    last = [run[-1] for run in runs]
    print(f"{name:24} {sum(last) / 3:.2f}   from {min(last):.2f} to {max(last):.2f} over 3 seeds")
for name, std in (("short words", 1 / WIDTH), ("as above", WIDTH**-0.5), ("long words", 1.0)):
    with torch.no_grad():
        peaks = [
            new_tagger("rotary", seed, std).attention(sample).amax(-1).mean() for seed in SEEDS
        ]
    print(f"untrained rotary, {name:12} largest weight in a row: {sum(peaks) / 3:.2f} of 1")

# %% [markdown]
# **Measured:**
# - torch's default times $\sqrt{D}$ is a real trap: in these 200 steps this model learns next to
#   nothing. Words *shorter* than positions do no harm here.
# - The learned table was slow because its rows began short: $0.02 \sqrt{32} \approx 0.1$, beside
#   words of $\sqrt{32} \approx 5.7$. Begun as long as the sinusoids, it is about as fast as rotary.
#   Yet it arrived either way. The sinusoids beside long words, only eight times too short, did not.
# - The cross-check: rotary adds nothing that could drown, and with long words it stalls as well. So
#   drowning is not the whole story. The last lines show the rest: with long words the untrained
#   model already puts most of its attention on a single word, and softmax that is so sure hardly
#   passes a gradient (lesson 02).
#
# So check lengths, of words and of positions, before you train. Lesson 06 returns to this with real
# text.
#
# ## Recap
#
# - Attention alone sees a bag: permute the words, and the outputs are permuted with them.
# - Sinusoids are hands of a clock. The first columns are fast. Their products depend on distance
#   alone, and a shift is a rotation that attention can learn.
# - A learned table is as good within the trained length, and knows nothing beyond it.
# - Whether words drown positions depends on how the table was drawn: check lengths before you
#   multiply.
# - Rotary positions turn queries and keys. A score then depends on the two words, their distance
#   and their order alone.
#
# Four statements from popular texts, and what was measured:
# - *The exponent has no minus sign*: then the table looks like noise, and neighbours match no
#   better than positions far apart.
# - *The first dimensions vary slowly*: they are the fastest.
# - *The factor keeps positions (or words) from dominating*: that depends on the table's spread.
#   With torch's default it makes words 32 times as long as positions at D = 512.
# - *Sinusoids work for sentences longer than any in training*: the table goes on, but the trained
#   model reads it badly there.
#
# **Next:** lesson 05 puts embedding, positions, attention and feed-forward layers together into an
# encoder.
#
# **Sources**
#
# - A. Vaswani et al., *Attention is all you need*, NIPS 2017 (arXiv:1706.03762): sinusoids and the
#   guess that they carry beyond the trained length (3.5), the factor (3.4).
# - J. Gehring et al., *Convolutional sequence to sequence learning*, ICML 2017 (arXiv:1705.03122):
#   learned positions.
# - J. Su et al., *RoFormer: enhanced Transformer with rotary position embedding*, 2021
#   (arXiv:2104.09864).
# - O. Press, N. A. Smith, M. Lewis, *Train short, test long*, ICLR 2022 (arXiv:2108.12409):
#   sinusoidal and rotary positions beyond the trained length.
