# %% [markdown]
# # 02 · Attention: looking back directly
#
# **What this lesson answers:** how can a network use any part of its input at any moment, without
# squeezing it through one state first? What does that cost?
#
# **What it needs:** lesson 01 (the encoder-decoder and its limits).
#
# <span class="course-chip">**Time:** 135 minutes</span>
# <span class="course-chip">**Points:** 27</span>
#
# Could you translate a long sentence with the book closed? The decoder of lesson 01 had to: it got
# one vector for the whole sentence. Now it may open the book again and look back at all the
# encoder's states. That is **attention**. You will build it, with a recurrent network and without
# one.

# %% tags=["folded"]
# Set up: what this lesson uses. Run it first.
from time import process_time
from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import Tensor, nn

from utils import drawn, plots
from utils.plots import attention as pictures
from utils.experiments import reversal_task as task
from utils.checks import check
from utils.notebook.lend import lend
from utils.progress.guesses import guess, reveal, summary
from utils.experiments.profiling import bytes_kept, seconds
from utils.experiments.seq2seq import AdditiveAttention, Seq2Seq, train
from utils.experiments.buggy import broken_attention, symptoms

torch.set_num_threads(1)  # small matrices gain nothing from more, and times are steadier

# %% [markdown]
# ## 1. A decoder that may look back
#
# Before each step the decoder asks a question, the **query** $q$: its own state, of **Dq** entries.
# Each of the **S** encoder states is a **key** $k_s$, of **Dk** entries. A **score** says how well
# the two match. Bahdanau, Cho and Bengio (2015) computed it with a small network:
#
# $$e_s = v^\top \tanh(W_q\, q + W_k\, k_s)$$
#
# Its hidden layer has $A$ units, and $v$ has one weight for each. The score is called *additive*,
# because query and key meet in a sum. When one sequence asks and another one answers, as here, it
# is **cross-attention**.
#
# ### Exercise: `additive_scores`
# *3 points · difficulty 2 of 5 · 7 minutes*
#
# Score every key of every sentence against that sentence's query, without a loop.


# %% exercise="additive_scores"
def additive_scores(query: Tensor, keys: Tensor, w_q: Tensor, w_k: Tensor, v: Tensor) -> Tensor:
    """Bahdanau's scores: e[b, s] = v . tanh(w_q query[b] + w_k keys[b, s]).

    Args:
        query: (B, Dq), one for each sentence.
        keys: (B, S, Dk).
        w_q: (A, Dq).
        w_k: (A, Dk).
        v: (A,).

    Returns:
        Scores (B, S): any real numbers, not weights yet.
    """
    # BEGIN SOLUTION
    asked = (query @ w_q.T).unsqueeze(1)  # (B, 1, A)
    offered = keys @ w_k.T  # (B, S, A)
    return torch.tanh(asked + offered) @ v
    # END SOLUTION


# %% test="additive_scores" points=3
check.additive_scores(additive_scores)
# BEGIN HIDDEN TESTS
check.additive_scores(
    additive_scores,
    points=3,
    hidden=[
        dict(case="one key for each sentence", demand="a single key", B=4, S=1, Dq=3, Dk=6, A=2),
        dict(case="a longer sentence", B=3, S=17, Dq=8, Dk=5, A=11),
        dict(
            case="longer sentences without a loop",
            demand="no loop",
            B=2,
            S=7,
            Dq=3,
            Dk=6,
            A=4,
            grows=True,
        ),
        dict(
            case="float64, larger inputs",
            demand="float64",
            B=2,
            S=6,
            Dq=5,
            Dk=4,
            A=3,
            dtype="float64",
            scale=4.0,
        ),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# Work out both projections first and write their shapes down. One has an axis that the other
# lacks.
# </details>
# <details><summary>Hint 2: the axis</summary>
#
# `unsqueeze(1)` gives the projected query an axis of size one, along which the sum repeats it for
# every key.
# </details>
# <details><summary>Hint 3: almost the answer</summary>
#
# Query times `w_q.T`, with the new axis: (B, 1, A). Keys times `w_k.T`: (B, S, A). Add, `tanh`,
# and take the product with `v`, which uses up the last axis.
# </details>
#
# ## 2. From scores to a context
#
# A Python dictionary gives you the value of the one key that *equals* your query. Attention is a
# soft dictionary: every key matches a little or a lot, and you get the average of all **values**,
# weighted by the match. So there is a gradient, from which a network can learn what to ask.
#
# A hard look-up jumps from one key's value to the next. A soft one passes smoothly between them
# (here key $k$ has the score $-4 (q - k)^2$).

# %% tags=["skip-grading", "folded"]
# Draw a look-up that answers between its keys.
pictures.soft_look_up(keys=[0, 1, 2, 3], values=[1.0, 3.0, 2.0, 2.5])

# %% [markdown]
# Softmax turns the scores into **weights** that sum to one. The average of the values with these
# weights is the **context** $c$:
#
# $$a_s = \frac{\exp(e_s)}{\sum_{j} \exp(e_j)} \qquad\qquad c = \sum_s a_s\, \text{value}_s$$
#
# Scores of 2 and 0 give weights of 0.88 and 0.12; with the values 10 and 20 the context is 11.2.
# Here the encoder's states are both keys and values:

# %% tags=["skip-grading"]
drawn.way("looking back")

# %% [markdown]
# Some positions hold padding, not words. A boolean **mask** is `True` where a position *may be
# attended to*. A forbidden position gets the weight 0 exactly, and the others still sum to one. If
# nothing is allowed, all weights are 0, and so is the context. (torch's softmax gives NaN.)
#
# ### Exercise: `attend`
# *3 points · difficulty 2 of 5 · 7 minutes*
#
# Go from scores to context for a whole batch: softmax under the mask, then the average of the
# values, which have **Dv** entries. From here on you may use torch's softmax, but its ready-made
# attentions are off limits, here and in lesson 03. `backward()` needs the softmax's result, so make
# a new tensor instead of writing into it (`weights[...] = 0`).


# %% exercise="attend"
def attend(scores: Tensor, values: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Average the values: context[b] = sum over s of softmax(scores[b])[s] values[b, s].

    Args:
        scores: (B, S).
        values: (B, S, Dv).
        mask: (B, S), boolean, True where a position may be attended to; None allows all.

    Returns:
        context: (B, Dv).
        weights: (B, S); 0 where the mask is False. Each row sums to one, or is all zeros if nothing
            is allowed in it; gradients have no NaN there either. They are only looked at, so they
            may be detached.
    """
    # BEGIN SOLUTION
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)  # a row with nothing allowed was NaN
    context = (weights.unsqueeze(1) @ values).squeeze(1)  # (B, 1, S) @ (B, S, Dv)
    return context, weights
    # END SOLUTION


# %% test="attend" points=3
check.attend(attend)
# BEGIN HIDDEN TESTS
check.attend(
    attend,
    points=3,
    hidden=[
        dict(case="one position", B=3, S=1, Dv=4),
        dict(case="one sentence", demand="a batch of one", B=1, S=4, Dv=3),
        dict(case="holes in the middle", B=4, S=7, Dv=5, mask="random"),
        dict(
            case="nothing allowed, float64",
            demand="a row with nothing allowed",
            B=5,
            S=4,
            Dv=2,
            mask="empty",
            dtype="float64",
        ),
        dict(case="huge scores and padding", B=2, S=9, Dv=3, mask="padding", scale=1e4),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# Which score gets the weight zero from a softmax, whatever the others are?
# </details>
# <details><summary>Hint 2: nothing allowed</summary>
#
# Softmax over minus infinity alone is NaN. After the softmax the mask still tells you which weights
# have to be zero. Lesson 00 warned you of mending a NaN afterwards. Here it is safe: no gradient
# goes back through the first `masked_fill` to the scores that it replaced.
# </details>
# <details><summary>Hint 3: almost the answer</summary>
#
# `masked_fill(~mask, ...)` twice: the scores with minus infinity before the softmax, the weights
# with 0 after it. It returns a new tensor, so keep the result. For the context, give the weights an
# axis (B, 1, S), use `@` and take that axis away again, or write `torch.einsum("bs,bsd->bd", ...)`.
# </details>
#
# ## 3. The experiment: reversing a sequence
#
# Two models learn to reverse symbols: the plain one of lesson 01, and one whose decoder looks back
# **through your two functions**. It uses the context to make its new state, and again to choose the
# next symbol; this takes more parameters. Both see the same batches, short sequences first.
#
# **Predict:** the input has 20 symbols. Where should the decoder look when it writes its first one?
# Draw the picture: output positions downwards, input positions to the right.

# %% tags=["skip-grading"]
guess("input position for the first symbol", None)  # they count from 0

# %% tags=["skip-grading", "measured"]
N_SYMBOLS = 16
STEPS = {20: 300, 40: 400}


def trained(make: Callable, length: int, name: str) -> Seq2Seq:
    torch.manual_seed(0)
    model = Seq2Seq(task.vocabulary_size(N_SYMBOLS), make())
    batches = task.growing_batches(length, STEPS[length], 32, seed=1, n_symbols=N_SYMBOLS)
    train(model, batches, STEPS[length], title=f"{name:9}")
    return model


def exam(length: int) -> task.SequenceBatch:
    return task.reversal_batch([length] * 256, seed=2, n_symbols=N_SYMBOLS)


def compare(length: int) -> None:
    for name, make_attention in kinds.items():
        model = trained(make_attention, length, name)
        answer = answers[name, length] = model.answer(exam(length).source, length)
        right = task.token_accuracy(answer.tokens, exam(length).target)
        whole = task.sequence_accuracy(answer.tokens, exam(length).target)
        print(f"{name:10} symbols right: {right:.0%}   whole sequences right: {whole:.0%}")


kinds = {"plain": lambda: None, "attention": lambda: AdditiveAttention(additive_scores, attend)}
answers = {}
compare(20)  # takes about half a minute

# %% tags=["skip-grading", "measured"]
first = int(answers["attention", 20].weights[:, 0].mean(0).argmax())
reveal("input position for the first symbol", first)

# %% [markdown]
# ### Twice as long
#
# Now 40 symbols, and 400 steps.

# %% tags=["skip-grading", "measured"]
compare(40)  # takes a minute or so

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# Guessing would get 1 symbol in 16 right. With a third more steps, attention is as good at twice
# the length (one seed).
# </details>
#
# At which output positions does the plain model fail?

# %% tags=["skip-grading", "measured", "folded"]
# Plot the share of right symbols by output position.
fig, axes = plt.subplots(1, 2, figsize=(9, 3), sharey=True)
for ax, length in zip(axes, STEPS, strict=True):
    share = {}
    for name in ("plain", "attention"):
        hits = task.token_hits(answers[name, length].tokens, exam(length).target)  # (256, S)
        share[name] = 100 * hits.float().mean(0)
    plots.lines(ax, np.arange(length), share, title=f"Reversing {length} symbols", markers=False)
    ax.axhline(100 / N_SYMBOLS, color="0.5", ls=":", label="guessing")
    ax.legend()
    ax.set(xlabel="output position t", ylim=(0, 104), xticks=range(0, length, length // 5))
axes[0].set_ylabel("right symbols (%)")
plots.show(fig, about="Share of right symbols against output position, at both lengths.")

# %% [markdown]
# Was training too short for the plain model? After 4,000 steps in place of 300 it gets 38% of the
# symbols right, and with a state four times as large 19% (three seeds each). So room is not all:
# what to put there is hard to *learn*. With attention the source need not fit into the state.
#
# Where does the model with attention look?

# %% tags=["skip-grading", "measured", "folded"]
# Draw where the model looks.
fig, axes = plt.subplots(1, 2, figsize=(9, 3.9))
for ax, length in zip(axes, STEPS, strict=True):
    weights = answers["attention", length].weights[0]  # (T, S), the first sequence
    title, bar = f"Additive attention, {length} symbols", "weight"
    plots.heat_map(ax, weights, title=title, limits=(0, 1), bar=bar)
    ax.set(xlabel="input position s", ylabel="output position t")
plots.show(
    fig, about="Attention weights, output positions downwards, input positions to the right."
)

# %% [markdown]
# Nobody told the weights where to be: training for the right symbols made this line. It is a few
# columns wide, perhaps because each encoder state has read its neighbours too. In all such pictures
# **each row is one question, and sums to one**. (Where a model looks is not yet what it uses:
# lesson 06.)
#
# ## 4. Additive or multiplicative?
#
# Luong, Pham and Manning (2015) scored with a product, without a hidden layer.
#
# | | score of key $k$ for query $q$ | parameters |
# |---|---|---|
# | additive (Bahdanau) | $v^\top \tanh(W_q q + W_k k)$ | $A D_q + A D_k + A$ |
# | multiplicative, "general" (Luong) | $q^\top W k$ | $D_q D_k$ |
# | multiplicative, "dot" (Luong) | $q^\top k$, needs $D_q = D_k$ | none |
#
# ### Exercise: `multiplicative_scores`
# *1 point · difficulty 1 of 5 · 4 minutes*
#
# Write Luong's "general" score, for every key of every sentence.


# %% exercise="multiplicative_scores"
def multiplicative_scores(query: Tensor, keys: Tensor, w: Tensor) -> Tensor:
    """Luong's general scores: e[b, s] = query[b] . w keys[b, s].

    Args:
        query: (B, Dq), one for each sentence.
        keys: (B, S, Dk).
        w: (Dq, Dk).

    Returns:
        Scores (B, S).
    """
    # BEGIN SOLUTION
    asked = (query @ w).unsqueeze(-1)  # (B, Dk, 1)
    return (keys @ asked).squeeze(-1)
    # END SOLUTION


# %% test="multiplicative_scores" points=1
check.multiplicative_scores(multiplicative_scores)
# BEGIN HIDDEN TESTS
check.multiplicative_scores(
    multiplicative_scores,
    points=1,
    hidden=[
        dict(case="a longer sentence", B=4, S=13, Dq=6, Dk=3),
        dict(case="one sentence", B=1, S=5, Dq=2, Dk=7),
        dict(case="one key, float64", demand="float64", B=4, S=1, Dq=5, Dk=2, dtype="float64"),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# Take the query through `w` first: what is its shape then, and what has to meet what?
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# `query @ w` is (B, Dk). With an axis of size one at the end, `keys @` it is (B, S, 1); squeeze.
# </details>
#
# The product wins on a computer. For 512 queries, 512 keys and 32 hidden units the additive score
# fills a table of 8.4 million numbers; with the product, all scores together are one product of
# matrices. So from here on you multiply. But the product has a flaw.
#
# ## 5. What many entries do to the product
#
# Take a query and a key of $d_k$ entries, all independent, with mean 0 and variance 1. How large is
# their score $q \cdot k = \sum_{i=1}^{d_k} q_i k_i$, typically?
#
# ### Exercise: `predict_score_spread`
# *1 point · difficulty 1 of 5 · 3 minutes*
#
# What is the standard deviation of $q \cdot k$ for $d_k = 64$? Work it out on paper.

# %% exercise="predict_score_spread"
# BEGIN SOLUTION
predict_score_spread = 8.0  # 64 independent products of variance 1: variance 64
# STUB
# predict_score_spread = None  # your number here
# END SOLUTION

# %% test="predict_score_spread" points=1
check.predict_score_spread(predict_score_spread)
# BEGIN HIDDEN TESTS
check.predict_score_spread(
    predict_score_spread,
    points=1,
    hidden=[],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# What are the mean and the variance of one product $q_i k_i$?
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# Variances of independent terms add up. A standard deviation is the root of a variance.
# </details>
#
# ### Measured
#
# Now 512 queries ask 32 keys each, for $d_k$ from 1 to 1024, with and without dividing by
# $\sqrt{d_k}$. Can a query still learn? If a weight is almost 0 or 1, changing its score hardly
# changes it. With two keys the slope is $a_1 a_2$:
#
# | weights | slope |
# |---|---|
# | 0.5, 0.5 | 0.25 |
# | 0.999, 0.001 | 0.001 |
#
# So hardly any gradient reaches the query. With many keys (and no root if you do not divide):
#
# $$\frac{\partial a_i}{\partial q} = \frac{a_i\, (k_i - \bar k)}{\sqrt{d_k}}, \qquad
# \bar k = \sum_j a_j k_j$$
#
# This is near 0 for a weight near 0, and for a weight near 1, as $\bar k$ is then that very key. If
# the norm over all 32 keys is below 0.01, we call the query *stuck*.


# %% tags=["skip-grading"]
def softmax_seen(q: Tensor, k: Tensor, factor: float) -> tuple[float, float]:
    """Spread of scores, share of stuck queries."""
    scores = factor * (k @ q.mT).squeeze(-1)  # (512, 32)
    a = scores.softmax(-1)
    gradient = factor * a.unsqueeze(-1) * (k - a.unsqueeze(1) @ k)  # (512, 32, d_k)
    norms = gradient.flatten(1).norm(dim=1)  # (512,)
    return scores.std().item(), (norms < 0.01).float().mean().item()


torch.manual_seed(0)
sizes = [1, 4, 16, 64, 256, 1024]
seen = {"q·k": [], "q·k / √d_k": []}
for d_k in sizes:
    q, k = torch.randn(512, 1, d_k), torch.randn(512, 32, d_k)
    seen["q·k"].append(softmax_seen(q, k, 1.0))
    seen["q·k / √d_k"].append(softmax_seen(q, k, d_k**-0.5))

# %% tags=["skip-grading", "folded"]
# Plot what grows with d_k.
labels = ("standard deviation of scores", "share of stuck queries")
fig, axes = plt.subplots(1, 2, figsize=(8, 3.1))
for ax, label, column in zip(axes, labels, range(2), strict=True):
    plots.lines(ax, sizes, {name: np.array(rows)[:, column] for name, rows in seen.items()})
    ax.set(xscale="log", xlabel="d_k", ylabel=label, xticks=sizes, xticklabels=sizes)
spreads = [1, 2, 4, 8, 16, 32]
axes[0].set(yscale="log", title="Spread", yticks=spreads, yticklabels=spreads)
axes[1].set(ylim=(0, 1), title="Stuck queries")
for ax in axes:
    ax.minorticks_off()
plots.show(fig, about="Spread of scores and share of stuck queries against d_k.")
for name, rows in seen.items():
    print(f"{name:12} d_k = 1024: {rows[-1][1]:.0%} of the queries are stuck")

# %% [markdown]
# Scores of independent vectors spread like $\sqrt{d_k}$. At $d_k = 1024$, without the division,
# softmax is nearly certain of one key, for no reason, and more than half of the queries are stuck
# before anything is learned.
#
# Divided by $\sqrt{d_k}$, scores start alike at any width. That is all that *scaled* means in
# Vaswani et al. (2017):
#
# $$\mathrm{Attention}(Q, K, V) = \mathrm{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V$$
#
# Now **T** queries ask at once, each a row of $Q$ with Dk entries ($d_k$ in formulas). Softmax runs
# along each row of scores: **over the keys**.

# %% tags=["skip-grading"]
drawn.way("attention")

# %% [markdown]
# ### Exercise: `scaled_dot_product_attention`
# *5 points · difficulty 3 of 5 · 12 minutes*
#
# Everything from here on stands on this function. Write it for any leading dimensions (batch,
# heads, none), with the masks of `attend`.


# %% exercise="scaled_dot_product_attention"
def scaled_dot_product_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Attend with every query at once: softmax(q k^T / sqrt(Dk)) v.

    Args:
        q: queries (..., T, Dk).
        k: keys (..., S, Dk).
        v: values (..., S, Dv).
        mask: boolean, True where a query may attend to a key; any shape that broadcasts to
            (..., T, S), such as (B, 1, S) or (1, T, S). None allows all.

    Returns:
        output: (..., T, Dv).
        weights: (..., T, S); 0 where the mask is False. Each row sums to one, or is all zeros if
            nothing is allowed in it; gradients have no NaN there either. They are only looked
            at, so they may be detached.
    """
    # BEGIN SOLUTION
    scores = (q / q.shape[-1] ** 0.5) @ k.transpose(-2, -1)  # (..., T, S); q is less to divide
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)  # rows with nothing allowed were NaN
    return weights @ v, weights
    # END SOLUTION


# %% test="scaled_dot_product_attention" points=5
check.scaled_dot_product_attention(scaled_dot_product_attention)
# BEGIN HIDDEN TESTS
check.scaled_dot_product_attention(
    scaled_dot_product_attention,
    points=5,
    hidden=[
        dict(case="one query, one key", B=3, T=1, S=1, Dk=4, Dv=2),
        dict(case="sizes met before, without a mask", B=3, T=4, S=6, Dk=5, Dv=2),
        dict(case="heads and padding", B=2, H=4, T=3, S=7, Dk=5, Dv=6, mask="padding"),
        dict(case="one key allowed", B=3, T=4, S=6, Dk=8, Dv=5, mask="keep-one", scale=40.0),
        dict(case="causal self-attention in heads", B=2, H=3, T=6, Dk=5, Dv=4, mask="causal"),
        dict(
            case="empty rows, float64",
            demand="a row with nothing allowed",
            B=4,
            T=3,
            S=5,
            Dk=7,
            Dv=2,
            mask="empty",
            dtype="float64",
        ),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# Three moves: scores, weights, output. `attend` already holds the second and the third for one
# query; which axis is new?
# </details>
# <details><summary>Hint 2: leading dimensions</summary>
#
# `@` multiplies the last two axes and leaves all others alone. Swap the last two axes of `k` with
# `transpose(-2, -1)`, counted from the end, so that it does not matter how many come before.
# </details>
# <details><summary>Hint 3: the mask</summary>
#
# As in `attend`: minus infinity before the softmax, zero after it. A number like -100 is not
# enough: where all allowed scores lie below it, the forbidden key wins.
# </details>
# <details><summary>Hint 4: almost the answer</summary>
#
# `q @ k.transpose(-2, -1)`, divided by the root of q's last size. `masked_fill(~mask, -inf)` if
# there is a mask, `softmax(-1)`, `masked_fill(~mask, 0)`, then `weights @ v`. Return output first.
# </details>
#
# ## 6. Two masks
#
# **Padding.** Nobody may attend to what comes after a sentence's end. This mask closes *keys*, for
# every query alike, so its shape is (B, 1, S).
#
# **Causal.** A model that predicts the next word must not see it. Position $t$ attends to positions
# $s \le t$, in every sentence alike, so the shape is (1, T, T).
#
# The axes of size one broadcast, so you can combine the two with `&`.
#
# ### Exercise: `padding_mask`
# *1 point · difficulty 1 of 5 · 4 minutes*
#
# Make the first mask from the sentences' lengths.


# %% exercise="padding_mask"
def padding_mask(lengths: Tensor, max_len: int) -> Tensor:
    """Allow the real positions of each sentence as keys: mask[b, 0, s] = s < lengths[b].

    Args:
        lengths: (B,), integers from 0 to max_len.
        max_len: S, length of the padded sentences.

    Returns:
        (B, 1, max_len), boolean, on the device of lengths.
    """
    # BEGIN SOLUTION
    positions = torch.arange(max_len, device=lengths.device)
    return positions < lengths[:, None, None]
    # END SOLUTION


# %% test="padding_mask" points=1
check.padding_mask(padding_mask)
# BEGIN HIDDEN TESTS
check.padding_mask(
    padding_mask,
    points=1,
    hidden=[
        dict(case="one sentence", lengths=[4], max_len=9),
        dict(case="every length there is", lengths=[6, 0, 3, 1, 2, 4, 5], max_len=6),
        dict(case="as many sentences of other lengths", lengths=[4, 1, 2], max_len=5),
        dict(case="long sentences", lengths=[70, 131], max_len=140),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# Compare positions 0, 1, 2, … with the lengths. Which of the two needs more axes, and where?
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# `torch.arange(max_len, device=lengths.device)` is smaller than `lengths[:, None, None]` at the
# real positions.
# </details>
#
# ### Exercise: `causal_mask`
# *1 point · difficulty 1 of 5 · 3 minutes*
#
# Make the second from the number of positions.


# %% exercise="causal_mask"
def causal_mask(size: int) -> Tensor:
    """Allow each position itself and what came before: mask[0, t, s] = s <= t.

    Args:
        size: T, the number of positions.

    Returns:
        (1, size, size), boolean.
    """
    # BEGIN SOLUTION
    return torch.ones(1, size, size, dtype=torch.bool).tril()
    # END SOLUTION


# %% test="causal_mask" points=1
check.causal_mask(causal_mask)
# BEGIN HIDDEN TESTS
check.causal_mask(
    causal_mask,
    points=1,
    hidden=[
        dict(case="two positions", size=2),
        dict(case="many positions", size=133),
        dict(case="three positions after that", size=3),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# May the first word look at itself? Yes, it must: there is no other word that it may look at.
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# `tril` keeps a matrix's lower triangle, the diagonal included. Mind the first axis of size one.
# </details>
#
# ### Both masks at work
#
# **Predict:** a sentence of 4 words is padded to length 6, under both masks. At which keys does the
# *padded query* at position 5 look?

# %% tags=["skip-grading"]
guess("keys of query 5", None)  # a list; an empty one if it looks nowhere

# %% tags=["skip-grading"]
torch.manual_seed(0)
q, k, v = torch.randn(1, 6, 8), torch.randn(1, 6, 8), torch.randn(1, 6, 8)
padding, causal = padding_mask(torch.tensor([4]), 6), causal_mask(6)
masks = {"padding": padding.expand(1, 6, 6), "causal": causal, "padding & causal": padding & causal}
fig, axes = plt.subplots(1, 3, figsize=(10.5, 3.2), sharey=True)
for ax, (name, mask) in zip(axes, masks.items(), strict=True):
    _, weights = scaled_dot_product_attention(q, k, v, mask)
    plots.heat_map(ax, weights[0], title=name, limits=(0, 1))
    ax.set(xlabel="key s")
axes[0].set_ylabel("query t")
plots.show(fig, about="Weights of six queries by six keys, under each mask.")
kept = weights[0, 5].nonzero().flatten().tolist()  # of the last panel
reveal("keys of query 5", kept)

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# A padding mask closes *columns*. A padded query still gets a row that sums to one: harmless, if
# nobody reads its output. A mask of shape (B, T, 1) would close *rows* instead: every real word
# could look at padding.
# </details>
#
# **A good place to rest.** You have the product, its scale and its masks. In the second half a
# sentence looks at itself.
#
# ## 7. Self-attention, followed by hand
#
# Can the recurrence go, too? In **self-attention** a sentence asks itself: three matrices make
# every word's vector a query, a key and a value:
#
# $$Q = X W_q \qquad K = X W_k \qquad V = X W_v$$
#
# Here a word is a row, and $W_q$ is (D, Dk): `x @ W_q`. In lesson 01, in section 1 and in
# `nn.Linear` the matrix is (out, in): `x @ w.T`.
#
# Follow six words, with numbers made by hand. A word's vector says what it is. $W_q$ says what a
# word *looks for*: articles and adjectives look for a noun, a noun for an adjective, the verb for a
# noun, if possible one that can act: who did it? $W_k$ says what a word *offers* to those who look,
# and $W_v$ what it *tells* them.

# %% tags=["skip-grading"]
words = ["the", "red", "robot", "lost", "the", "key"]
features = ["article", "adjective", "noun", "verb", "can act"]
sought, told = ["noun", "adjective", "can act"], ["acts", "described"]
article, adjective, noun, verb, can_act = torch.eye(5)
X = torch.stack([article, adjective, noun + can_act, verb, article, noun])
#                     noun adj can act
W_q = torch.tensor([[3.0, 0.0, 0.0],  # an article looks for a noun,
                    [3.0, 0.0, 0.0],  # an adjective too,
                    [0.0, 3.0, 0.0],  # a noun for an adjective,
                    [2.0, 0.0, 3.0],  # a verb for a noun that can act
                    [0.0, 0.0, 0.0]])  # fmt: skip
W_k = torch.zeros(5, 3)
W_k[2, 0] = W_k[1, 1] = W_k[4, 2] = 2.0
W_v = torch.zeros(5, 2)
W_v[4, 0] = W_v[1, 1] = 1.0
Q, K, V = X @ W_q, X @ W_k, X @ W_v

# %% tags=["skip-grading", "folded"]
# Draw the matrices that go in and come out.
fig, axes = plt.subplots(2, 4, figsize=(11, 5.6), width_ratios=(5, 3, 3, 2))
panels = {
    "X: what each word is": (X, words, features),
    "W_q": (W_q, features, sought),
    "W_k": (W_k, features, sought),
    "W_v": (W_v, features, told),
    "": None,
    "Q: what it looks for": (Q, words, sought),
    "K: what it offers": (K, words, sought),
    "V: what it tells": (V, words, told),
}
for ax, (title, panel) in zip(axes.flat, panels.items(), strict=True):
    if panel is None:
        ax.set_axis_off()
        continue
    matrix, rows, columns = panel
    plots.heat_map(ax, matrix, title=title, rows=rows, columns=columns, limits=(0, 3))
plots.show(fig, about="X and the three weight matrices above; queries, keys and values below.")

# %% [markdown]
# Take the row of *lost* in Q: (2, 0, 3). The key of *robot* is (2, 0, 2), so their score is
# $2 \cdot 2 + 0 + 3 \cdot 2 = 10$. With *key* it is 4, with all others 0. **Predict** from Q and K
# alone: where will *the* look? And where will *key* look?

# %% tags=["skip-grading"]
# Numbers of the words, from 0: the, red, robot, lost, the, key. A list of those looked at most.
guess("words that 'the' looks at", None)
guess("words that 'key' looks at", None)

# %% tags=["skip-grading"]
scores = Q @ K.T
scaled = scores / 3**0.5
weights = scaled.softmax(-1)
output = weights @ V
steps = {
    "Q Kᵀ: scores": (scores, words),
    "divided by √3": (scaled, words),
    "softmax of each row: weights": (weights, words),
    "weights · V": (output, told),
}
fig, axes = plt.subplots(1, 4, figsize=(12, 3.3), width_ratios=(6, 6, 6, 2), sharey=True)
for ax, (title, (matrix, columns)) in zip(axes, steps.items(), strict=True):
    limits = (0, 10) if matrix is scores or matrix is scaled else (0, 1)
    plots.heat_map(ax, matrix, title=title, rows=words, columns=columns, limits=limits)
    ax.tick_params(axis="x", rotation=45)
plots.show(fig, about="Four matrices from left to right: scores, scaled scores, weights, output.")
for row, word in ((0, "the"), (5, "key")):
    most = (weights[row] > 0.9 * weights[row].max()).nonzero().flatten().tolist()
    reveal(f"words that '{word}' looks at", most)
same_output, same_weights = scaled_dot_product_attention(Q, K, V)
print("your function gives the same:", torch.allclose(same_output, output, atol=1e-6),
      torch.allclose(same_weights, weights, atol=1e-6))  # fmt: skip

# %% [markdown]
# ### Explore it
#
# *lost* gives *robot* 0.96 and *key* 0.03. Now click on another query, or use the arrow keys.
#
# - Switch the division off, and move the slider, which imitates longer vectors: it multiplies all
#   products by $\sqrt{d_k / 3}$. What becomes of the 0.03? And of *the*?
# - Set the mask to *causal*. Whom can the first *the* still ask?

# %% tags=["skip-grading"]
drawn.attention_by_hand(words, Q, K, V, query=3)

# %% [markdown]
# What did the words get? *lost* was told that something acts, and *robot* that it is described.
# *key* was told the same, which is wrong: attention saw an adjective, but not that it stands beside
# the robot. Both *the* got the same vector. Section 8 asks why.
#
# ### Exercise: `SelfAttention`
# *4 points · difficulty 3 of 5 · 8 minutes*
#
# A network learns the three matrices. Make one layer of each, and train nothing else. Use your
# `scaled_dot_product_attention`; grading uses a correct one instead.


# %% exercise="SelfAttention"
class SelfAttention(nn.Module):
    """Self-attention with one head: softmax(Q K^T / sqrt(d_k)) V with Q, K, V projected from x.

    Args:
        d_model: D, entries of each input vector.
        d_k: entries of each query and key.
        d_v: entries of each value.

    Attributes:
        w_q: nn.Linear from d_model to d_k, without bias.
        w_k: nn.Linear from d_model to d_k, without bias.
        w_v: nn.Linear from d_model to d_v, without bias.
    """

    def __init__(self, d_model: int, d_k: int, d_v: int) -> None:
        super().__init__()
        # BEGIN SOLUTION
        self.w_q = nn.Linear(d_model, d_k, bias=False)
        self.w_k = nn.Linear(d_model, d_k, bias=False)
        self.w_v = nn.Linear(d_model, d_v, bias=False)
        # END SOLUTION

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Let every position of x attend to all positions of x.

        Args:
            x: (B, T, D).
            mask: boolean, broadcasts to (B, T, T), True where allowed; None allows all.

        Returns:
            output: (B, T, d_v).
            weights: (B, T, T); they may be detached.
        """
        # BEGIN SOLUTION
        return scaled_dot_product_attention(self.w_q(x), self.w_k(x), self.w_v(x), mask)
        # END SOLUTION


# %% test="SelfAttention" points=4
check.SelfAttention(SelfAttention)
# BEGIN HIDDEN TESTS
check.SelfAttention(
    SelfAttention,
    points=4,
    hidden=[
        dict(case="one word", B=3, T=1, D=4, d_k=2, d_v=5),
        dict(case="values as wide as the input, and padding", B=4, T=9, D=7, d_k=3, mask="padding"),
        dict(
            case="a second call with another mask",
            B=3,
            T=5,
            D=6,
            d_k=4,
            d_v=2,
            mask="random",
            earlier="causal",
        ),
        dict(
            case="any mask, float64",
            demand="float64",
            B=2,
            T=6,
            D=5,
            d_k=7,
            d_v=3,
            mask="random",
            dtype="float64",
        ),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# `__init__` makes three layers, `forward` uses them once each. All three are fed with the same x.
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# `nn.Linear(d_model, d_k, bias=False)` for queries and keys, `d_v` for values. `forward` passes the
# three projections and the mask to your function and returns what that returns.
# </details>
#
# ### What if the projections are forgotten?
#
# Suppose the code multiplies $X X^\top$ in place of $Q K^\top$. The shapes agree, and training
# runs. **Predict:** how many of the three matrices would learn?

# %% tags=["skip-grading"]
guess("matrices that learn", None)

# %% tags=["skip-grading"]
torch.manual_seed(0)
module = SelfAttention(5, 3, 2)
with torch.no_grad():
    for layer, matrix in ((module.w_q, W_q), (module.w_k, W_k), (module.w_v, W_v)):
        layer.weight.copy_(matrix.T)  # nn.Linear keeps its matrix as (out, in)
from_inputs, weights_from_inputs = scaled_dot_product_attention(X, X, module.w_v(X))
from_projections, weights_from_projections = module(X[None])
fig, axes = plt.subplots(1, 2, figsize=(9, 3.4))
for ax, picture, title in (
    (axes[0], weights_from_inputs, "Weights from the inputs"),
    (axes[1], weights_from_projections[0], "Weights from the projections"),
):
    plots.heat_map(ax, picture.detach(), title=title, rows=words, columns=words, limits=(0, 1))
    ax.set(xlabel="key", ylabel="query")
plots.show(fig, about="Weights from the inputs and from the projections, six words by six.")
learning = []
for name, result in (("inputs", from_inputs), ("projections", from_projections)):
    module.zero_grad()
    result.square().sum().backward()
    reached = [n for n, p in module.named_parameters() if p.grad is not None]
    print(f"weights from the {name}: gradient reaches", ", ".join(reached))
    learning.append(len(reached))
reveal("matrices that learn", learning[0])

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# Now a score is the product of two words' own vectors: large if they are alike, or long. So *the*
# finds *the*. But *key* looks at *robot*, whose vector is longer, as much as at itself.
#
# $W_q$ and $W_k$ get no gradient: they stay as random as they began, and no error message says so.
# </details>
#
# ## 8. Order
#
# Here is a claim: without positions, two orders of the same words give identical attention
# patterns. Take *the red robot lost a key* and *a key lost the red robot*, with *a* half as long as
# *the*, so that all words differ. **Predict:** compare the patterns cell by cell: is the claim
# right? Then compare *robot* with *robot*, and so on: how many of the six words have a *different*
# output?

# %% tags=["skip-grading"]
guess("the claim", None, choices=("right", "wrong"))
guess("words with another output", None)  # how many of the six

# %% tags=["skip-grading"]
names = [*words[:4], "a", words[5]]
told_apart = X.clone()
told_apart[4] = 0.5 * article  # an article too, but not the same one
order = torch.tensor([4, 5, 3, 0, 1, 2])
swapped = [names[i] for i in order]
with torch.no_grad():
    output, weights = module(told_apart[None])
    output_swapped, weights_swapped = module(told_apart[None, order])
fig, axes = plt.subplots(1, 2, figsize=(9, 3.4))
panels = ((names, weights), (swapped, weights_swapped))
for ax, (order_of_words, picture) in zip(axes, panels, strict=True):
    style = {"rows": order_of_words, "columns": order_of_words, "limits": (0, 1)}
    plots.heat_map(ax, picture[0], title=" ".join(order_of_words), **style)
    ax.set(xlabel="key", ylabel="query")
plots.show(fig, about="Weights of the two sentences, six words by six.")
moved = weights[:, order][:, :, order]
moved_output = output[:, order]
print(f"patterns as they stand differ by up to  {(weights - weights_swapped).abs().max():.2f}")
print(f"patterns reordered, by up to            {(moved - weights_swapped).abs().max():.2f}")
print(f"outputs as they stand differ by up to   {(output - output_swapped).abs().max():.2f}")
print(f"outputs reordered, by up to             {(moved_output - output_swapped).abs().max():.2f}")
kind = "right" if torch.allclose(weights, weights_swapped, atol=1e-5) else "wrong"
reveal("the claim", kind)
new = int(((moved_output - output_swapped).abs().amax(-1) > 1e-5).sum())
reveal("words with another output", new)

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# The claim is wrong. The patterns are **permuted**: reorder the words, and you reorder rows,
# columns and outputs. Each word got the same vector in both sentences, so nothing tells you who
# lost what. Without a mask, for any permutation matrix $P$:
#
# $$\mathrm{SelfAttention}(P X) = P\, \mathrm{SelfAttention}(X)$$
#
# This is permutation **equivariance**. It is why both *the* got the same vector in section 7.
# </details>
#
# ### Exercise: `breaks_equivariance`
# *1 point · difficulty 2 of 5 · 5 minutes*
#
# Reorder first and then run the layer; run it first and then reorder. How far apart are the two?


# %% exercise="breaks_equivariance"
def breaks_equivariance(layer: Callable, x: Tensor, order: Tensor) -> float:
    """How much order matters to a layer: how far layer(x[:, order]) is from layer(x)[:, order].

    Args:
        layer: called as layer(x) -> (B, T, D).
        x: (B, T, D).
        order: (T,), a permutation of 0 ... T - 1.

    Returns:
        The L2 distance, the root of the sum of all squared differences, a plain number: 0, but for
        rounding, if the layer does not know where a word stands.
    """
    # BEGIN SOLUTION
    difference = layer(x[:, order]) - layer(x)[:, order]
    return difference.norm().item()
    # END SOLUTION


# %% test="breaks_equivariance" points=1
check.breaks_equivariance(breaks_equivariance)
# BEGIN HIDDEN TESTS
check.breaks_equivariance(
    breaks_equivariance,
    points=1,
    hidden=[
        dict(case="a longer mixture", B=2, T=7, D=4, kind="mixture", order=(6, 0, 2, 1, 3, 5, 4)),
        dict(case="attention alone", B=3, T=4, D=5, kind="attention", order=(3, 1, 0, 2)),
        dict(case="a recurrent layer", B=2, T=5, D=3, kind="recurrent", order=(4, 0, 3, 1, 2)),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# Two calls of the layer. Before one of them the words are put in order, after the other the
# results.
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# `layer(x[:, order])` and `layer(x)[:, order]`: subtract, `.norm()`, `.item()`.
# </details>
#
# ### Three layers compared
#
# **Predict:** take your attention, the same attention with a vector for its place added to each
# word, and an RNN. For which of the three will the distance be 0?

# %% tags=["skip-grading"]
guess("distance 0", None, choices=("self-attention", "attention with places", "RNN", "none"))

# %% tags=["skip-grading"]
torch.manual_seed(0)
places, rnn = 0.5 * torch.randn(6, 5), nn.RNN(5, 5, batch_first=True)
layers = {
    "self-attention": lambda x: module(x)[0],
    "attention with places": lambda x: module(x + places)[0],
    "RNN": lambda x: rnn(x)[0],
}
broken = {name: breaks_equivariance(f, told_apart[None], order) for name, f in layers.items()}
for name, distance in broken.items():
    print(f"{name:28} {distance:.4f}")
blind = " and ".join(name for name, distance in broken.items() if distance < 1e-4) or "none"
reveal("distance 0", blind)

# %% [markdown]
# ## 9. Read a heat map, find a bug
#
# A colleague's attention gives this for 4 queries and 6 keys. The shapes are right. **Before you
# scroll on:** what is wrong?

# %% tags=["skip-grading"]
torch.manual_seed(0)
q, k, v = torch.randn(4, 8), torch.randn(6, 8), torch.randn(6, 8)
_, weights = broken_attention(q, k, v)
fig, ax = plt.subplots(figsize=(5, 3))
plots.heat_map(ax, weights, title="Weights of a broken attention", limits=(0, 1))
ax.set(xlabel="key s", ylabel="query t", xticks=range(6), yticks=range(4))
rows = "; ".join(" ".join(f"{share:.2f}" for share in row) for row in weights.tolist())
plots.show(fig, alt=f"A heat map of weights, a row for each query: {rows}.")

# %% [markdown]
# Add up what each query spends.

# %% tags=["skip-grading"]
print("sum of each row:", [round(spent, 2) for spent in weights.sum(1).tolist()])

# %% [markdown]
# ### Exercise: `repaired_attention`
# *1 point · difficulty 1 of 5 · 3 minutes*
#
# Here is the code. The sums tell you what to look for; change one thing.


# %% exercise="repaired_attention"
def repaired_attention(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Attend with every query at once: softmax(q k^T / sqrt(Dk)) v.

    Args:
        q: queries (..., T, Dk).
        k: keys (..., S, Dk).
        v: values (..., S, Dv).

    Returns:
        output: (..., T, Dv).
        weights: (..., T, S), each row sums to one; they may be detached.
    """
    # BEGIN SOLUTION
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    weights = scores.softmax(-1)
    return weights @ v, weights
    # STUB
    # scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    # weights = scores.softmax(-2)
    # return weights @ v, weights
    # END SOLUTION


# %% test="repaired_attention" points=1
check.repaired_attention(repaired_attention)
# BEGIN HIDDEN TESTS
check.repaired_attention(
    repaired_attention,
    points=1,
    hidden=[
        dict(case="more queries than keys", B=2, T=7, S=3, Dk=5, Dv=4),
        dict(
            case="more heads",
            demand="any number of axes in front",
            B=2,
            H=5,
            T=6,
            S=3,
            Dk=4,
            Dv=7,
        ),
        dict(case="float64", demand="float64", B=3, T=2, S=6, Dk=4, Dv=5, dtype="float64"),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# The rows do not sum to one. Add up a column.
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# Keys compete for a query's attention; here queries compete for a key. Which axis of the scores
# belongs to the keys?
# </details>
#
# ### Exercise: `predict_bug_of_symptom`
# *1 point · difficulty 3 of 5 · 4 minutes*
#
# Now without code. A right attention and three broken ones, A, B and C, get the same queries, keys
# and mask. Which bug is behind which picture?
#
# - "mask ignored"
# - "masked too late": the scores are not masked; weights are set to 0 after the softmax only
# - "scaled twice": the scores are divided by $\sqrt{d_k}$ two times
# - "scaling forgotten"
# - "softmax over queries"
# - "softmax twice": the weights go through it again

# %% tags=["skip-grading"]
torch.manual_seed(1)
real = torch.arange(6) < 4  # the last two keys are padding
pictures.symptoms(symptoms(torch.randn(4, 16), torch.randn(6, 16), real), ~real)

# %% exercise="predict_bug_of_symptom"
# BEGIN SOLUTION
predict_bug_of_symptom = {
    "A": "softmax twice",  # flat, and what was 0 gets exp(0) too
    "B": "scaling forgotten",  # large scores: one key takes nearly everything
    "C": "masked too late",  # what lay on the padding is lost
}
# STUB
# predict_bug_of_symptom = None  # {"A": "...", "B": "...", "C": "..."}
# END SOLUTION


# %% test="predict_bug_of_symptom" points=1
check.predict_bug_of_symptom(predict_bug_of_symptom)
# BEGIN HIDDEN TESTS
check.predict_bug_of_symptom(
    predict_bug_of_symptom,
    points=1,
    hidden=[],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint</summary>
#
# Ask three things of each picture. Do the rows sum to one? (If not: do the columns? Is every row
# too small, or are some too large?) Does the padding get nothing? (If it gets something: is it what
# its scores earn, or the same in every column?) Is a row more decided than the right one, or less?
# </details>
#
# ## 10. Test the test
#
# Shapes do not give such bugs away, and training may hide them. You find them with **assertions
# about numbers that you know without running the code**.
#
# ### Exercise: `test_attention`
# *3 points · difficulty 4 of 5 · 10 minutes*
#
# Write a test that every right `scaled_dot_product_attention` passes, and that raises an
# `AssertionError` for each of these:
#
# - the scores are not divided by $\sqrt{d_k}$;
# - the mask is applied after the softmax only, not before it;
# - the mask is inverted;
# - the values are taken from the keys.
#
# Each of the four that you catch gives points, if you let the correct ones pass. No other error is
# a catch.
#
# - Use small tensors of floating-point numbers. Your test runs more than once: set a seed before
#   you draw random numbers.
# - Compute what you expect on paper, or with torch's products and softmax, and compare with a
#   tolerance. Call no attention: torch's are off limits, and yours may share the fault.
# - Let Dv = Dk: then values taken from the keys raise no error, and your numbers have to catch
#   them.


# %% exercise="test_attention"
def test_attention(attention: Callable) -> None:
    """Assert what must hold for any right attention.

    Args:
        attention: called as attention(q, k, v, mask=None) -> (output, weights), with the shapes
            and the mask of scaled_dot_product_attention. It may be right or broken.

    Raises:
        AssertionError: this attention is broken.
    """
    # BEGIN SOLUTION
    # One query, two keys, d_k = 4: scores (2, 0) / sqrt(4) = (1, 0), so e / (e + 1) goes to key 0.
    q = torch.tensor([[[2.0, 0.0, 0.0, 0.0]]])
    k = torch.tensor([[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]])
    v = torch.tensor([[[5.0, 6.0, 7.0, 8.0], [-1.0, 0.0, 1.0, 2.0]]])
    share = torch.e / (torch.e + 1)
    output, weights = attention(q, k, v)
    assert torch.allclose(weights, torch.tensor([[[share, 1 - share]]]), atol=1e-4)
    assert torch.allclose(output, share * v[:, :1] + (1 - share) * v[:, 1:], atol=1e-4)

    # Only key 1 is allowed: all the weight is there, and the output is its value.
    output, weights = attention(q, k, v, torch.tensor([[[False, True]]]))
    assert torch.allclose(weights, torch.tensor([[[0.0, 1.0]]]), atol=1e-4)
    assert torch.allclose(output, v[:, 1:], atol=1e-4)
    # END SOLUTION


# %% test="test_attention" points=3
check.test_attention(test_attention)
# BEGIN HIDDEN TESTS
check.test_attention(
    test_attention,
    points=3,
    hidden=[],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# Choose one query and two keys so simple that you can work out both weights on paper. Do the same
# with a mask that allows one key only.
# </details>
# <details><summary>Hint 2: for each broken version</summary>
#
# No scaling: the weights of your small example. Mask too late: do the rows still sum to one?
# Inverted mask: is the weight at the forbidden key zero? Values from keys: is the output
# `weights @ v`, when v looks nothing like k?
# </details>
# <details><summary>Hint 3: almost the answer</summary>
#
# A batch of one, four numbers per key. q = [[[2, 0, 0, 0]]], first key (1, 0, 0, 0), second key
# (0, 1, 0, 0): the scores are 2 and 0, divided by $\sqrt{4}$ they are 1 and 0. Softmax by hand.
# Compare with `torch.allclose(..., atol=1e-4)`, then pass the mask [[[False, True]]].
# </details>
#
# ## 11. How far the gradient reaches
#
# Lesson 01's third limit: the gradient shrinks on its long way back. Attention looks at every word
# directly. Does its gradient reach further?
#
# ### Exercise: `gradient_by_distance`
# *2 points · difficulty 3 of 5 · 7 minutes*
#
# Take the last position's output, and ask autograd for the gradient of its sum with respect to each
# input. How long is it at position $t$?


# %% exercise="gradient_by_distance"
def gradient_by_distance(run: Callable, x: Tensor) -> Tensor:
    """How strongly the last output depends on each input: the norm of its gradient.

    For sentence b, the entries of run(x)[b, -1] are added up. The gradient of that sum with
    respect to x[b, t] has D entries, and a 2-norm; result[t] is the mean of these over the batch.

    Args:
        run: called as run(x) -> (B, T, D).
        x: (B, T, D). Afterwards it is as it was, and no gradient is left in it or in a parameter.

    Returns:
        (T,).
    """
    # BEGIN SOLUTION
    leaf = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(run(leaf)[:, -1].sum(), leaf)  # (B, T, D)
    return gradient.norm(dim=-1).mean(0)
    # END SOLUTION


# %% test="gradient_by_distance" points=2
check.gradient_by_distance(gradient_by_distance)
# BEGIN HIDDEN TESTS
check.gradient_by_distance(
    gradient_by_distance,
    points=2,
    hidden=[
        dict(case="a long recurrence", B=2, T=9, D=3, kind="recurrent"),
        dict(case="a larger batch", B=5, T=4, D=3, kind="attention"),
        dict(case="a wider mixture", B=2, T=3, D=7, kind="mixture"),
        dict(case="words alone", B=4, T=3, D=2, kind="each word alone"),
        dict(
            case="an x that asks for gradients",
            demand="x as it was",
            B=2,
            T=5,
            D=3,
            kind="attention with positions",
            after=True,
            asks=True,
        ),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# Nothing of one sentence reaches another, so the sum over the whole batch has the same gradients as
# each sentence's own sum. One call of `torch.autograd.grad` is enough.
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# `leaf = x.detach().requires_grad_()`; the gradient of `run(leaf)[:, -1].sum()` with respect to it
# is (B, T, D). Norm over the last axis, mean over the first.
# </details>
#
# ### Near and far
#
# Untrained layers read 50 words of 64 random numbers. How much of the last word's gradient is left
# at the first one, 49 words back?

# %% tags=["skip-grading"]
torch.manual_seed(0)
x = torch.randn(8, 50, 64)
rnn = nn.RNN(64, 64, batch_first=True)
attention = SelfAttention(64, 64, 64)
layers = {"RNN": lambda x: rnn(x)[0], "self-attention": lambda x: attention(x)[0]}
reach = {name: gradient_by_distance(run, x).flip(0) for name, run in layers.items()}
fig, ax = plt.subplots(figsize=(6.5, 3))
curves = {name: norms.tolist() for name, norms in reach.items()}
plots.lines(ax, list(range(50)), curves, markers=False, title="Gradient of the last output")
ax.set(xlabel="words back", ylabel="norm of the gradient", yscale="log")
plots.show(fig, about="Norm of the gradient against distance, logarithmic, for both layers.")
for name, norms in reach.items():
    print(f"{name:15} of the last word's gradient, the first has {norms[-1] / norms[0]:.1g}")
print(f"radius of the RNN's matrix: {torch.linalg.eigvals(rnn.weight_hh_l0).abs().max():.2f}")
longer = gradient_by_distance(layers["self-attention"], torch.randn(8, 100, 64))
print(f"self-attention, first of 50: {reach['self-attention'][-1]:.3f}, of 100: {longer[0]:.3f}")

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# Each word on the way multiplies the RNN's gradient by a matrix, here with a radius of 0.59, and by
# a slope of tanh.
#
# Attention's path has one step, whatever the distance. In this untrained layer the third limit is
# gone. But weights sum to one: in a text twice as long each word gets about half of the gradient.
# </details>
#
# ## 12. What it costs
#
# Lesson 01's second limit: step $t$ waits for step $t - 1$. In self-attention no output waits, but
# every token looks at every token. Per layer of width D:
#
# | | multiplications, about | sequential steps |
# |---|---|---|
# | RNN | $2\, T D^2$ | $T$ |
# | self-attention | $3\, T D^2 + 2\, T^2 D$ | 1 |
#
# Which of the two does a computer feel? Look at D = 64, on one core.

# %% tags=["skip-grading", "measured"]
torch.manual_seed(0)
lengths = [64, 128, 256, 512, 1024, 2048, 4096]
layers = {"RNN": nn.RNN(64, 64, batch_first=True), "self-attention": SelfAttention(64, 64, 64)}
times, memory = {name: [] for name in layers}, {name: [] for name in layers}


def learn_once(layer: nn.Module, x: Tensor) -> None:
    layer(x)[0].sum().backward()


for length in lengths:
    x = torch.randn(1, length, 64)
    for name, layer in layers.items():
        times[name].append(1e3 * seconds(learn_once, layer, x, clock=process_time))
        memory[name].append(bytes_kept(layer, x) / 1e6)

# %% tags=["skip-grading", "measured", "folded"]
# Plot time and memory against length.
fig, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.4))
plots.lines(left, lengths, times, title="Time", ylabel="forward and backward (ms)")
plots.lines(right, lengths, memory, title="Memory", ylabel="kept for the backward pass (MB)")
for ax in (left, right):
    ax.set(xlabel="length T (tokens)", xscale="log", yscale="log")
    ax.set(xticks=lengths, xticklabels=lengths)
    ax.minorticks_off()
plots.show(fig, about="Time and memory of one layer against length, all axes logarithmic.")
crossings = {
    what: next(
        (n for n, a, b in zip(lengths, of["self-attention"], of["RNN"], strict=True) if a > b), 0
    )
    for what, of in (("time", times), ("memory", memory))
}
for what, crossing in crossings.items():
    where = f"from {crossing:,} tokens on" if crossing else "at none of these lengths"
    print(f"attention takes more {what} than the RNN {where}")

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# - **Memory is quadratic** here: the weights alone are $T \times T$ numbers, where an RNN keeps $T$
#   states. A *fused kernel*, as in `F.scaled_dot_product_attention`, may compute this table piece
#   by piece: then memory grows with $T$ alone (Dao et al., 2022).
# - **Time crosses late.** Attention multiplies more at every length, yet the RNN takes longer up to
#   about 2,000 tokens: its $T$ steps run one after another, and each small one takes some time of
#   its own, whatever it computes.
# </details>

# %% tags=["skip-grading"]
summary()

# %% [markdown]
# ## Recap
#
# - Attention: scores, softmax over the keys, average of the values. - **Limit 1:** a decoder that
#   looks back learns in 300 steps what this plain one has not learned in 4,000.
# - Divide scores by $\sqrt{d_k}$, and softmax starts out undecided at any width.
# - A mask is `True` where attention is allowed, and acts before the softmax.
# - In self-attention one vector plays three roles. Permute the words, and you permute the outputs.
# - **Limit 2:** no output waits for another. The price is work that grows with $T^2$, and here
#   memory too.
# - **Limit 3:** the gradient takes one step between any two words.
# - A wrong attention may train. Check the sums of rows, the gradient of every parameter, and
#   examples worked out by hand.
#
# What is built so far:

# %% tags=["skip-grading"]
drawn.encoder(2)

# %% [markdown]
# ## Three open questions
#
# 1. Attention's line is a few columns wide. Is it still so without the encoder's recurrence (keys
#    are the symbols' own vectors, with lesson 04's positions)?
# 2. Give the plain model the encoder's last state at *every* step. How much does that help?
# 3. Softmax always spends the whole weight. Add a key of zeros with a value of zeros. When does a
#    trained model look there?
#
# **Next:** the robot's *the* could ask one question only; in
# [lesson 03](../03_multi_head_attention/03_multi_head_attention.ipynb) every word
# asks several at once. [Start page](../Start.md)
#
# **Sources**
#
# - D. Bahdanau, K. Cho, Y. Bengio, *Neural machine translation by jointly learning to align and
#   translate*, ICLR 2015 (arXiv:1409.0473): additive attention, alignment pictures.
# - M.-T. Luong, H. Pham, C. D. Manning, *Effective approaches to attention-based neural machine
#   translation*, EMNLP 2015 (arXiv:1508.04025): multiplicative attention.
# - A. Vaswani et al., *Attention is all you need*, NeurIPS 2017 (arXiv:1706.03762): scaled dot
#   product (3.2.1 with footnote 4), costs per layer (table 1).
# - T. Dao, D. Fu, S. Ermon, A. Rudra, C. Ré, *FlashAttention: Fast and memory-efficient exact
#   attention with IO-awareness*, NeurIPS 2022 (arXiv:2205.14135).
# - I. Sutskever, O. Vinyals, Q. V. Le, *Sequence to sequence learning with neural networks*,
#   NeurIPS 2014 (arXiv:1409.3215): the encoder-decoder.
