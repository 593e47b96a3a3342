# %% [markdown]
# # 00 · Start here
#
# **What this lesson answers:** how do the exercises of this course work, and what does your
# machine offer?
#
# **What it needs:** Python, and some experience with torch tensors.
#
# <span class="course-chip">**Time:** 35 minutes</span>
# <span class="course-chip">**Points:** 4</span>
#
# You will write three small functions. Each is a piece of attention in disguise, and you will meet
# all three again: a softmax, a mean that skips padding (lesson 07), and all dot products between
# two sequences.
#
# Run a cell with `Shift` + `Enter`. Run the cells from top to bottom.

# %% tags=["folded"]
# Set up: what this lesson uses. Run it first.
import matplotlib.pyplot as plt
import torch
from torch import Tensor

from utils import drawn, plots
from utils.experiments import device
from utils.checks import check
from utils.notebook.lend import lend
from utils.progress.guesses import guess, reveal, summary

# %% [markdown]
# This is the model that you build: it reads a sentence and gives each word a tag. Each box has the
# name of the class or function that you write, and the lesson in which you write it. (Lesson 01 is
# about recurrent networks, which came before it.) Dashed boxes are not built yet; each lesson's end
# shows how far you are. In later diagrams blue boxes hold data, orange ones learn, grey ones
# compute, green ones add.

# %% tags=["skip-grading"]
drawn.encoder()

# %% [markdown]
# ## 1. Your machine
#
# All lessons run on any laptop. Lesson 06 trains your own encoder: a small one on a CPU, a larger
# one where there is a GPU.

# %% tags=["skip-grading", "measured"]
print(device.report())

# %% [markdown]
# ## 2. How an exercise works
#
# Every exercise is a cell with a stub, followed by a cell that checks it. The check recognises
# common mistakes by their results, and tells you which one it sees. Watch it at work on a function
# that is written already.
#
# Softmax turns scores $x_1, \dots, x_n$ into weights between 0 and 1 that sum to one:
#
# $$\mathrm{softmax}(x)_i = \frac{e^{x_i}}{\sum_j e^{x_j}}$$
#
# As code it is one line.


# %%
def naive_softmax(x: Tensor, dim: int = -1) -> Tensor:
    return x.exp() / x.exp().sum(dim, keepdim=True)


naive_softmax(torch.tensor([1.0, 2.0]))

# %% [markdown]
# **Predict, before you run the experiment:** `naive_softmax` gives the scores 1 and 2 the weights
# 0.27 and 0.73. If the scores are 101 and 102, which weight will it give to 102?
#
# You will meet such questions in every lesson. Put your guess in place of `None`, a number or a few
# words in quotes, and run the cell: the result will be shown beside it. A guess is never graded,
# nobody else sees it, and everything runs without one. You remember what surprises you.

# %% tags=["skip-grading"]
guess("weight of 102 beside 101", None)

# %% tags=["skip-grading"]
weights = naive_softmax(torch.tensor([101.0, 102.0]))
print(weights)
reveal("weight of 102 beside 101", weights[1].item())

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# A `float32` holds numbers up to about $3.4 \cdot 10^{38}$, and $e^{88.8}$ is more than that.
# Anything larger becomes infinity, and infinity divided by infinity is "not a number". The true
# answer has not moved at all: adding 100 to every score multiplies numerator and denominator by
# $e^{100}$, which cancels.
# </details>
#
# In the picture below, follow the thin curve to the place where it ends.

# %% tags=["skip-grading", "folded"]
# Draw the naive softmax beside the true value.
scores = torch.arange(0, 121, dtype=torch.float32)
pairs = torch.stack([scores, scores + 1], -1)
fig, ax = plt.subplots(figsize=(7, 2.8))
ax.plot(scores, torch.softmax(pairs, -1)[:, 1], color="C1", lw=5, alpha=0.35, label="true value")
ax.plot(scores, naive_softmax(pairs)[:, 1], color="C0", label="naive softmax")
ax.axvline(88, color="0.5", ls=":", label="exp overflows")
ax.set(xlabel="smaller score x (the other is x + 1)", ylabel="weight of the larger score")
ax.set(title="The naive softmax breaks down where exp overflows", ylim=(0, 1.05))
ax.legend(loc="lower left")
plots.show(
    fig,
    alt="The weight of the larger of two scores is 0.73 whatever their size; the naive "
    "softmax follows it up to a score of 87 and has no value beyond.",
)

# %% [markdown]
# Now the check. It calls the function on harder and harder cases, compares each result with the
# right one, and shows the first that fails.

# %% tags=["skip-grading"]
check.stable_softmax(naive_softmax)

# %% [markdown]
# Read it from top to bottom: **what this usually means**; where to look; the first case that fails,
# with a few of the numbers expected and found; and all cases, those that fail first. If no known
# mistake fits, the card says **what was seen** instead.
#
# Most points of an exercise are for its **main task**. Some cases make **extra demands**, such as
# an empty row or another number type: if those alone are missed, the card is amber. For an exercise
# of 2 points:
#
# | what is right | points |
# |---|---|
# | everything | 2.0 |
# | the main task, and none of the extra demands | 1.6 |
# | half of the main task, and all extra demands | 1.0 |
# | half of the main task, and nothing else | 0.8 |
#
# If the simplest case fails, the first that a check runs, there are no points.
#
# And if you are stuck? Write `lend("stable_softmax")` into a cell of its own. The lesson then goes
# on with the course's function in place of yours. You get no points for that, but you can come back
# and write your own at any time.
#
# ### Exercise: `stable_softmax`
# *2 points · difficulty 2 of 5 · 6 minutes*
#
# Write a softmax that works for scores of 10,000 and for scores of minus infinity, which will stand
# for "not allowed" from lesson 02 on. One softmax runs over a *slice*: the entries along `dim`,
# such as a row. If a whole slice is minus infinity, nothing is allowed there, and all its weights
# are 0 (torch's own gives NaN). Later, gradients flow back through this function: they must not
# hold a NaN either. Use `exp` and `sum`: torch's own softmax is off limits here, and so are
# `log_softmax` and `logsumexp`.


# %% exercise="stable_softmax"
def stable_softmax(x: Tensor, dim: int = -1) -> Tensor:
    """Softmax along one axis: exp(x_i) / sum_j exp(x_j), however large the scores are.

    Args:
        x: scores of any shape, finite or minus infinity, which marks what is not allowed.
        dim: the axis along which the weights sum to one.

    Returns:
        Weights, of x's shape and dtype; 0 where x is minus infinity, also where a whole slice is.
        Their gradient has no NaN.
    """
    # BEGIN SOLUTION
    highest = x.amax(dim, keepdim=True)
    highest = highest.masked_fill(highest == -torch.inf, 0.0)
    exponentials = (x - highest).exp()
    total = exponentials.sum(dim, keepdim=True)
    return exponentials / total.masked_fill(total == 0, 1.0)
    # END SOLUTION


# %% test="stable_softmax" points=2
check.stable_softmax(stable_softmax)
# BEGIN HIDDEN TESTS
check.stable_softmax(
    stable_softmax,
    points=2,
    hidden=[
        dict(case="the second axis, larger sizes", B=2, T=5, S=3, dim=1, scale=3.0),
        # What the exercise is about: without it little is earned.
        dict(case="the first axis, large numbers", weight=6.0, B=4, T=2, S=3, dim=0, scale=5000.0),
        dict(
            case="minus infinity beside -2,000,000",
            demand="minus infinity beside scores far below zero",
            B=2,
            T=4,
            S=5,
            blocked="some",
            shift=-2e6,
        ),
        dict(case="the sizes of the first case, other numbers", B=2, T=3, S=5, scale=2.0),
        dict(
            case="minus infinity in float64",
            demand="float64",
            B=2,
            T=5,
            S=7,
            blocked="some",
            dtype="float64",
        ),
        dict(
            case="blocked rows among large ones",
            demand="a slice of minus infinity alone",
            B=3,
            T=2,
            S=4,
            blocked="a whole row",
            scale=1e4,
        ),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# Softmax does not change when you subtract the same number from all scores of a slice. Choose
# one that makes the largest exponent harmless.
# </details>
# <details><summary>Hint 2: the special case</summary>
#
# A slice of minus infinity alone has minus infinity as its largest entry, and subtracting that
# gives NaN. Which number could you subtract instead? And what is the sum then? Replace that 0
# *before* you divide: a NaN that is mended only in the result comes back in the gradient, as 0
# times NaN is NaN.
# </details>
# <details><summary>Hint 3: almost the answer</summary>
#
# Largest entry with `amax(dim, keepdim=True)`; where it is minus infinity, use 0. Exponentials of
# the differences. Their sum with `keepdim=True`; where it is 0, use 1. Divide.
# </details>
#
# ## 3. A mean that skips padding
#
# Sentences have different lengths; a batch is a rectangle. The gap is filled with padding, and a
# mask says which positions are real: `True` is real, everywhere in this course.
#
# **Predict:** a batch holds three sentences, in rows of five positions. Every word is the number
# 1, and padding is 0. The second sentence has two words. What does `x.mean(1)` give for it?

# %% tags=["skip-grading"]
guess("plain mean of two words", None)

# %% tags=["skip-grading"]
x = torch.zeros(3, 5, 1)
mask = torch.arange(5) < torch.tensor([[5], [2], [3]])
x[mask] = 1.0
print("plain mean of each sentence:", x.mean(1).flatten())
reveal("plain mean of two words", x.mean(1)[1].item())

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# The mean of ones is 1, but padding pulls it down: the shorter the sentence, the more.
# </details>
#
# From here on a batch has **B** sentences of **T** positions, and each position a vector of **D**
# entries. **S** is the length of a second sequence.
#
# ### Exercise: `masked_mean`
# *1 point · difficulty 1 of 5 · 5 minutes*
#
# Average over the real positions only. A sentence without real positions gives 0, and its gradient
# has no NaN.


# %% exercise="masked_mean"
def masked_mean(x: Tensor, mask: Tensor) -> Tensor:
    """Mean over the true positions of each sequence.

    Args:
        x: (B, T, D), finite numbers, at padding as well.
        mask: (B, T), boolean, True at real positions.

    Returns:
        (B, D); zeros for a sequence without a true position.
    """
    # BEGIN SOLUTION
    kept = mask.unsqueeze(-1).to(x.dtype)  # (B, T, 1)
    return (x * kept).sum(1) / kept.sum(1).clamp(min=1)
    # END SOLUTION


# %% test="masked_mean" points=1
check.masked_mean(masked_mean)
# BEGIN HIDDEN TESTS
check.masked_mean(
    masked_mean,
    points=1,
    hidden=[
        dict(case="one sequence", B=1, T=3, D=2),
        dict(case="longer sequences with holes", B=4, T=9, D=3, mask="random"),
        dict(case="sizes met before, another mask", B=3, T=7, D=2),
        dict(case="vectors of one entry", B=3, T=5, D=1),
        dict(
            case="zeros among longer sequences",
            demand="entries of zero",
            B=2,
            T=7,
            D=5,
            mask="random",
            zeros=True,
        ),
        dict(
            case="nothing in it, in float64",
            demand="a sequence with nothing in it",
            B=5,
            T=3,
            D=4,
            mask="empty",
            dtype="float64",
        ),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# Multiplying by 0 removes an entry from a sum. What removes it from the count?
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# Give the mask a last axis of size one (`unsqueeze(-1)`), so that it broadcasts over D. Sum
# `x * mask` over T, sum the mask over T, make that count at least 1 (`clamp`), divide.
# </details>
#
# ## 4. Every vector of one sequence with every vector of another
#
# The heart of attention is a table: how well does each vector $a_t$ of one sequence match each
# vector $b_s$ of another? (Lesson 02 calls them queries and keys.) The match is their dot product.
#
# $$P_{ts} = a_t \cdot b_s = \sum_d a_{td}\, b_{sd}$$
#
# ### Exercise: `pairwise_dot`
# *1 point · difficulty 1 of 5 · 5 minutes*
#
# Fill that table for a whole batch at once, without a loop.


# %% exercise="pairwise_dot"
def pairwise_dot(a: Tensor, b: Tensor) -> Tensor:
    """All dot products between the vectors of two sequences: P[t, s] = a[t] . b[s].

    Args:
        a: (B, T, D).
        b: (B, S, D).

    Returns:
        (B, T, S).
    """
    # BEGIN SOLUTION
    return a @ b.transpose(-2, -1)
    # END SOLUTION


# %% test="pairwise_dot" points=1
check.pairwise_dot(pairwise_dot)
# BEGIN HIDDEN TESTS
check.pairwise_dot(
    pairwise_dot,
    points=1,
    hidden=[
        dict(case="single vectors", B=2, T=1, S=1, D=3),
        dict(case="a larger batch", B=5, T=4, S=6, D=7),
        dict(
            case="a larger batch without a loop", demand="no loop", B=2, T=6, S=3, D=5, grows=True
        ),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# A matrix product sums over the last axis of its left side and the last but one of its right.
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# Swap the last two axes of `b`, and leave its batch axis alone.
# </details>
#
# ### What a dot product says about two points
#
# Take six points, evenly spread on a circle of radius 1, and compare each of them with all six.
# **Predict:** what is the dot product of two neighbours? And of two opposite points?

# %% tags=["skip-grading"]
guess("dot product of neighbours", None)
guess("dot product of opposite points", None)

# %% tags=["skip-grading"]
angles = torch.arange(6) * torch.pi / 3
points = torch.stack([angles.cos(), angles.sin()], -1)[None]  # (1, 6, 2)
products = pairwise_dot(points, points)[0]
next_one, opposite = products[0, 1].item(), products[0, 3].item()
reveal("dot product of neighbours", next_one)
reveal("dot product of opposite points", opposite)
fig, ax = plt.subplots(figsize=(3.8, 3.2))
plots.heat_map(ax, products, title="Dot products of six points on a circle")
ax.set(xlabel="point s", ylabel="point t")
plots.show(fig, about=f"Each row is one point: {next_one:.1f} beside its neighbours, "
           f"{opposite:.0f} beside its opposite.")  # fmt: skip

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# On a circle of radius 1 the dot product is the cosine of the angle: the closer two points lie, the
# better they match. Elsewhere length counts as well.
# </details>
#
# Softmax along each row of such a table gives attention's weights. Lesson 02 shows what they are
# used for.
#
# ## 5. Hand in
#
# Open **Assignment List** in the Nbgrader menu, and press **Submit** beside this lesson: it saves
# the notebook first. You may submit as often as you like: the last one counts. Where there is no
# such menu, as on Windows, the start page or your instructor says where notebooks go.
#
# Grading adds **hidden cases** of the same kinds, with other sizes and numbers: an answer that only
# knows the visible ones gets half of the points at most.

# %% tags=["skip-grading"]
summary()

# %% [markdown]
# ## Recap
#
# - An exercise is a stub, a check and hints. If the check knows a mistake, it names it.
# - Softmax does not change if one number is subtracted from all scores of a slice; subtracting
#   the largest makes it safe.
# - Padding is removed from sums *and* from counts.
# - All pairs of dot products are one matrix product.
#
# Two boxes of the encoder are the work of this lesson:

# %% tags=["skip-grading"]
drawn.encoder(0)

# %% [markdown]
# ## Three open questions
#
# 1. The naive softmax ends near 88. Where does it end in `float64`, and where in `bfloat16`? Change
#    the dtype of the scores above (up to 800 for `float64`; for the plot, turn `bfloat16` back with
#    `.float()`), and see whether $\ln$ of the largest number tells you.
# 2. A softmax of scores near -200 fails too, without any infinity. What goes wrong there, and does
#    your `stable_softmax` escape it?
# 3. Draw a million pairs of random vectors with 2, 20 and 200 entries. How are their dot products
#    spread? (Lesson 02, section 5 comes back to this.)
#
# **Next:** [lesson 01](../01_rnn_limits/01_rnn_limits.ipynb) asks what a
# recurrent network can and cannot remember. [Start page](../Start.md)
#
# **Sources.** The shift by the maximum is standard numerics: P. Blanchard, D. J. Higham,
# N. J. Higham, *Accurately computing the log-sum-exp and softmax functions*, IMA Journal of
# Numerical Analysis 41 (2021).
