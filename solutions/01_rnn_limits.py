# %% [markdown]
# # 01 · Why recurrence is not enough
#
# **What this lesson answers:** how does a recurrent network read a sequence, and which three limits
# made people look for something else?
#
# **What it needs:** lesson 00, and that you have called `backward()` before.
#
# <span class="course-chip">**Time:** 70 minutes</span>
# <span class="course-chip">**Points:** 14</span>
#
# Can you repeat a phone number that somebody reads to you, digit by digit? Four digits are easy; of
# twenty, most are lost. For many years computers read text like that: word after word, with all
# they had read in one short list of numbers. You will build such a network and measure three things
# that it cannot do.
#
# Dimensions: **B** sequences in a batch, **T** tokens in each, **I** entries of an input, **Hd**
# entries of a state.

# %% tags=["folded"]
# Set up: what this lesson uses. Run it first.
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import matplotlib.pyplot as plt
import torch
from torch import Tensor, nn

from utils import drawn, plots
from utils.experiments import recurrence, seq2seq
from utils.experiments import reversal_task as task
from utils.checks import check
from utils.notebook.lend import lend
from utils.progress.guesses import guess, guessed, reveal, summary

torch.set_num_threads(1)  # small matrices gain nothing from more, and times are steadier

# %% [markdown]
# ## 1. A network with a memory
#
# At step $t$ the network mixes an input $x_t$ with its own state $h_{t-1}$ of the step before:
#
# $$h_t = \tanh(W_x\, x_t + W_h\, h_{t-1} + b)$$
#
# As in torch, a matrix has one row for each entry of its output: $W_x$ is $(H_d, I)$, $W_h$ is
# $(H_d, H_d)$. $\tanh$ keeps every entry between -1 and 1.
#
# ### Exercise: `rnn_cell`
# *1 point · difficulty 1 of 5 · 4 minutes*
#
# Write one step, for a batch of sequences at once. Here and in the next exercise, torch's own
# recurrent layers are off limits.


# %% exercise="rnn_cell"
def rnn_cell(x_t: Tensor, h: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor) -> Tensor:
    """One step of a recurrent network: tanh(w_x x_t + w_h h + b), for each sequence of a batch.

    Args:
        x_t: inputs of this step, (B, I).
        h: states after the step before, (B, Hd).
        w_x: (Hd, I).
        w_h: (Hd, Hd).
        b: (Hd,).

    Returns:
        States after this step, (B, Hd).
    """
    # BEGIN SOLUTION
    return torch.tanh(x_t @ w_x.T + h @ w_h.T + b)
    # END SOLUTION


# %% test="rnn_cell" points=1
check.rnn_cell(rnn_cell)
# BEGIN HIDDEN TESTS
check.rnn_cell(
    rnn_cell,
    points=1,
    hidden=[
        dict(case="a larger batch", B=7, I=4, Hd=6),
        dict(case="more inputs than units", B=3, I=9, Hd=2),
        dict(
            case="large inputs in float64",
            demand="float64",
            B=4,
            I=5,
            Hd=3,
            scale=20.0,
            dtype="float64",
        ),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# Two matrix products and a bias give three things of the same shape, (B, Hd).
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# A batch holds one vector in each row, and `rows @ w.T` multiplies each of them with w. Add the
# three terms, then take `torch.tanh` of the sum.
# </details>
#
# ## 2. The same cell, again and again
#
# To read a sequence, call the cell once for each token, with the same weights, and hand the state
# on:
#
# ```
#        x_1            x_2            x_3            x_T
#         ↓              ↓              ↓              ↓
# h_0 → [cell] → h_1 → [cell] → h_2 → [cell] → h_3 … [cell] → h_T
# ```
#
# Drawn like this, the network is *unrolled*.
#
# ### Exercise: `rnn_forward`
# *2 points · difficulty 2 of 5 · 6 minutes*
#
# Unroll the cell over a sequence. Collect the state after every step.


# %% exercise="rnn_forward"
def rnn_forward(
    x: Tensor, h_0: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor
) -> tuple[Tensor, Tensor]:
    """Read whole sequences with `rnn_cell`.

    Args:
        x: inputs, (B, T, I).
        h_0: states before the first step, (B, Hd).
        w_x: (Hd, I).
        w_h: (Hd, Hd).
        b: (Hd,).

    Returns:
        The states after each step (B, T, Hd), and the last one h_T (B, Hd).
    """
    # BEGIN SOLUTION
    h, states = h_0, []
    for x_t in x.unbind(1):
        h = rnn_cell(x_t, h, w_x, w_h, b)
        states.append(h)
    return torch.stack(states, 1), h
    # END SOLUTION


# %% test="rnn_forward" points=2
check.rnn_forward(rnn_forward)
# BEGIN HIDDEN TESTS
check.rnn_forward(
    rnn_forward,
    points=2,
    hidden=[
        dict(case="a longer sequence", B=3, T=11, I=4, Hd=6),
        dict(case="one input, one unit", B=2, T=5, I=1, Hd=1),
        dict(
            case="a single step in float64", demand="float64", B=2, T=1, I=3, Hd=5, dtype="float64"
        ),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# `x[:, t]` is the input of step t for the whole batch, (B, I). Keep the state in a variable that
# each step replaces, and append every new state to a list.
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# Start with `h = h_0` and an empty list. For each t: `h = rnn_cell(...)`, append `h`. In the end,
# `torch.stack` the list along axis 1, so that time comes second.
# </details>
#
# ### A look inside
#
# How long does an untrained network remember a word? It reads two sentences that differ in their
# first word only. Its $W_h$ turns a vector and shortens it to 0.9 of its length.

# %% tags=["skip-grading", "folded"]
# Show the states of two sentences that differ in their first word.
torch.manual_seed(0)
rest = ["old", "boat", "sailed", "past", "the", "long", "grey", "wall", "and", "out", "to", "sea"]
vectors = {word: torch.randn(12) for word in ["the", "that", *rest]}
x = torch.stack(
    [torch.stack([vectors[word] for word in [first, *rest]]) for first in ("the", "that")]
)  # (2, 13, 12)
w_x, w_h = 0.3 * torch.randn(16, 12), recurrence.turning_matrix(16, radius=0.9)
states, _ = rnn_forward(x, torch.zeros(2, 16), w_x, w_h, torch.zeros(16))

fig, (top, bottom) = plt.subplots(2, 1, figsize=(8, 5.4), sharex=True)
difference = states[0] - states[1]
most = max(states.abs().max().item(), difference.abs().max().item())
style = {"numbers": False, "limits": (-most, most), "bar": "value"}
plots.heat_map(top, states[0].T, title="States while reading “the old boat …”", **style)
plots.heat_map(bottom, difference.T, title="Difference from “that old boat …”",
               columns=["the/that", *rest], **style)  # fmt: skip
top.set_ylabel("unit of the state")
bottom.set(xlabel="after reading this word", ylabel="unit of the state")
plots.show(fig, about="States after each of 13 words, and their difference between two sentences.")

# %% tags=["skip-grading"]
sizes = difference.norm(dim=-1) / difference[0].norm()
print("difference left after each word:", " ".join(f"{size:.2f}" for size in sizes.tolist()))

# %% [markdown]
# After six words 4% of the difference is left. The matrix alone would leave $0.9^5 = 59\%$;
# $\tanh$, which is flat near -1 and 1, takes the rest. Can training teach the network to remember?
#
# ## 3. Limit 1: all of the past in one vector
#
# The state is as large after 2,000 tokens as after 2. Train a network to *copy*: your `rnn_forward`
# reads random symbols of 8 kinds, and a linear layer names all of them from the last state alone.
# Each symbol comes in as a *one-hot* vector: eight entries, a single 1 among zeros. Guessing gets
# 1/8 right.
#
# **Predict:** a state of 16 numbers learns to copy 2, 4, 8, 16 or 32 symbols, each in 150 training
# steps. A symbol of 8 kinds is 3 bits. If each unit keeps one bit, by staying near -1 or near 1, at
# which length are more symbols wrong than right?

# %% tags=["skip-grading"]
# At which length does a state of 16 first get more symbols wrong than right: 2, 4, 8, 16 or 32?
guess("length at which copying breaks down", None)

# %% tags=["skip-grading", "measured"]
lengths, seeds = (2, 4, 8, 16, 32), (0, 1, 2)


def copying(n_units: int, length: int, seed: int, steps: int = 150) -> Tensor:
    """Train one network to copy; give the share right at each place of unseen sequences."""
    torch.manual_seed(seed)
    reader = recurrence.RecurrentReader(rnn_forward, 8, n_units)
    model = recurrence.Namer(reader, n_answers=length)
    draw = partial(recurrence.draw_copying, length=length)
    recurrence.train_namer(model, draw, steps=steps, seed=seed, clip=1.0)
    unseen = recurrence.draw_copying(torch.Generator().manual_seed(99), length, size=500)
    return recurrence.share_right(model, unseen)


copied = {
    n_units: {n: torch.stack([copying(n_units, n, seed) for seed in seeds]) for n in lengths}
    for n_units in (16, 64)
}
for n_units, by_length in copied.items():
    for length, shares in by_length.items():
        each = ", ".join(f"{share:.2f}" for share in shares.mean(1).tolist())
        print(f"state of {n_units:2}, {length:2} symbols: {each} right (three seeds)")

# %% tags=["skip-grading", "measured", "folded"]
# Plot the share of symbols copied rightly, by length and by place.
fig, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.4))
means = {f"state of {n}": [s.mean().item() for s in copied[n].values()] for n in copied}
plots.lines(left, lengths, means, title="Symbols copied correctly", xscale="log",
            xlabel="length (symbols)", ylabel="share of symbols right", ylim=(0, 1.05))  # fmt: skip
left.set_xticks(lengths, lengths)
left.minorticks_off()
places = {f"state of {n}": copied[n][32].mean(0) for n in copied}
plots.lines(right, range(1, 33), places, title="The same for each of 32 places", markers=False,
            xlabel="place in the sequence", ylim=(0, 1.05))  # fmt: skip
for ax in (left, right):
    ax.axhline(1 / 8, color="0.5", ls=":", label="guessing")
    ax.legend(loc="center left" if ax is right else "best")
plots.your_guess(left, guessed("length at which copying breaks down"), across=False)
broken = next(
    (n for n, share in zip(lengths, means["state of 16"], strict=True) if share < 0.5), 64
)
plots.show(fig, about="Share of symbols copied correctly by length, and by place for 32 symbols.")
reveal("length at which copying breaks down", broken)

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# 16 bits are five symbols: of 8 symbols that is still more than half, of 16 it is not. 64 numbers
# move the edge. The oldest symbols are lost first: there is no room for them, or no gradient comes
# that far back (section 5). This picture cannot tell which.
# </details>
#
# Was training too short? **Predict:** give 16 symbols four times the steps. Which state will gain
# more?

# %% tags=["skip-grading"]
guess("four times the steps help more", None, choices=("state of 16", "state of 64"))

# %% tags=["skip-grading", "measured"]
gained: dict[str, float] = {}
for n_units, by_length in copied.items():
    longer = torch.stack([copying(n_units, 16, seed, steps=600).mean() for seed in seeds])
    for steps, shares in ((150, by_length[16].mean(1)), (600, longer)):
        each = ", ".join(f"{share:.2f}" for share in shares.tolist())
        print(f"state of {n_units}, {steps} steps: {each} right (three seeds)")
    gained[f"state of {n_units}"] = (longer - by_length[16].mean(1)).mean().item()
reveal("four times the steps help more", max(gained, key=lambda n: gained[n]))

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# The large state needed the time, and now holds almost all 16 symbols. The small one gains little.
# </details>
#
# ## 4. Limit 2: one step after another
#
# If you could hire any number of helpers, what would still take time? Waiting for each other's
# results. So count steps: **in one step you compute any number of a layer's outputs, as long as
# none of them needs another output of the same layer.**
#
# A recurrent layer's outputs are the states $h_1, \dots, h_T$, and $h_t$ needs $h_{t-1}$. In
# self-attention, which you will write in lesson 02, an output is a weighted mean of all *inputs*,
# and the weights come from products of inputs.
#
# ### Exercise: `predict_rnn_steps`
# *1 point · difficulty 1 of 5 · 1 minute*
#
# How many steps does a recurrent layer need for 1,000 tokens? A number.

# %% exercise="predict_rnn_steps"
# BEGIN SOLUTION
predict_rnn_steps = 1000
# STUB
# # How many steps that wait for one another does a recurrent layer need for 1,000 tokens?
# predict_rnn_steps = None
# END SOLUTION

# %% test="predict_rnn_steps" points=1
check.predict_rnn_steps(predict_rnn_steps)
# BEGIN HIDDEN TESTS
check.predict_rnn_steps(
    predict_rnn_steps,
    points=1,
    hidden=[],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which states can be computed in the first step? Which in the second?
# </details>
#
# ### Exercise: `predict_attention_steps`
# *1 point · difficulty 1 of 5 · 1 minute*
#
# And how many does a self-attention layer need for them? A number.

# %% exercise="predict_attention_steps"
# BEGIN SOLUTION
predict_attention_steps = 1
# STUB
# # How many steps that wait for one another does a self-attention layer need for 1,000 tokens?
# predict_attention_steps = None
# END SOLUTION

# %% test="predict_attention_steps" points=1
check.predict_attention_steps(predict_attention_steps)
# BEGIN HIDDEN TESTS
check.predict_attention_steps(
    predict_attention_steps,
    points=1,
    hidden=[],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which outputs does output 500 need? Look at what it is made of: outputs, or inputs?
# </details>
#
# ### Counted
#
# torch records which results each operation needed. The longest path through this record runs in
# order on any machine.

# %% tags=["skip-grading"]
torch.manual_seed(0)
w_x, w_h, b = torch.randn(8, 8, requires_grad=True), torch.randn(8, 8) / 8, torch.zeros(8)
print(f"{'tokens':>6} {'RNN':>6} {'attention':>10}   (operations in a row)")
for length in (1, 10, 100, 1000):
    x = torch.randn(1, length, 8, requires_grad=True)
    _, last = rnn_forward(x, torch.zeros(1, 8), w_x, w_h, b)
    mixed = (x @ x.transpose(1, 2)).softmax(-1) @ x  # attention without its projections
    chains = recurrence.longest_chain(last), recurrence.longest_chain(mixed)
    print(f"{length:>6} {chains[0]:>6} {chains[1]:>10}")

# %% [markdown]
# One step of the cell is several operations, so look only at how the numbers grow. Attention's does
# not. A thousand processors cannot shorten the first column.
#
# ## 5. Limit 3: gradients have a long way back
#
# To learn that token 1 matters for the state after token 60, the gradient travels back through 59
# steps, like a rumour that 60 people pass on: **backpropagation through time**. With a single unit
# and its recurrent weight $w$, each step back multiplies the gradient by $w\,(1 - h_t^2)$, where
# $1 - h_t^2 \le 1$ is the slope of $\tanh$. If $w = 0.9$, at most $0.9^{59} = 0.002$ is left.
#
# With many units, the matrix $W_h^{\top}$ takes the place of $w$. For the sum $s$ of the last
# state's entries, with $\odot$ for a product entry by entry:
#
# $$\frac{\partial\, s}{\partial h_{t-1}}
#   = W_h^{\top} \Big((1 - h_t^2) \odot \frac{\partial\, s}{\partial h_t}\Big)$$
#
# Apply one matrix again and again, and in the long run a vector grows or shrinks with the matrix's
# **spectral radius** $\rho$: the largest absolute value among its eigenvalues.
#
# `torch.autograd.grad` gives such gradients, even for a tensor in the middle of a computation:
#
# ```python
# a = torch.tensor([1.0, 2.0], requires_grad=True)
# middle = a * a
# torch.autograd.grad((3 * middle).sum(), [middle, a])  # (tensor([3., 3.]), tensor([6., 12.]))
# ```
#
# ### Exercise: `gradient_through_time`
# *4 points · difficulty 4 of 5 · 12 minutes*
#
# Run the network, and find the gradient of the sum of $h_T$ with respect to the state after each
# step. Return the length of each. You may detach them. Leave the arguments' `.grad` and
# `requires_grad` as they were.


# %% exercise="gradient_through_time"
def gradient_through_time(x: Tensor, h_0: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor) -> Tensor:
    """Norms of d(sum of h_T) / d(h_t) for the state h_t after every step t.

    Args:
        x: inputs, (B, T, I).
        h_0: states before the first step, (B, Hd).
        w_x: (Hd, I).
        w_h: (Hd, Hd).
        b: (Hd,).

    Returns:
        (T,): entry t is the 2-norm over batch and units. The last entry is the norm of B x Hd ones.

    Note:
        Arguments may require gradients or not. Their `requires_grad` and `.grad` stay as they are.
    """
    # BEGIN SOLUTION
    h, states = h_0.detach().requires_grad_(), []
    for x_t in x.unbind(1):
        h = rnn_cell(x_t, h, w_x, w_h, b)
        states.append(h)
    gradients = torch.autograd.grad(h.sum(), states)
    return torch.stack([gradient.norm() for gradient in gradients])
    # END SOLUTION


# %% test="gradient_through_time" points=4
check.gradient_through_time(gradient_through_time)
# BEGIN HIDDEN TESTS
check.gradient_through_time(
    gradient_through_time,
    points=4,
    hidden=[
        dict(case="a longer sequence", B=3, T=9, I=4, Hd=6),
        dict(case="one input, one unit", B=2, T=5, I=1, Hd=1),
        dict(
            case="a longer sequence left alone",
            demand="nothing changed afterwards",
            B=2,
            T=6,
            I=3,
            Hd=5,
            after=True,
        ),
        dict(
            case="trained weights in float64",
            demand="weights that are being trained",
            B=4,
            T=6,
            I=3,
            Hd=5,
            trained=True,
            dtype="float64",
        ),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# `torch.autograd.grad` as above, with the list of all states. It touches no `.grad`.
# </details>
# <details><summary>Hint 2: which tensors</summary>
#
# The tensors have to be the very ones that $h_T$ was computed from. What `rnn_forward` returns is
# a stacked copy, from which nothing was computed. So run the loop here and keep the list.
# </details>
# <details><summary>Hint 3: recording</summary>
#
# If no argument asks for gradients, torch records nothing. Begin the loop with
# `h_0.detach().requires_grad_()`: it is a tensor of your own.
# </details>
# <details><summary>Hint 4: another way</summary>
#
# The equation above, from the last step backwards, needs no autograd at all: start with ones and
# multiply.
# </details>
#
# ### Five radii
#
# *Dive into Deep Learning* (section 9.7) says of powers of a matrix: "eigenvalues smaller than 1
# vanish and eigenvalues larger than 1 diverge". Is it true of a network with $\tanh$?
#
# Five recurrent matrices turn every vector and stretch it by exactly $\rho$. The inputs are zero,
# weak (standard deviation 0.1) or of size 1.
#
# **Predict:** $\rho$ is 0.5, 0.9, 1.0, 1.1 or 1.5. For how many of the five is the gradient 50
# steps back longer than at the end? Without input, states stay at zero, where the slope of $\tanh$
# is 1. With inputs of size 1, many units come near -1 or 1.

# %% tags=["skip-grading"]
guess("longer 50 steps back, no input", None)  # how many of the five
guess("longer 50 steps back, inputs of size 1", None)

# %% tags=["skip-grading", "measured", "folded"]
# Follow the gradient backwards for five spectral radii and three kinds of input.
radii, steps, units = (0.5, 0.9, 1.0, 1.1, 1.5), 60, 64
kinds = {"no input": 0.0, "weak inputs (0.1)": 0.1, "inputs of size 1": 1.0}
slopes: dict[float, list[float]] = {size: [] for size in kinds.values()}  # of each radius


def gradient_lengths(radius: float, size: float) -> Tensor:  # (60,), the last one is 1
    torch.manual_seed(0)
    w_h, w_x = recurrence.turning_matrix(units, radius), torch.randn(units, 8) / 8**0.5
    x, zeros = size * torch.randn(1, steps, 8), torch.zeros(1, units)
    numbers = [number.double() for number in (x, zeros, w_x, w_h, zeros[0])]  # some are tiny
    norms = gradient_through_time(*numbers)
    states, _ = rnn_forward(*numbers)
    slopes[size].append(float((1 - states[:, -50:] ** 2).square().mean().sqrt()))
    return norms / norms[-1]


far: dict[str, list[float]] = {}  # kind -> of each radius, 50 steps back
fig, axes = plt.subplots(1, 3, figsize=(10.5, 3.6), sharey=True)
for ax, (kind, size) in zip(axes, kinds.items(), strict=True):
    curves = {f"ρ = {radius}": gradient_lengths(radius, size) for radius in radii}
    plots.lines(ax, range(steps - 1, -1, -1), curves, title=kind, yscale="log", markers=False,
                ylim=(1e-16, 1e12), xlabel="steps back from the end",
                yticks=[10.0**n for n in range(-16, 13, 4)])  # fmt: skip
    ax.axhline(1, color="0.5", ls=":")
    ax.get_legend().remove()
    far[kind] = [float(curve[-51]) for curve in curves.values()]
axes[0].set_ylabel("length of the gradient\n(1 at the last step)")
axes[2].legend(loc="upper right", ncols=2)
plots.show(fig, about="Gradient length, logarithmic, against steps back: radii and inputs.")

# %% tags=["skip-grading", "measured", "folded"]
# Print what is left 50 steps back, and the slope of tanh.
print("50 steps back:    ", "".join(f"{f'ρ = {radius}':>8}" for radius in radii))
for kind, lengths in far.items():
    print(f"{kind:<18}", "".join(f"{length:8.0e}" for length in lengths))
print("\nslope of tanh, last 50 steps (root of the mean square, which counts for lengths):")
for kind, size in kinds.items():
    print(f"{kind:<18}", "".join(f"{slope:8.2f}" for slope in slopes[size]))
for kind in ("no input", "inputs of size 1"):
    reveal(f"longer 50 steps back, {kind}", sum(length > 1.01 for length in far[kind]))

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# Without input the sentence is exact: $1.5^{50}$ is more than half a billion. With inputs it is
# half true. Slopes below 1 make gradients vanish even faster, and a radius above 1 only **allows**
# them to explode: it stretches states as well, until $\tanh$ is flat enough to stop them. With weak
# inputs and $\rho = 1.5$ the slope is 0.70, so a step back stretches by about
# $1.5 \cdot 0.70 = 1.05$, and only 10 is left of half a billion.
# </details>
#
# ### Against explosions: clipping
#
# If a gradient is too long, shorten it and keep its direction: $g \leftarrow g \cdot \min(1,
# g_{\max} / \lVert g \rVert)$. A network reads one of 8 symbols, waits through 39 steps of silence
# and names the symbol. It starts with $\rho = 1.5$ and trains by plain gradient descent. The table
# shows its longest step, the share of *saturated* entries (near -1 or 1, where the slope of $\tanh$
# is almost 0), and in how many different last states the 8 symbols arrive.

# %% tags=["skip-grading", "measured"]
silent = partial(recurrence.draw_recall, length=40, noise=0.0, size=32)
tenth = "a tenth of the rate"
ways = {"no clipping": (torch.inf, 0.1), "clipped to 1": (1.0, 0.1), tenth: (torch.inf, 0.01)}
runs_by_clip: dict[str, list[recurrence.Progress]] = {name: [] for name in ways}
ended: list[tuple[str, recurrence.Progress, Any]] = []
for name, (clip, rate) in ways.items():
    for seed in seeds:
        torch.manual_seed(seed)
        model = recurrence.Namer(recurrence.RecurrentReader(rnn_forward, 8, 32, radius=1.5), 1)
        run = recurrence.train_namer(model, silent, steps=150, seed=seed, rate=rate,
                                     clip=clip, method=torch.optim.SGD)  # fmt: skip
        runs_by_clip[name].append(run)
        ended.append((f"{name}, seed {seed}", run, model))

# %% tags=["skip-grading", "measured", "folded"]
# Plot the losses of three seeds for each way of clipping.
examples, _ = silent(torch.Generator().manual_seed(99))
fig, axes = plt.subplots(1, 3, figsize=(10.5, 3.2), sharey=True)
for ax, (name, runs) in zip(axes, runs_by_clip.items(), strict=True):
    curves = {f"seed {seed}": run.losses for seed, run in zip(seeds, runs, strict=True)}
    plots.lines(ax, range(150), curves, title=name, markers=False, xlabel="training step")
    ax.axhline(torch.tensor(8.0).log(), color="0.5", ls=":", label="guessing: ln 8")
axes[0].set_ylabel("loss (nats)")
handles = axes[0].get_legend_handles_labels()
for ax in axes:
    ax.get_legend().remove()
fig.legend(*handles, loc="outside right")
plots.show(fig, about="Training loss of three seeds: without clipping, with it, at a tenth.")
print("                            longest step  saturated  different last states")
for name, run, model in ended:
    clip, rate = ways[name.partition(",")[0]]
    longest = max(rate * min(norm, clip) for norm in run.norms)
    saturated = (model.reader.states(examples).abs() > 0.95).float().mean()
    ends = recurrence.different_ends(model.reader, length=40)
    print(f"{name:29}{longest:11.2f}{saturated:11.0%}{ends:23}")

# %% [markdown]
# Without clipping one leap saturates about a third of the entries or more. The 8 symbols then
# arrive in two to four states, and no later layer can tell them apart. A lower rate is not safe
# either: after a long step the loss jumps in one seed. Clipping does not bring back a gradient that
# has vanished, though.
#
# ### Against vanishing: the LSTM
#
# To carry gradients far, the network itself has to change. An LSTM keeps a second state $c_t$, in
# which gates between 0 and 1 decide what stays:
#
# $$f_t = \sigma(W_f\, x_t + U_f\, h_{t-1} + b_f) \qquad
#   c_t = f_t \odot c_{t-1} + i_t \odot g_t \qquad h_t = o_t \odot \tanh(c_t)$$
#
# $i_t$ and $o_t$ are computed like the *forget gate* $f_t$, with weights of their own; so is the
# new content $g_t$, with $\tanh$ in place of the sigmoid $\sigma$. Going back along $c$, a gradient
# meets no matrix and no $\tanh$, only $f_t$.
#
# **Predict:** torch starts with $b_f$ near 0, and $\sigma(0) = 0.5$. Before training, which carries
# a gradient farther: such an LSTM, or a plain $\tanh$ network with $\rho = 1$?

# %% tags=["skip-grading"]
names = ("the plain network", "the LSTM")
guess("more gradient left after 50 steps", None, choices=names)

# %% tags=["skip-grading", "measured", "folded"]
# Measure how far back the plain network and the LSTM pass a gradient.
torch.manual_seed(0)
readers = {
    "tanh, ρ = 1": recurrence.RecurrentReader(rnn_forward, 8, 32),
    "LSTM as torch makes it": recurrence.LSTMReader(8, 32),
    "LSTM, forget bias 3": recurrence.LSTMReader(8, 32, forget_bias=3.0),
}
x = torch.randn(16, 60, 8)
curves = {name: recurrence.input_gradients(reader, x) for name, reader in readers.items()}
curves = {name: norms / norms[-1] for name, norms in curves.items()}
fig, ax = plt.subplots(figsize=(6.6, 3.6))
plots.lines(ax, range(59, -1, -1), curves, title="What reaches an early input, before training",
            markers=False, yscale="log", xlabel="steps back from the end",
            ylabel="length of the gradient\n(1 at the last step)")  # fmt: skip
plots.show(fig, about="Gradient length against steps back, logarithmic, before training.")
for name, curve in curves.items():
    print(f"{name:<23} 50 steps back: {curve[-51]:.0e}")
plain_ahead = curves["tanh, ρ = 1"][-51] > curves["LSTM as torch makes it"][-51]
reveal("more gradient left after 50 steps", names[0] if plain_ahead else names[1])

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# Gates that start half shut leave $0.5^{50} \approx 10^{-15}$ along $c$. More arrives: some start
# above 0.5, and there is a second way, through $h$. Gates that start open, $\sigma(3) = 0.95$, let
# 0.4 of the gradient through: the open forget gate carries gradients far.
# </details>
#
# Such networks were the standard for years. They soften limit 3; limits 1 and 2 remain.
#
# ## 6. From sequence to sequence
#
# A translation is rarely as long as its source. So two networks share the work: an **encoder**
# reads the source, and its last state becomes the first state of a **decoder**, which writes the
# answer. At each step the decoder reads what it wrote last. A **begin** token starts it, an **end**
# token ends it. In training it reads the *right* previous token, whatever it wrote itself:
# **teacher forcing**.

# %% tags=["skip-grading"]
drawn.way("recurrent")

# %% [markdown]
# ### Exercise: `shift_right`
# *1 point · difficulty 1 of 5 · 4 minutes*
#
# Make the decoder's inputs from its targets: the begin token in front, everything else one place
# later, the last column gone.


# %% exercise="shift_right"
def shift_right(targets: Tensor, bos: int) -> Tensor:
    """The decoder's inputs under teacher forcing: entry t is the target at t - 1.

    Args:
        targets: ids that the decoder should write, (B, T).
        bos: id of the begin token, which comes first.

    Returns:
        Ids that the decoder reads, (B, T), of the targets' dtype.
    """
    # BEGIN SOLUTION
    begin = torch.full_like(targets[:, :1], bos)
    return torch.cat([begin, targets[:, :-1]], 1)
    # END SOLUTION


# %% test="shift_right" points=1
check.shift_right(shift_right)
# BEGIN HIDDEN TESTS
check.shift_right(
    shift_right,
    points=1,
    hidden=[
        dict(case="a larger batch", B=6, T=8, bos=4),
        dict(case="one sequence of one token", B=1, T=1, bos=3),
        dict(case="ids that come twice", B=3, T=7, bos=2, kinds=4),
        dict(
            case="int32, begin token 0",
            demand="other integer types",
            B=5,
            T=2,
            bos=0,
            dtype="int32",
        ),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# Which targets are inputs too? All but the last.
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# `torch.full_like(targets[:, :1], bos)` is a column of begin tokens, of the right dtype. Join it
# with `targets[:, :-1]` along axis 1 (`torch.cat`).
# </details>
#
# ### The task: reversing a sequence
#
# There are 16 symbols (ids 4 to 19), and the answer is the source in reverse order.

# %% tags=["skip-grading"]
batch = task.reversal_batch([5, 3], seed=0)
print("padding, begin, end:", task.PAD, task.BOS, task.EOS)
for row in range(2):
    print("\nsource (encoder reads)  ", batch.source[row].tolist())
    print("inputs (decoder reads)  ", shift_right(batch.target, task.BOS)[row].tolist())
    print("target (decoder writes) ", batch.target[row].tolist())

# %% [markdown]
# ### Exercise: `greedy_decode`
# *4 points · difficulty 3 of 5 · 8 minutes*
#
# After training the decoder runs freely: it reads `bos`, takes the token with the largest **logit**
# (the score before softmax, one for each of V tokens), reads that token next, and stops when it
# takes `eos`. This is **auto-regressive** decoding, and *greedy*, because it never looks ahead.


# %% exercise="greedy_decode"
def greedy_decode(
    step: Callable[[int, Any], tuple[Tensor, Any]], state: Any, bos: int, eos: int, max_len: int
) -> list[int]:
    """Let a decoder write on its own, one sequence, always the token with the largest logit.

    Args:
        step: (token, state) -> (logits (V,), new state); hand the state on as it is. It may be
            called after `eos`, too: what it gives then is no part of the answer.
        state: the decoder's first state.
        bos: the token that the first step reads; not part of the answer.
        eos: the token that ends the answer; not part of it.
        max_len: the answer ends after this many tokens, even without `eos`.

    Returns:
        The answer's tokens, as a list of plain integers.
    """
    # BEGIN SOLUTION
    token, tokens = bos, []
    for _ in range(max_len):
        logits, state = step(token, state)
        token = int(logits.argmax())
        if token == eos:
            break
        tokens.append(token)
    return tokens
    # END SOLUTION


# %% test="greedy_decode" points=4
check.greedy_decode(greedy_decode)
# BEGIN HIDDEN TESTS
check.greedy_decode(
    greedy_decode,
    points=4,
    hidden=[
        dict(case="a longer answer", V=8, bos=2, eos=3, max_len=9, script=[4, 7, 4, 4, 5, 6, 3]),
        dict(case="the end just in time", V=9, bos=2, eos=3, max_len=5, script=[6, 8, 6, 7, 4, 3]),
        dict(case="begin token inside", V=8, bos=6, eos=2, max_len=7, script=[5, 6, 4, 6, 2]),
        dict(case="end token 0", V=5, bos=3, eos=0, max_len=6, script=[4, 4, 1, 0], shift=-20.0),
        dict(
            case="no room, other tokens",
            demand="a limit of 0",
            V=7,
            bos=4,
            eos=5,
            max_len=0,
            script=[6, 3, 5],
        ),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# Two things change from step to step: the token that is read, and the state.
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# Start with `token = bos` and an empty list. At most `max_len` times: call `step` with both, keep
# the new state, take `int(logits.argmax())`. If it is `eos`, leave the loop, else append it.
# </details>
#
# ### Reversing 20 and 40 symbols
#
# Now train such a pair for 200 steps. It is made of GRUs, a simpler kind of LSTM. Two of them read
# the source, one from each end, and a layer with tanh makes their 64 numbers the decoder's first
# state. Then the model answers unseen sequences free-running, by your `greedy_decode`, and
# teacher-forced, by your `shift_right`. **Token accuracy** is the share of right symbols (guessing
# gets 1/16), **sequence accuracy** the share of answers that are right as a whole.
#
# **Predict** for length 20: which way gets more symbols right? And what share of the whole answers
# is right, free-running?

# %% tags=["skip-grading"]
guess("more symbols right", None, choices=("free-running", "teacher-forced"))
guess("whole sequences of 20 right", None)  # free-running, a share from 0 to 1

# %% tags=["skip-grading", "measured"]
models: dict[int, list[seq2seq.Seq2Seq]] = {20: [], 40: []}
for length, trained in models.items():
    for seed in seeds:
        torch.manual_seed(seed)
        model = seq2seq.Seq2Seq(task.vocabulary_size(16))
        seq2seq.train(model, task.growing_batches(length, 200, 32, seed=seed + 1), steps=200)
        trained.append(model)


def free_running(model: seq2seq.Seq2Seq, source: Tensor) -> Tensor:
    """Answers of a model that reads what it wrote, by your greedy_decode."""
    step, length = recurrence.decoder_step(model), source.shape[1]
    answers = [
        greedy_decode(step, recurrence.first_state(model, row), task.BOS, task.EOS, length)
        for row in source.split(1)
    ]
    return recurrence.as_batch(answers, length)


def forced(model: seq2seq.Seq2Seq, batch: task.SequenceBatch) -> Tensor:
    """Answers of a model that reads the right token before, by your shift_right."""
    return recurrence.teacher_forced(model, batch.source, shift_right(batch.target, task.BOS))


# %% tags=["skip-grading", "measured", "folded"]
# Let both lengths answer in both ways, and count what is right.
answers: dict[tuple[int, str], list[Tensor]] = {}
unseen = {length: task.reversal_batch([length] * 50, seed=99) for length in models}
ways = ("free-running", "teacher-forced")
for length, batch in unseen.items():
    for way in ways:
        answers[length, way] = [
            free_running(model, batch.source) if way == "free-running" else forced(model, batch)
            for model in models[length]
        ]
        tokens = [task.token_accuracy(a, batch.target) for a in answers[length, way]]
        whole = [task.sequence_accuracy(a, batch.target) for a in answers[length, way]]
        print(
            f"length {length}, {way:<15} tokens right:", ", ".join(f"{t:.2f}" for t in tokens),
            " whole sequences right:", ", ".join(f"{w:.2f}" for w in whole),
        )  # fmt: skip
batch = unseen[20]
shares = {w: median(task.token_accuracy(a, batch.target) for a in answers[20, w]) for w in ways}
whole = [task.sequence_accuracy(a, batch.target) for a in answers[20, "free-running"]]
print("\nwanted:      ", batch.target[0, :-1].tolist())
print("free-running:", answers[20, "free-running"][0][0].tolist())
reveal("more symbols right", max(ways, key=lambda w: shares[w]))
reveal("whole sequences of 20 right", median(whole))

# %% tags=["skip-grading", "measured", "folded"]
# Plot the share of right symbols by place in the answer.
fig, axes = plt.subplots(1, 2, figsize=(9.5, 3.4), sharey=True)
for ax, (length, batch) in zip(axes, unseen.items(), strict=True):
    curves = {}
    for way in ("teacher-forced", "free-running"):
        hits = [task.token_hits(a, batch.target).float().mean(0) for a in answers[length, way]]
        curves[way] = torch.stack(hits).mean(0)
    plots.lines(ax, range(1, length + 1), curves, title=f"Reversing {length} symbols",
                xlabel="place in the answer", ylim=(0, 1.05), markers=False)  # fmt: skip
    ax.axhline(1 / 16, color="0.5", ls=":", label="guessing")
    ax.set_xticks([1, *range(length // 4, length + 1, length // 4)])
    ax.legend()
axes[0].set_ylabel("share right\n(mean of three seeds)")
plots.show(fig, about="Share of right symbols by place in the answer, mean of three seeds.")

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# All that the decoder knows of the source is 64 numbers, and after 200 steps they carry too little.
# Running free, it often gets the first symbol right, and soon is little better than guessing; at
# the last places it is worse, as it stops a symbol or two early. The teacher sets it right at each
# step, so teacher-forced numbers flatter it.
# </details>
#
# You will use the decoder free-running, so report that number. Is it limit 1 again, or was training
# too short? Lesson 02 trains longer, and gives the network a second way to its source.

# %% tags=["skip-grading"]
summary()

# %% [markdown]
# ## Recap
#
# - **Limit 1:** all of the past goes through one vector of fixed size, and training has to learn
#   what to keep in it.
# - **Limit 2:** T tokens take T steps in a row. (Without the tanh a step is linear, and a *parallel
#   scan* needs about $\log T$: state-space models such as Mamba use that.)
# - **Limit 3:** each step back multiplies the gradient by the matrix and by slopes of tanh. It
#   tends to vanish, and can explode.
# - Clipping bounds the step of a gradient that explodes; open forget gates carry gradients far.
#
# Your encoder has no recurrence:

# %% tags=["skip-grading"]
drawn.encoder(1)

# %% [markdown]
# ## Three open questions
#
# 1. Copying breaks down earlier for a state of 16 than for one of 64. Is it the state's size, or
#    the number of weights? Give the small one a wider layer to read it with.
# 2. `nn.LSTM` takes as many steps as `nn.RNN`. How much of its time is the price of a step? Time
#    both for batches of 1, 8 and 64.
# 3. Does an open gate also help to learn? Train LSTMs with a forget bias of 0 and of 3 to name a
#    symbol after 19 steps of noise (`draw_recall` and `train_namer` in `recurrence`).
#
# **Next:** in [lesson 02](../02_attention/02_attention.ipynb) the decoder looks back at
# *all* the encoder's states: attention. [Start page](../Start.md)
#
# **Sources**
# - J. L. Elman, *Finding structure in time*, Cognitive Science 14 (1990): the network built here.
# - S. Hochreiter, *Untersuchungen zu dynamischen neuronalen Netzen*, diploma thesis, TU München,
#   1991: the first analysis of vanishing gradients.
# - Y. Bengio, P. Simard, P. Frasconi, *Learning long-term dependencies with gradient descent is
#   difficult*, IEEE Transactions on Neural Networks 5 (1994).
# - R. Pascanu, T. Mikolov, Y. Bengio, *On the difficulty of training recurrent neural networks*,
#   ICML 2013: the spectral radius (without tanh) and the largest singular value (with it) as
#   conditions, and clipping by norm.
# - A. Zhang, Z. C. Lipton, M. Li, A. J. Smola, *Dive into Deep Learning*, 2023, section 9.7 (for a
#   network with the identity in place of tanh).
# - S. Hochreiter, J. Schmidhuber, *Long short-term memory*, Neural Computation 9 (1997).
# - F. A. Gers, J. Schmidhuber, F. Cummins, *Learning to forget: continual prediction with LSTM*,
#   Neural Computation 12 (2000): the forget gate.
# - R. Jozefowicz, W. Zaremba, I. Sutskever, *An empirical exploration of recurrent network
#   architectures*, ICML 2015: forget gates that start open.
# - R. J. Williams, D. Zipser, *A learning algorithm for continually running fully recurrent neural
#   networks*, Neural Computation 1 (1989): teacher forcing.
# - I. Sutskever, O. Vinyals, Q. V. Le, *Sequence to sequence learning with neural networks*,
#   NeurIPS 2014.
# - K. Cho et al., *Learning phrase representations using RNN encoder-decoder for statistical
#   machine translation*, EMNLP 2014: encoder, decoder and the GRU.
# - A. Vaswani et al., *Attention is all you need*, NeurIPS 2017: table 1 counts sequential steps.
