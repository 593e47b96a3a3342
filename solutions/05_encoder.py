# %% [markdown]
# # 05 · The encoder
#
# **What this lesson answers:** what besides attention is in a Transformer encoder, what is each
# part for, where are its parameters, and is yours the same as torch's?
#
# **What it needs:** lessons 02 to 04.
#
# <span class="course-chip">**Time:** 150 minutes</span>
# <span class="course-chip">**Points:** 17</span>
#
# What comes of a meeting where everybody listens to everybody and nobody ever thinks? Lesson 04
# left you in one: attention with positions. Three plain parts are missing: a moment to think (a
# small network for each token), a memory of what you knew before (a shortcut around attention and
# network), and a limit on how loud a voice may get (a normalisation). Together they make an
# encoder, which must give the same output as torch's.
#
# In shapes, **F** counts the hidden units of the small network (in code, `F` is
# `torch.nn.functional`), **N** the layers, **V** the words of the vocabulary.

# %% tags=["folded"]
# Set up: what this lesson uses. Run it first.
from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils import drawn, plots
from utils.experiments import buggy
from utils.experiments import word_order_task as task
from utils.experiments.recorded import recorded
from utils.experiments.train import train
from utils.notebook.carry import carry
from utils.checks import check
from utils.notebook.lend import lend
from utils.plots import encoder as pictures
from utils.progress.guesses import guess, reveal, summary

torch.set_num_threads(1)  # small matrices gain nothing from more, and times are steadier

# %% [markdown]
# A block of yours that passes its checks is used here; for any other the course has a stand-in.

# %%
MultiHeadAttention = carry("03_multi_head_attention", "MultiHeadAttention")
PositionalEncoding = carry("04_positional_encoding", "PositionalEncoding")
TokenEmbedding = carry("04_positional_encoding", "TokenEmbedding")

# %% [markdown]
# ## 1. One token, normalised by hand
#
# Each layer adds something to a token's vector, which may get long. Then a softmax becomes sure of
# one key, and its gradient fades (lesson 02). So bring each token back to one size. **Layer
# normalisation** subtracts the token's own mean, divides by its own standard deviation, and then
# applies a learned gain $g$ and bias $b$:
#
# $$y_d = g_d \, \frac{x_d - \mu}{\sqrt{\sigma^2 + \varepsilon}} + b_d, \qquad
# \mu = \frac1D \sum_d x_d, \qquad \sigma^2 = \frac1D \sum_d (x_d - \mu)^2$$
#
# All tokens share gain and bias, so a gain makes one *feature* louder in all words alike. To single
# out a word is attention's task.
#
# **Predict:** take the token (2, 4, 4, 10). What becomes of its 10, before gain and bias?

# %% tags=["skip-grading"]
guess("the 10, normalised", None)

# %%
token = torch.tensor([2.0, 4.0, 4.0, 10.0])
mean = token.mean()
variance = ((token - mean) ** 2).mean()
normal = (token - mean) / (variance + 1e-5).sqrt()
gain, bias = torch.tensor([1.0, 1.0, 2.0, 1.0]), torch.tensor([0.0, 0.0, 0.0, 0.5])

print("token             ", token.tolist())
print("mean, variance    ", mean.item(), variance.item())
print("minus the mean    ", (token - mean).tolist())
print("over the root     ", [round(v, 3) for v in normal.tolist()])
print("gain and bias     ", [round(v, 3) for v in (gain * normal + bias).tolist()])
reveal("the 10, normalised", normal[3].item())

# %% [markdown]
# **Predict:** what becomes of the 10 if the whole token is a hundred times as large? And what of a
# token whose entries are all equal? ($\varepsilon = 10^{-5}$, torch's default.)

# %% tags=["skip-grading"]
guess("the 10, from a token a hundred times as large", None)
guess("the entries, from a token of equal ones", None)

# %%
others = {"a hundred times": 100 * token, "a thousandth": token / 1000, "all equal": 0 * token + 7}
last = {}
for name, other in others.items():
    centred = other - other.mean()
    variance = (centred**2).mean()
    with_eps = [round(v, 3) for v in (centred / (variance + 1e-5).sqrt()).tolist()]
    without = [round(v, 3) for v in (centred / variance.sqrt()).tolist()]
    print(f"{name:16} {with_eps}   without epsilon: {without}")
    last[name] = with_eps[-1]
reveal("the 10, from a token a hundred times as large", last["a hundred times"])
reveal("the entries, from a token of equal ones", last["all equal"])

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# A larger token gives the same result. A much smaller one does not: beside its variance, epsilon is
# not small. And where all entries are equal, epsilon prevents 0 / 0.
# </details>
#
# The variance is divided by $D$; torch's `var` and `std` divide by $D - 1$ unless you ask for
# `correction=0`.
#
# <details><summary>Why not batch normalisation?</summary>
#
# Batch normalisation, known from images, takes each feature's mean over a batch: a token's result
# would depend on other sentences, and on padding.
# </details>
#
# ### Exercise: `LayerNorm`
# *1 point · difficulty 2 of 5 · 10 minutes*
#
# Write it as a module, for tensors with any number of axes before the last. torch's own
# normalisations are off limits.


# %% exercise="LayerNorm"
class LayerNorm(nn.Module):
    """Layer normalisation: y = weight * (x - mean) / sqrt(variance + eps) + bias.

    Mean and variance are those of each vector along the last axis; the variance is divided by D.

    Args:
        d_model: D, the size of the last axis.
        eps: added to the variance.

    Also asked: exact for vectors far from zero, where `mean(x²) - mean(x)²` loses its digits.

    Attributes:
        weight: the gain g, (D,), trained, ones at the start.
        bias: b, (D,), trained, zeros at the start.
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        # BEGIN SOLUTION
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        # END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """(..., D) -> (..., D)."""
        # BEGIN SOLUTION
        centred = x - x.mean(-1, keepdim=True)
        variance = (centred**2).mean(-1, keepdim=True)
        normal = centred * (variance + self.eps).rsqrt()  # times 1 / root
        return self.weight * normal + self.bias
        # END SOLUTION


# %% test="LayerNorm" points=1
check.LayerNorm(LayerNorm)
# BEGIN HIDDEN TESTS
check.LayerNorm(
    LayerNorm,
    points=1,
    hidden=[
        dict(case="single tokens", B=4, T=1, D=7),
        dict(case="two entries", B=3, T=5, D=2),
        dict(case="a large epsilon, small numbers", B=2, T=3, D=5, eps=0.5, scale=0.1),
        dict(
            case="far from zero in float64",
            demand="float64",
            B=2,
            T=5,
            D=6,
            offset=50.0,
            dtype="float64",
        ),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# `mean(-1, keepdim=True)` gives a mean that can be subtracted from x. What is averaged next?
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# Two parameters in `__init__`: `nn.Parameter(torch.ones(d_model))`, and zeros. In `forward`: take
# the mean away; average the squares of what is left; divide by the root of that plus `eps`;
# multiply by the gain, add the bias.
# </details>
#
# ## 2. A small network for every token
#
# Attention moves information between tokens. Then each token thinks for itself, with one hidden
# layer, the same for every token:
#
# $$\mathrm{FFN}(x) = W_2 \, \max(0,\; W_1 x + b_1) + b_2$$
#
# The hidden layer is wider than the model, four times as a rule. $\max(0, \cdot)$ is called
# **ReLU**.
#
# ### Exercise: `FeedForward`
# *1 point · difficulty 1 of 5 · 5 minutes*
#
# In training, dropout sets some hidden units to zero, after ReLU.


# %% exercise="FeedForward"
class FeedForward(nn.Module):
    """Two linear layers with ReLU between them, for each token alone.

    Args:
        d_model: D, size of a token.
        d_ff: F, hidden units.
        dropout: share of hidden units that are dropped in train mode, after ReLU.

    Attributes:
        linear_1: nn.Linear from D to F.
        linear_2: nn.Linear from F to D.
    """

    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        # BEGIN SOLUTION
        self.linear_1 = nn.Linear(d_model, d_ff)
        self.linear_2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)
        # END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """(..., D) -> (..., D)."""
        # BEGIN SOLUTION
        hidden = torch.relu(self.linear_1(x))  # (..., F)
        return self.linear_2(self.dropout(hidden))
        # END SOLUTION


# %% test="FeedForward" points=1
check.FeedForward(FeedForward)
# BEGIN HIDDEN TESTS
check.FeedForward(
    FeedForward,
    points=1,
    hidden=[
        dict(case="a hidden layer of one unit", B=2, T=4, D=3, F=1),
        dict(case="four axes", demand="any number of axes", B=2, H=3, T=4, D=5, F=7),
        dict(
            case="dropout in float64",
            demand="float64",
            B=3,
            T=2,
            D=5,
            F=4,
            dropout=1.0,
            dtype="float64",
        ),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# Read the formula from the inside out. Dropout stands where the hidden units are finished.
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# `nn.Linear(d_model, d_ff)`, `nn.Linear(d_ff, d_model)` and `nn.Dropout(dropout)` in `__init__`.
# In `forward`: linear, ReLU, dropout, linear.
# </details>
#
# What is it for? Take sentences of two words, from 16 words of two kinds. One-headed attention
# reads them; from the *first* word's output a linear layer says whether both are of one kind.
# Guessing gets half right. Now put a feed-forward between attention and linear layer.
#
# **Predict:** without ReLU, is the feed-forward as good as one with ReLU, or as good as none?

# %% tags=["skip-grading"]
guess("without ReLU it is as good as", None, choices=("one with ReLU", "none"))


# %% tags=["skip-grading", "measured"]
def share_right(between: nn.Module, n_heads: int = 1) -> float:
    words, answer = nn.Embedding(16, 32), nn.Linear(32, 2)
    model = nn.ModuleList([words, MultiHeadAttention(32, n_heads), between, answer])
    pairs = torch.cartesian_prod(torch.arange(16), torch.arange(16))
    same = (pairs[:, 0] % 2 == pairs[:, 1] % 2).long()  # odd ids are of one kind, even of the other

    def scores() -> Tensor:
        x = words(pairs)
        return answer(between(model[1](x, x, x)[0])[:, 0])  # asked of the first word

    train(model, lambda _: F.cross_entropy(scores(), same), steps=100, seed=0, rate=1e-2)
    return (scores().argmax(-1) == same).float().mean().item()


torch.manual_seed(0)
flat = nn.Sequential(nn.Linear(32, 128), nn.Linear(128, 32))
between = {"none": nn.Identity(), "one with ReLU": FeedForward(32, 128), "one without": flat}
shares = {name: share_right(part) for name, part in between.items()}
for name, share in shares.items():
    print(f"right with one head, feed-forward: {name:15}{share:.3g}")
print(f"right with four heads, feed-forward: none         {share_right(nn.Identity(), 4):.3g}")
alike = min(("one with ReLU", "none"), key=lambda n: abs(shares[n] - shares["one without"]))
reveal("without ReLU it is as good as", alike)

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# One head gives the first word $w\,v_1 + (1 - w)\,v_2$, and a linear layer scores this point
# between the scores of both values. A score above 0 means "alike". Let (dog, dog) score 3 and (run,
# run) 2. Then (dog, run) scores between 2 and 3, and is called alike as well: wrong.
#
# Without ReLU, two linear layers are one, $W_2 (W_1 x + b_1) + b_2 = (W_2 W_1)\, x + \ldots$ ReLU
# bends, so the score can depend on the *pair*. Softmax bends as well: four heads are enough here.
# </details>
#
# ## 3. The shortcut: residuals at depth
#
# Attention and the feed-forward are a layer's two **sub-layers**. Each could replace its input,
# $x \leftarrow f(x)$, or add to it, $x \leftarrow x + f(x)$: a **residual connection**, a shortcut
# around the sub-layer.
#
# What is it for? He et al. (2016), who made it popular, had norms already, and thought the trouble
# of their deep networks "unlikely to be caused by vanishing gradients". See for yourself: stack
# your feed-forward networks, each with a norm behind it, and train them to name the word that they
# were given (20 words, 60 steps). Guessing costs $\ln 20 \approx 3$.

# %% tags=["skip-grading", "measured"]
Stack = list[tuple[FeedForward, LayerNorm]]


def through(stack: Stack, x: Tensor, residual: bool) -> Tensor:
    for feed, norm in stack:
        x = norm(x + feed(x) if residual else feed(x))
    return x


# %% tags=["skip-grading", "measured"]
def train_stack(depth: int, residual: bool, seed: int) -> tuple[float, float]:
    """Loss after 60 steps, and how alike the 20 words leave the stack at first (mean cosine)."""
    torch.manual_seed(seed)
    words, answer = nn.Embedding(20, 32), nn.Linear(32, 20)
    stack = [(FeedForward(32, 64), LayerNorm(32)) for _ in range(depth)]
    with torch.no_grad():
        unit = F.normalize(through(stack, words.weight, residual))
    modules = nn.ModuleList([words, answer, *(part for pair in stack for part in pair)])
    optimizer, losses = torch.optim.Adam(modules.parameters(), 2e-3), []
    for _ in range(60):
        ids = torch.randint(20, (64,))
        loss = F.cross_entropy(answer(through(stack, words(ids), residual)), ids)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses[-5:]) / 5, ((unit @ unit.T).sum().item() - 20) / (20 * 19)


kinds = {"residuals": True, "no residuals": False}
depths = [1, 4, 12, 24]
trained = {
    name: torch.tensor([[train_stack(d, residual, seed) for seed in range(3)] for d in depths])
    for name, residual in kinds.items()
}

# %% tags=["skip-grading", "measured", "folded"]
# Plot the loss and the likeness of words, by depth.
fig, axes = plt.subplots(1, 2, figsize=(9.5, 3))
titles = ("Loss after 60 steps", "How alike words leave the fresh stack")
for part, (ax, title) in enumerate(zip(axes, titles, strict=True)):
    for place, (name, runs) in enumerate(trained.items()):  # runs: (depths, seeds, 2)
        style = {"color": f"C{place}", "ls": ("-", "--")[place], "label": name}
        ax.plot(range(4), runs[..., part].mean(1), **style)
        ax.plot(range(4), runs[..., part], "os"[place], color=f"C{place}", ms=6, alpha=0.7)
    ax.set(title=title, xlabel="depth (networks)")
    ax.set_xticks(range(4), list(map(str, depths)))
axes[0].axhline(np.log(20), color="0.4", ls=":")
axes[0].text(0.5, np.log(20) - 0.3, "guessing", ha="center", color="0.3")
axes[0].set(ylabel="loss (nats)", ylim=(0, None))
axes[1].set(ylabel="mean cosine between words", ylim=(-0.1, 1.05))
axes[1].legend(loc="center left", bbox_to_anchor=(1, 0.5))
for name, runs in trained.items():
    mean_loss = [f"{loss:.2f} at {d}" for loss, d in zip(runs[..., 0].mean(1), depths, strict=True)]
    print(f"{name:13} loss", ", ".join(mean_loss))
plots.show(
    fig,
    about="Loss after training, and likeness of words before it, against depth; three runs each.",
)

# %% [markdown]
# With one network the residual slows you down, with four the two are level, with twelve you need
# it. The right plot suggests why: all words leave a fresh stack without residuals as nearly the
# same vector, and you cannot name what you cannot tell apart. Each network adds the same biases to
# all words, and after ReLU no number is negative, so hidden vectors all point into one corner.
#
# ## 4. The encoder layer
#
# A layer is attention, then feed-forward, each with a residual and a norm. The paper of 2017
# normalises the sum (post-norm); many later models normalise what goes into the sub-layer
# (pre-norm):
#
# $$\text{post-norm:}\quad x \leftarrow \mathrm{norm}(x + f(x)) \qquad\qquad
# \text{pre-norm:}\quad x \leftarrow x + f(\mathrm{norm}(x))$$
#
# Follow $x$ through both drawings: in which one does it reach the end without passing a norm? That
# one needs one more norm at the end of the encoder.

# %% tags=["skip-grading"]
drawn.way("encoder layer")

# %% [markdown]
# ### Exercise: `EncoderLayer`
# *3 points · difficulty 3 of 5 · 15 minutes*
#
# Build one layer that can do both. In train mode dropout acts in three places: on the attention
# weights, inside the feed-forward (both parts take `dropout`), and on what each sub-layer adds.
# torch's own attentions, layers and encoders are off limits from here on. For grading, right parts
# stand in for yours.


# %% exercise="EncoderLayer"
class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each with a residual and a normalisation.

    post-norm:  x = norm_1(x + attention(x));   x = norm_2(x + feed_forward(x))
    pre-norm:   x = x + attention(norm_1(x));   x = x + feed_forward(norm_2(x))

    Args:
        d_model: D.
        n_heads: H; D must be divisible by it.
        d_ff: hidden units of the feed-forward network.
        dropout: for the attention, the feed-forward, and what each of the two adds to x.
        norm_first: pre-norm when True, else post-norm.

    Attributes:
        self_attention: MultiHeadAttention.
        feed_forward: FeedForward.
        norm_1, norm_2: LayerNorm, for attention and for the feed-forward: after the sum in
            post-norm, before the sub-layer in pre-norm.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        dropout: float = 0.1,
        norm_first: bool = False,
    ) -> None:
        super().__init__()
        # BEGIN SOLUTION
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout)
        self.norm_1 = LayerNorm(d_model)
        self.norm_2 = LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first
        # END SOLUTION

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """(B, T, D) and a mask -> (B, T, D).

        The mask is (B, T, T), (B, 1, T) or (1, T, T), True where a token may attend; None where
        all may.
        """
        # BEGIN SOLUTION
        if self.norm_first:
            normed = self.norm_1(x)
            x = x + self.dropout(self.self_attention(normed, normed, normed, mask)[0])
            return x + self.dropout(self.feed_forward(self.norm_2(x)))
        x = self.norm_1(x + self.dropout(self.self_attention(x, x, x, mask)[0]))
        return self.norm_2(x + self.dropout(self.feed_forward(x)))
        # END SOLUTION


# %% test="EncoderLayer" points=3
check.EncoderLayer(EncoderLayer)
# BEGIN HIDDEN TESTS
check.EncoderLayer(
    EncoderLayer,
    points=3,
    hidden=[
        dict(case="one token", B=3, T=1, D=8, H=4, F=5),
        dict(case="one head, pre-norm", B=2, T=5, D=6, H=1, F=3, norm_first=True),
        dict(case="any mask", B=2, T=4, D=9, H=3, F=7, mask="random"),
        dict(
            case="pre-norm, an empty row",
            demand="a row with nothing allowed",
            B=2,
            T=5,
            D=8,
            H=4,
            F=6,
            mask="empty",
            norm_first=True,
        ),
        dict(
            case="float64, pre-norm",
            demand="float64",
            B=2,
            T=4,
            D=6,
            H=3,
            F=5,
            norm_first=True,
            dtype="float64",
        ),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# `self.self_attention(q, k, v, mask)` returns a pair; here only the output counts. In
# self-attention, queries, keys and values are the same tensor.
# </details>
# <details><summary>Hint 2: pre-norm</summary>
#
# Keep the normalised input under a name of its own. Attention reads it three times; the residual
# does not read it at all.
# </details>
# <details><summary>Hint 3: almost the answer</summary>
#
# Post-norm: `x = norm_1(x + dropout(attention(x, x, x, mask)[0]))`, then the same with `norm_2`
# and the feed-forward. Pre-norm: `x = x + dropout(attention(n, n, n, mask)[0])` with
# `n = norm_1(x)`, then `x + dropout(feed_forward(norm_2(x)))`.
# </details>
#
# ## 5. Post-norm and pre-norm at twelve layers
#
# Xiong et al. (2020) found that post-norm needs a **warm-up**, a rate that rises slowly, and that
# pre-norm does not. Is it so at any depth and rate? Encoders of 2 and of 12 layers learned lesson
# 04's task in 300 steps, at full rate at once or after a rise of 100 steps. That takes a quarter of
# an hour, so it was recorded, with three seeds of everything.

# %% tags=["skip-grading", "folded"]
# Show the recorded runs with and without warm-up.
record, where = recorded("norm_order")
pictures.learning_rates(record)
for way, steps in (("at once", 0), ("warm-up", 100)):
    tried = record["right"][f"12 layers, post-norm, warm-up {steps}"]
    print(f"12 layers, post-norm, {way}:")
    for rate, seeds in zip(record["rates"], tried, strict=True):
        print(f"    right at {rate:g}:", ", ".join(f"{right:.2f}" for right in sorted(seeds)))
print(where)

# %% [markdown]
# With two layers neither order needs a warm-up. With twelve, post-norm without one learns at a
# single rate of the five, 0.001; with one it learns at 0.003 and 0.01. Pre-norm needs none. So here
# the answer is yes, if the encoder is deep and the rate is high.
#
# ## 6. A layer with a hole
#
# Somebody built a twelve-layer post-norm encoder. All shapes are right, but its attention hardly
# learns where to look: the gradients of $w_q$ and $w_k$ almost vanish. **Before you scroll on:**
# why only the gradients of these two matrices?


# %% tags=["skip-grading"]
def gradient_norms(loss: Tensor, groups: list[list[Tensor]]) -> list[float]:
    """2-norm of the loss's gradient for each group of parameters."""
    found = [torch.autograd.grad(loss, group, retain_graph=True) for group in groups]
    return [torch.cat([part.flatten() for part in parts]).norm().item() for parts in found]


def stacked(run: Callable[..., Tensor], depth: int = 12) -> tuple[list[float], ...]:
    """After each layer: gradient of all weights, of w_q and w_k, and how alike tokens are."""
    torch.manual_seed(0)
    layers = [EncoderLayer(64, 4, 256, dropout=0.0) for _ in range(depth)]
    x, alike = torch.randn(8, 16, 64), []
    for layer in layers:
        x = run(layer, x)
        unit = F.normalize(x.detach(), dim=-1)
        alike.append(((unit @ unit.mT).sum((1, 2)).mean().item() - 16) / (16 * 15))
    loss = (x * torch.randn(8, 16, 64)).mean()
    attentions = [layer.self_attention for layer in layers]
    looking = [[a.w_q.weight, a.w_k.weight] for a in attentions]
    everything = [[*layer.parameters()] for layer in layers]
    return gradient_norms(loss, everything), gradient_norms(loss, looking), alike


healthy, symptom = stacked(lambda layer, x: layer(x)), stacked(buggy.broken_layer)

# %% tags=["skip-grading", "measured", "folded"]
# Plot the gradients of your layers and of theirs.
number = list(range(1, 13))
fig, axes = plt.subplots(1, 2, figsize=(9.5, 3), sharey=True)
titles = ("Gradient of all weights", "Gradient of $w_q$ and $w_k$")
for part, (ax, title) in enumerate(zip(axes, titles, strict=True)):
    plots.lines(ax, number, {"your layer": healthy[part], "theirs": symptom[part]}, yscale="log")
    ax.set(title=title, xlabel="layer", xticks=number)
axes[0].set_ylabel("2-norm")
plots.show(fig, about="Gradients against layer, logarithmic.")

# %% [markdown]
# From the third layer on it makes next to no difference where attention looks. Here is their layer,
# as a function of a layer's parts.
#
# ### Exercise: `repaired_layer`
# *1 point · difficulty 2 of 5 · 6 minutes*
#
# Put in what is missing.


# %% exercise="repaired_layer"
def repaired_layer(layer: nn.Module, x: Tensor, mask: Tensor | None = None) -> Tensor:
    """One post-norm layer, put together from the parts of `layer`; nothing is dropped out.

    Args:
        layer: its self_attention, feed_forward, norm_1 and norm_2 are used.
        x: (B, T, D).
        mask: (B, T, T), (B, 1, T) or (1, T, T), True where a token may attend; None where all may.

    Returns:
        (B, T, D).
    """
    # BEGIN SOLUTION
    attended, _ = layer.self_attention(x, x, x, mask)
    x = layer.norm_1(x + attended)
    return layer.norm_2(x + layer.feed_forward(x))
    # STUB
    # attended, _ = layer.self_attention(x, x, x, mask)
    # x = layer.norm_1(attended)
    # return layer.norm_2(x + layer.feed_forward(x))
    # END SOLUTION


# %% test="repaired_layer" points=1
check.repaired_layer(repaired_layer)
# BEGIN HIDDEN TESTS
check.repaired_layer(
    repaired_layer,
    points=1,
    hidden=[
        dict(case="one token", B=3, T=1, D=8, H=4, F=5),
        dict(
            case="causal mask, float64",
            demand="float64",
            B=2,
            T=4,
            D=6,
            H=3,
            F=5,
            mask="causal",
            dtype="float64",
        ),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# What attention returns for a token is an average over all tokens. What of the token itself is
# left in it?
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# Compare the two lines that call a norm. What stands inside the second, and not inside the first?
# </details>
#
# What had happened? Look at how alike a sentence's tokens are after each layer (mean cosine; 1:
# they point the same way).

# %% tags=["skip-grading"]
fig, ax = plt.subplots(figsize=(6.5, 3))
curves = {"repaired": stacked(repaired_layer)[2], "theirs": symptom[2]}
plots.lines(ax, number, curves, title="Two tokens of a sentence", xlabel="layer", xticks=number)
ax.set(ylabel="mean cosine between tokens", ylim=(0, 1.05))
plots.show(fig, about="How alike two tokens are, against layer.")

# %% [markdown]
# Attention averages, and averages of averages soon make all tokens equal, which norms cannot undo.
# With the shortcut each token keeps what it was, beside what it found. Dong et al. (2021) prove how
# fast this goes with attention alone.
#
# **A good place to rest.** You have a layer, and know what holds it together.
#
# ## 7. The whole encoder
#
# In order, with $N$ layers:
#
# `ids (B, T)` → `embedding` → `positions` → `layers` → `final_norm` → `(B, T, D)`
#
# Sentences of a batch are padded to the same length, and no word may attend to the padding.
#
# ### Exercise: `TransformerEncoder`
# *3 points · difficulty 3 of 5 · 20 minutes*
#
# Make `embed` and `encode` methods of their own: later you will want to change what is between
# them.


# %% exercise="TransformerEncoder"
class TransformerEncoder(nn.Module):
    """Embedding, positions and a stack of encoder layers.

    Args:
        vocab_size: V, number of ids.
        d_model: D.
        n_heads: H.
        n_layers: N.
        d_ff: hidden units of each feed-forward network.
        max_len: longest sequence; the positions' `forward` raises ValueError past it.
        dropout: for the positions and every layer.
        norm_first: pre-norm when True, else post-norm.
        padding_idx: the id that stands for padding.

    Attributes:
        embedding: TokenEmbedding.
        positions: PositionalEncoding.
        layers: nn.ModuleList of N EncoderLayers, each with weights of its own.
        final_norm: LayerNorm where norm_first, else nn.Identity().
        padding_idx: as given; lesson 06 asks for it.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int = 512,
        n_heads: int = 8,
        n_layers: int = 6,
        d_ff: int = 2048,
        max_len: int = 5000,
        dropout: float = 0.1,
        norm_first: bool = False,
        padding_idx: int = 0,
    ) -> None:
        super().__init__()
        # BEGIN SOLUTION
        self.padding_idx = padding_idx
        self.embedding = TokenEmbedding(vocab_size, d_model, padding_idx)
        self.positions = PositionalEncoding(d_model, max_len, dropout)
        self.layers = nn.ModuleList(
            [EncoderLayer(d_model, n_heads, d_ff, dropout, norm_first) for _ in range(n_layers)]
        )
        self.final_norm = LayerNorm(d_model) if norm_first else nn.Identity()
        # END SOLUTION

    def embed(self, ids: Tensor) -> Tensor:
        """Ids (B, T) -> embedded words with their positions (B, T, D)."""
        # BEGIN SOLUTION
        return self.positions(self.embedding(ids))
        # END SOLUTION

    def encode(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Vectors (B, T, D) through all layers and the final norm -> (B, T, D)."""
        # BEGIN SOLUTION
        for layer in self.layers:
            x = layer(x, mask)
        return self.final_norm(x)
        # END SOLUTION

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Ids (B, T) -> (B, T, D).

        A given mask, (B, T, T), (B, 1, T) or (1, T, T), True where a token may attend, is used as
        it is. Without one, no token may attend to padding; the vectors at padding may be anything.
        """
        # BEGIN SOLUTION
        if mask is None:
            mask = (ids != self.padding_idx).unsqueeze(1)  # (B, 1, T)
        return self.encode(self.embed(ids), mask)
        # END SOLUTION


# %% test="TransformerEncoder" points=3
check.TransformerEncoder(TransformerEncoder)
# BEGIN HIDDEN TESTS
check.TransformerEncoder(
    TransformerEncoder,
    points=3,
    hidden=[
        dict(case="one token", V=11, B=3, T=1, D=8, H=4, L=2, F=5),
        dict(
            case="pre-norm, dropout",
            V=9,
            B=2,
            T=3,
            D=6,
            H=1,
            L=4,
            F=5,
            norm_first=True,
            dropout=1.0,
            train=True,
        ),
        dict(
            case="another padding id, pre-norm",
            V=9,
            B=3,
            T=6,
            D=8,
            H=4,
            L=2,
            F=5,
            pad="some",
            padding_idx=7,
            norm_first=True,
        ),
        dict(
            case="a causal mask, float64",
            demand="float64",
            V=7,
            B=2,
            T=4,
            D=6,
            H=3,
            L=1,
            F=5,
            mask="causal",
            dtype="float64",
        ),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: the layers</summary>
#
# `nn.ModuleList([... for _ in range(n_layers)])` makes a new layer at every turn and registers
# all of them.
# </details>
# <details><summary>Hint 2: the mask</summary>
#
# `ids != padding_idx` is (B, T) and tells which keys are real. Attention wants an axis for the
# queries between B and T: `unsqueeze(1)`.
# </details>
# <details><summary>Hint 3: almost the answer</summary>
#
# `embed`: positions of the embedding of ids. `encode`: `x = layer(x, mask)` for each layer, then
# `final_norm`. `forward`: a mask if there is none, then `encode(embed(ids), mask)`.
# </details>
#
# Does an encoder need a mask, if it may look both ways? Encode a sentence of three words alone,
# then padded, beside a longer one. **Predict:** how far do its vectors, each of length
# $\sqrt{32} \approx 5.7$, move at most with your mask?

# %% tags=["skip-grading"]
guess("moved, with your mask", None)

# %% tags=["skip-grading"]
torch.manual_seed(0)
encoder = TransformerEncoder(20, d_model=32, n_heads=4, n_layers=2, d_ff=64).eval()
short, long = [5, 9, 3], [7, 4, 11, 2, 8, 13]
batch = torch.tensor([short + [0] * 3, long])
alone = encoder(torch.tensor([short]))
open_mask = torch.ones(2, 1, 6, dtype=torch.bool)  # as if the encoder needed no mask
together = {"with your mask": encoder(batch), "without a mask": encoder(batch, open_mask)}
moved = {}
for name, encoded in together.items():
    moved[name] = round((encoded[0, :3] - alone[0]).norm(dim=-1).max().item(), 4)
print("moved, without a mask:", moved["without a mask"])
reveal("moved, with your mask", moved["with your mask"])

# %% [markdown]
# ### Exercise: `test_padding`
# *2 points · difficulty 3 of 5 · 10 minutes*
#
# An encoder needs no causal mask, but it needs the one for padding. That is lesson 03's
# **invariant**: padding changes nothing for the words, beyond rounding (allow 1e-4). Write it down
# as a test, a function that passes for every right encoder and raises `AssertionError` for each of
# these:
#
# - words attend to padding;
# - only the first layer is masked;
# - the mask of a batch's first sentence is used for all its sentences;
# - positions are counted from the end of a row, padding included.
#
# You get points for each of the four that you catch, provided that right encoders pass. What is
# returned *at* padding may be anything: compare the words only.


# %% exercise="test_padding"
def test_padding(encoder: Callable) -> None:
    """Assert that the words of a sentence do not notice padding, nor other sentences.

    Args:
        encoder: called as encoder(ids), ids (B, T) of whole numbers: 1 to 9 are words, and 0 is
            padding, after the words; T is at most 64. Returns (B, T, D), nothing dropped out. It
            may be right or broken.

    Raises:
        AssertionError: this encoder is broken.
    """
    # BEGIN SOLUTION
    # The longest sentence comes first, and then last: a mask that is taken from one row shows.
    sentences = [[4, 8, 2, 6, 1], [7, 3], [5, 9, 5]]
    for order in (sentences, sentences[::-1]):
        padded = encoder(torch.tensor([ids + [0] * (5 - len(ids)) for ids in order]))
        for row, ids in zip(padded, order, strict=True):
            alone = encoder(torch.tensor([ids]))[0]
            assert torch.allclose(row[: len(ids)], alone, atol=1e-4)
    # END SOLUTION


# %% test="test_padding" points=2
check.test_padding(test_padding)
# BEGIN HIDDEN TESTS
check.test_padding(
    test_padding,
    points=2,
    hidden=[],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# The cell above this exercise compares a sentence alone with the same sentence in a batch. Suppose
# that the mask of the batch's first sentence is used for all of them. Whose vectors are right then,
# and whose are wrong? Which of them does that cell compare?
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# Three sentences of different lengths. Encode each alone, and all of them in one batch, padded with
# zeros. For each one, `assert torch.allclose(row[:length], alone, atol=1e-4)`. Then the same
# with the batch in the opposite order.
# </details>
#
# ### Before you train it
#
# Lesson 04's model stalled where words were much longer than positions. Your words have length $D$
# (torch's $N(0, 1)$, times $\sqrt{D}$), your positions $\sqrt{D/2}$. Do norms save the encoder? Two
# layers learn lesson 04's task, where guessing gets 0.25 right, a bag of words 0.39. **Predict:**
# which share does your encoder get right, as built?

# %% tags=["skip-grading"]
guess("right, as built", None)  # from 0 to 1


# %% tags=["skip-grading", "measured"]
def right_two_back(redrawn: bool) -> float:
    """Share of the tags that an encoder of two layers names after 300 steps."""
    torch.manual_seed(0)
    encoder = TransformerEncoder(task.VOCABULARY, 32, n_heads=4, n_layers=2, d_ff=64, dropout=0.0)
    if redrawn:
        task.redraw(encoder.embedding, 32**-0.5)
    tagger = nn.Sequential(encoder, nn.Linear(32, task.N_TAGS))
    task.train(tagger, seed=0, steps=300, rate=0.003)
    return task.accuracy(tagger, task.LENGTH)


as_built = right_two_back(redrawn=False)
print(f"right, words redrawn: {right_two_back(redrawn=True):.3g}")
reveal("right, as built", as_built)

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# As built it has learned no order after 300 steps; redrawn from $N(0, 1/D)$, the same words are
# short enough. Lesson 06 redraws its table, too: `nn.init.normal_(table.weight, std=D**-0.5)`, then
# zeros for padding.
# </details>
#
# ## 8. Where the parameters are
#
# The base encoder of the paper has $D = 512$, 8 heads, 6 layers and 2,048 hidden units.
#
# ### Exercise: `predict_feed_forward_share`
# *1 point · difficulty 2 of 5 · 5 minutes*
#
# Take one layer of it: attention with its four linear layers, feed-forward, two norms. Which share
# of its parameters is in the feed-forward? A number between 0 and 1; two digits are enough.

# %% exercise="predict_feed_forward_share"
# BEGIN SOLUTION
attention_size = 4 * (512 * 512 + 512)
feed_forward_size = (512 * 2048 + 2048) + (2048 * 512 + 512)
predict_feed_forward_share = feed_forward_size / (attention_size + feed_forward_size + 4 * 512)
# STUB
# predict_feed_forward_share = None  # a number between 0 and 1
# END SOLUTION

# %% test="predict_feed_forward_share" points=1
check.predict_feed_forward_share(predict_feed_forward_share)
# BEGIN HIDDEN TESTS
check.predict_feed_forward_share(
    predict_feed_forward_share,
    points=1,
    hidden=[],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# Count in squares of $D \times D$. How many are there in attention? How many fit into a matrix from
# $D$ to $4 D$?
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# Four squares in attention, two matrices of four squares each in the feed-forward. Biases and norms
# hardly count.
# </details>
#
# ### Exercise: `count_parameters`
# *1 point · difficulty 2 of 5 · 10 minutes*
#
# Now count, for any encoder. A tensor that several layers share is one tensor: count it once.


# %% exercise="count_parameters"
def count_parameters(encoder: nn.Module) -> dict[str, int]:
    """Count the numbers in an encoder's parameters, frozen or not, each tensor once; no buffers.

    Returns:
        embedding: in encoder.embedding.
        attention: in the self_attention of all layers.
        feed_forward: in the feed_forward of all layers.
        layer_norm: in norm_1 and norm_2 of all layers and in final_norm.
        total: in the whole encoder, learned positions too, which no other entry counts.
    """
    # BEGIN SOLUTION
    layers = encoder.layers
    norms = [norm for layer in layers for norm in (layer.norm_1, layer.norm_2)]
    parts = {
        "embedding": [encoder.embedding],
        "attention": [layer.self_attention for layer in layers],
        "feed_forward": [layer.feed_forward for layer in layers],
        "layer_norm": [*norms, encoder.final_norm],
        "total": [encoder],
    }
    # One list's parameters() gives each tensor once, however many modules share it.
    return {
        name: sum(p.numel() for p in nn.ModuleList(modules).parameters())
        for name, modules in parts.items()
    }
    # END SOLUTION


# %% test="count_parameters" points=1
check.count_parameters(count_parameters)
# BEGIN HIDDEN TESTS
check.count_parameters(
    count_parameters,
    points=1,
    hidden=[
        dict(case="four layers", V=7, D=6, H=2, L=4, F=9),
        dict(
            case="pre-norm, shared",
            demand="shared weights counted once",
            V=9,
            D=8,
            H=4,
            L=2,
            F=6,
            norm_first=True,
            shared=True,
        ),
        dict(
            case="learned positions, pre-norm",
            demand="learned positions in the total alone",
            V=11,
            D=6,
            H=3,
            L=2,
            F=9,
            norm_first=True,
            learned=True,
        ),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# `sum(p.numel() for p in module.parameters())` counts a module, biases and all.
# </details>
# <details><summary>Hint 2: shared tensors</summary>
#
# Within one module, `parameters()` gives each tensor once, even if two parts share it. An
# `nn.ModuleList` of all attentions is one module.
# </details>
#
# Now the whole base encoder, with 10,000 words:

# %% tags=["skip-grading"]
base = TransformerEncoder(10_000)
counts = count_parameters(base)
in_layers = counts["total"] - counts["embedding"]
print(f"{'part':13}{'parameters':>12}{'of all':>9}{'of the layers':>15}")
for part, n in counts.items():
    of_layers = "" if part in ("embedding", "total") else f"{n / in_layers:.1%}"
    print(f"{part:13}{n:12,}{n / counts['total']:9.1%}{of_layers:>15}")
for words in (10_000, 30_000, 100_000):
    share = counts["feed_forward"] / (in_layers + words * 512)
    print(f"feed-forward, share of all with {words:,} words: {share:.1%}")

# %% [markdown]
# The ARENA course says that MLPs (feed-forwards) hold "often around 2/3" of a model's parameters.
# Of the layers alone they do. Of this encoder, embedding included, they hold about half, and with
# 100,000 words less than a fifth. So ask: two thirds of what?
#
# ## 9. A stack that is not one
#
# Somebody stacks six pre-norm layers of the base size and counts their parameters. There should be
# 18,914,304.

# %% tags=["skip-grading"]
stack = buggy.broken_stack(lambda: EncoderLayer(512, 8, 2048, norm_first=True), 6)
print("layers:", len(stack))
print(f"parameters: {sum(p.numel() for p in stack.parameters()):,}")

# %% [markdown]
# Six layers, and a sixth of the parameters. Outputs have the right shape, and nothing complains.
#
# ### Exercise: `repaired_stack`
# *1 point · difficulty 1 of 5 · 4 minutes*
#
# This is the function that built it. Change it so that every layer has weights of its own.


# %% exercise="repaired_stack"
def repaired_stack(make_layer: Callable[[], nn.Module], n_layers: int) -> nn.ModuleList:
    """Stack layers, each with weights of its own: to train one must not change another.

    Args:
        make_layer: called without arguments, makes a new layer.
        n_layers: how many.
    """
    # BEGIN SOLUTION
    return nn.ModuleList([make_layer() for _ in range(n_layers)])
    # STUB
    # return nn.ModuleList([make_layer()] * n_layers)
    # END SOLUTION


# %% test="repaired_stack" points=1
check.repaired_stack(repaired_stack)
# BEGIN HIDDEN TESTS
check.repaired_stack(
    repaired_stack,
    points=1,
    hidden=[dict(case="seven layers", L=7, D=3)],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# How often is `make_layer` called? What does `[x] * 3` hold?
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# A list comprehension, `[... for _ in range(n_layers)]`, works out its first part anew each time.
# </details>
#
# ## 10. Is it the same encoder as torch's?
#
# With the same weights, your encoder and `nn.TransformerEncoder` must give the same output. Names
# and layout differ:
#
# | torch's layer | yours |
# |---|---|
# | `self_attn.in_proj_weight`, `in_proj_bias` | `w_q`, `w_k`, `w_v`, stacked in this order |
# | `self_attn.out_proj` | `w_o` |
# | `linear1`, `linear2` | `linear_1`, `linear_2` |
# | `norm1`, `norm2` | `norm_1`, `norm_2` |
#
# After its layers torch's encoder has `norm`, a LayerNorm or None.
#
# ### Exercise: `load_torch_encoder`
# *2 points · difficulty 3 of 5 · 15 minutes*
#
# Copy the numbers into the parameters that your encoder already has: an optimiser that was made
# before must still train them. Afterwards the two encoders are independent: training one must not
# change the other. If they have different numbers of layers, raise the error before you copy
# anything. torch's encoder has no embedding, so yours keeps its own.


# %% exercise="load_torch_encoder"
def load_torch_encoder(encoder: nn.Module, torch_encoder: nn.Module) -> None:
    """Copy the weights of an nn.TransformerEncoder into the layers and final_norm of `encoder`.

    Args:
        encoder: changed in place; sizes and norm order as torch_encoder's.
        torch_encoder: has `layers` and `norm` (LayerNorm in pre-norm, None in post-norm); left as
            it is.

    Raises:
        ValueError: the two have different numbers of layers.
    """
    # BEGIN SOLUTION
    pairs = list(zip(encoder.layers, torch_encoder.layers, strict=True))
    for layer, theirs in pairs:
        attention, both = layer.self_attention, theirs.self_attn
        weights, biases = both.in_proj_weight.chunk(3), both.in_proj_bias.chunk(3)
        projections = (attention.w_q, attention.w_k, attention.w_v)
        for linear, weight, bias in zip(projections, weights, biases, strict=True):
            linear.load_state_dict({"weight": weight, "bias": bias})
        attention.w_o.load_state_dict(both.out_proj.state_dict())
        layer.feed_forward.linear_1.load_state_dict(theirs.linear1.state_dict())
        layer.feed_forward.linear_2.load_state_dict(theirs.linear2.state_dict())
        layer.norm_1.load_state_dict(theirs.norm1.state_dict())
        layer.norm_2.load_state_dict(theirs.norm2.state_dict())
    if torch_encoder.norm is not None:
        encoder.final_norm.load_state_dict(torch_encoder.norm.state_dict())
    # END SOLUTION


# %% test="load_torch_encoder" points=2
check.load_torch_encoder(load_torch_encoder)
# BEGIN HIDDEN TESTS
check.load_torch_encoder(
    load_torch_encoder,
    points=2,
    hidden=[
        dict(case="one head, four layers", B=2, T=3, D=6, H=1, F=5, L=4),
        dict(
            case="pre-norm with padding",
            B=3,
            T=5,
            D=8,
            H=4,
            F=6,
            L=2,
            norm_first=True,
            mask="padding",
        ),
        dict(case="two layers, as torch makes them", B=3, T=4, D=6, H=1, F=5, L=2, fresh=True),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# `in_proj_weight.chunk(3)` gives the three projections. `linear.load_state_dict({...})` copies
# numbers into a module; so does `parameter.copy_(...)` inside `torch.no_grad()`.
# </details>
# <details><summary>Hint 2: different depths</summary>
#
# `zip(a, b, strict=True)` raises ValueError when one is longer, but only at its end: make a list
# of it first, so that nothing has been copied by then.
# </details>
#
# Now test it in both orders, with and without padding. (torch's mask for padding is True where
# yours is False.)


# %% tags=["skip-grading", "folded"]
# Compare your encoder with torch's in both orders.
def largest_difference(norm_first: bool, padded: bool) -> float:
    torch.manual_seed(1)
    theirs_layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True, norm_first=norm_first)
    norm = nn.LayerNorm(64) if norm_first else None
    # Nested tensors are for post-norm; left on in pre-norm, they bring a warning and nothing else.
    theirs = nn.TransformerEncoder(theirs_layer, 3, norm, enable_nested_tensor=False).eval()
    yours = TransformerEncoder(50, 64, 4, 3, 128, norm_first=norm_first).eval()
    load_torch_encoder(yours, theirs)
    x, real = torch.randn(5, 12, 64), torch.arange(12) < torch.tensor([[12], [3], [7], [1], [9]])
    real = real if padded else torch.ones_like(real)
    difference = yours.encode(x, real.unsqueeze(1)) - theirs(x, src_key_padding_mask=~real)
    return difference[real].abs().max().item()


for norm_first in (False, True):
    for padded in (False, True):
        order, with_padding = (
            "pre-norm" if norm_first else "post-norm",
            "padded" if padded else "full",
        )
        close = largest_difference(norm_first, padded) < 1e-5
        print(f"{order:10} {with_padding:7} largest difference below 1e-5: {close}")
fresh = nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 128, batch_first=True), 2)
first, second = (layer.linear1.weight for layer in fresh.layers)
print("two fresh layers of torch's have equal weights:", torch.equal(first, second))

# %% [markdown]
# Your encoder and torch's give the same output. The last line is a warning: torch makes fresh
# layers as copies of one. Initialise them anew before you train such a stack.
#
# ## 11. How far can a token see?
#
# Set one token's input to zero, and see how much another token's output changes.
#
# ### Exercise: `influence`
# *1 point · difficulty 2 of 5 · 10 minutes*
#
# Measure without dropout, and leave the encoder as you found it.


# %% exercise="influence"
def influence(encoder: nn.Module, ids: Tensor, source: int, target: int) -> float:
    """How much one token's output depends on another token's input.

    Encode the embedded sentence twice, without a mask: as it is, and with row `source` (word and
    position together) set to zero. The result is the 2-norm of the difference in row `target`. In
    eval mode; afterwards the encoder is in the mode that it was in.

    Args:
        encoder: has embed, (1, T) -> (1, T, D), and encode.
        ids: (T,), one sentence without padding.
        source: position of the token that is taken away.
        target: position of the token that is looked at.
    """
    # BEGIN SOLUTION
    was_training = encoder.training
    encoder.eval()
    with torch.no_grad():
        x = encoder.embed(ids.unsqueeze(0))  # (1, T, D)
        without = x.clone()
        without[:, source] = 0.0
        change = encoder.encode(without) - encoder.encode(x)
    encoder.train(was_training)
    return change[0, target].norm().item()
    # END SOLUTION


# %% test="influence" points=1
check.influence(influence)
# BEGIN HIDDEN TESTS
check.influence(
    influence,
    points=1,
    hidden=[
        dict(case="backwards", ids=[4, 2, 7, 7, 1, 3], at=[5, 0], D=8, H=4, F=5, L=3),
        dict(case="one token, one head", ids=[3], at=[0, 0], D=6, H=1, F=5, L=2, train=True),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# `encoder.training` tells the mode. `encoder.embed` wants a batch: `ids.unsqueeze(0)`.
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# Remember the mode; `eval()`; inside `torch.no_grad()` embed, clone, set the row to zero, encode
# both; `train(was_training)`; the norm of the difference at `target`, as `.item()`.
# </details>
#
# **Predict:** in a fresh encoder, how large is the influence of a word 15 places away, as a share
# of a neighbour's?

# %% tags=["skip-grading"]
guess("influence left at distance 15", None)


# %% tags=["skip-grading", "folded"]
# Measure how much each word moves another, by distance.
def encoder_influences(seed: int, length: int = 16) -> Tensor:
    torch.manual_seed(seed)
    encoder = TransformerEncoder(100, 64, 4, 2, 128, dropout=0.0).eval()
    task.redraw(encoder.embedding, 64**-0.5)  # torch's own draw drowns positions: section 7
    ids = torch.randint(2, 100, (length,))
    pairs = [[influence(encoder, ids, s, t) for s in range(length)] for t in range(length)]
    return torch.tensor(pairs)


many = torch.stack([encoder_influences(seed) for seed in range(10)])
distance = (torch.arange(16)[:, None] - torch.arange(16)).abs()
left = (many[:, distance == 15].mean(1) / many[:, distance == 1].mean(1)).mean().item()
reveal("influence left at distance 15", left)

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# In a fresh encoder distance does not count: the mask decides which tokens can reach which.
# </details>
#
# With full attention one layer is enough. If each token sees its neighbours only, how many layers
# does the first token need to know of the last? Think; then choose *neighbours only* below, and
# move the slider.

# %% tags=["skip-grading"]
drawn.reach(["the", "red", "robot", "lost", "the", "key"])

# %% tags=["skip-grading"]
summary()

# %% [markdown]
# ## Recap
#
# - Layer normalisation treats each token by itself. The feed-forward bends; without ReLU its two
#   layers are one.
# - Residuals keep the tokens apart. A missing one shows in gradients, part by part, not in shapes.
# - With twelve layers and a high rate, post-norm needs a warm-up. Pre-norm needs a final norm. -
#   Mask the padding. Before you train, see how long words are beside positions.
# - The feed-forward holds two thirds of a layer's parameters. - Your encoder and torch's give the
#   same output.
#
# What is built so far:

# %% tags=["skip-grading"]
drawn.encoder(5)

# %% [markdown]
# ## Three open questions
#
# 1. Take the norms out of section 3 and measure the gradient at the first input of 32 networks,
#    with residuals and without.
# 2. Train your encoder on lesson 04's task (redrawn, as in section 7), and measure its influence
#    again.
# 3. Take one layer out of a trained encoder, or swap two. Can you spare the first layers or the
#    last?
#
# **Next:** in [lesson 06](../06_training/06_training.ipynb) you train this encoder, yours, on
# real text. [Start page](../Start.md)
#
# **Sources.** A. Vaswani et al., *Attention is all you need*, NeurIPS 2017. J. L. Ba, J. R. Kiros,
# G. E. Hinton, *Layer normalization*, 2016. K. He et al., *Deep residual learning for image
# recognition*, CVPR 2016, section 4.1. R. Xiong et al., *On layer normalization in the Transformer
# architecture*, ICML 2020. Y. Dong, J.-B. Cordonnier, A. Loukas, *Attention is not all you need:
# pure attention loses rank doubly exponentially with depth*, ICML 2021. ARENA, chapter 1.1,
# *Transformer from scratch*.
