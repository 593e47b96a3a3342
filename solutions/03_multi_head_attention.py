# %% [markdown]
# # 03 · Multi-head attention: several looks at once
#
# **What this lesson answers:** why is one attention not enough, how do many of them run in one
# matrix product, what do they cost, and how do you know that yours is right?
#
# **What it needs:** scaled dot-product attention and masks (lesson 02).
#
# <span class="course-chip">**Time:** 95 minutes</span>
# <span class="course-chip">**Points:** 13</span>
#
# Who lost what? To answer, you look at two words of a sentence, and you remember which was which.
# In lesson 02 a word could ask one question only: *lost* asked who did it, *the* asked for its
# noun. Now every word may ask several. You will build an attention that can, look into a trained
# one head by head, and load torch's weights into yours.
#
# New letters: **H** heads, of **Dh** = D / H features each.

# %% tags=["folded"]
# Set up: what this lesson uses. Run it first.
import copy
import time

import torch
from torch import Tensor, nn

from utils import drawn
from utils.checks import check
from utils.notebook.lend import lend
from utils.experiments import buggy, head_bugs
from utils.experiments import lookup_task as lookups
from utils.experiments import topic_task as topics
from utils.experiments.against_torch import against_torch
from utils.experiments.profiling import seconds
from utils.notebook.carry import carry
from utils.progress.guesses import guess, reveal, summary
from utils.plots import heads as pictures

torch.set_num_threads(1)  # small matrices gain nothing from more, and times are steadier

# %% [markdown]
# Your attention of lesson 02 does the looking. If it is not finished yet, the course lends you one.

# %%
scaled_dot_product_attention = carry("02_attention", "scaled_dot_product_attention")

# %% [markdown]
# ## 1. One softmax, two questions
#
# Eight drawers hold one symbol each. A question names two of them, and the answer is what lies in
# the first and in the second, *in that order*. One softmax gives one set of weights, and so one
# mixture of values. Is that enough?
#
# **Predict:** red lies in the first drawer and blue in the second; then they change places. Does
# the mixture change if the query looks at both alike, with weights of 0.5 and 0.5? And with 0.7 and
# 0.3?

# %% tags=["skip-grading"]
guess("the mixture changes, 0.5 and 0.5", None, choices=("yes", "no"))
guess("the mixture changes, 0.7 and 0.3", None, choices=("yes", "no"))

# %%
red, blue = torch.eye(2)
for look in (torch.tensor([0.5, 0.5]), torch.tensor([0.7, 0.3])):
    first, second = look @ torch.stack([red, blue]), look @ torch.stack([blue, red])
    shares = " and ".join(f"{share:.1f}" for share in look.tolist())
    print(f"{shares}: red then blue gives", first)
    print(f"{shares}: blue then red gives", second)
    answer = "no" if torch.equal(first, second) else "yes"
    reveal(f"the mixture changes, {shares}", answer)

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# With equal weights the mixture tells you *which* symbols are there, but not *where*. With uneven
# weights the order is in the numbers; section 6 will tell whether a *linear* layer can read it. So
# look twice, with two sets of weights, and keep the results apart: that is all that "multi-head"
# means.
# </details>
#
# ## 2. Heads as a list of small attentions
#
# The plainest way is a list. Each head has three small matrices of its own, (Dh, D), and attends by
# itself; what the heads find stands side by side.


# %% tags=["skip-grading"]
def attend_one_by_one(x: Tensor, heads: list[tuple[Tensor, Tensor, Tensor]]) -> Tensor:
    """Run heads as a list of small attentions, (B, T, D) -> (B, T, D)."""
    found = [
        scaled_dot_product_attention(x @ w_q.T, x @ w_k.T, x @ w_v.T)[0]  # (B, T, Dh)
        for w_q, w_k, w_v in heads
    ]
    return torch.cat(found, -1)


torch.manual_seed(0)
small_heads = [tuple(torch.randn(3, 12) / 12**0.5 for _ in range(3)) for _ in range(4)]
x = torch.randn(2, 5, 12)
print(tuple(attend_one_by_one(x, small_heads).shape))

# %% [markdown]
# **Every head sees the whole word:** each row of its matrices weighs all 12 features. Only what it
# makes of them is small. Four heads make twelve small products where three would do: stack the four
# query matrices into one, (D, D), and do the same for keys and values.
#
# ### Exercise: `fuse_heads`
# *1 point · difficulty 2 of 5 · 6 minutes*
#
# Make the three fused matrices, so that a projection gives head 0's features first, then those of
# head 1, and so on, exactly as the heads' own matrices gave them.


# %% exercise="fuse_heads"
def fuse_heads(heads: list[tuple[Tensor, Tensor, Tensor]]) -> tuple[Tensor, Tensor, Tensor]:
    """Join the matrices of H heads, so that x @ w.T holds all heads side by side.

    Args:
        heads: one triple (w_q, w_k, w_v) for each head, each matrix (Dh, D) as in nn.Linear.

    Returns:
        w_q, w_k, w_v, each (D, D) and of the heads' dtype.
    """
    # BEGIN SOLUTION
    queries, keys, values = zip(*heads, strict=True)
    return torch.cat(queries), torch.cat(keys), torch.cat(values)
    # END SOLUTION


# %% test="fuse_heads" points=1
check.fuse_heads(fuse_heads)
# BEGIN HIDDEN TESTS
check.fuse_heads(
    fuse_heads,
    points=1,
    hidden=[
        dict(case="three heads", H=3, Dh=2),
        dict(case="heads of one feature", H=4, Dh=1),
        dict(case="two heads in float64", demand="float64", H=2, Dh=5, dtype="float64"),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# `nn.Linear` keeps one row for each output. The first Dh outputs are head 0's.
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# Sort the triples into three lists (`zip(*heads)` does), then `torch.cat` each along axis 0.
# </details>
#
# ## 3. Cutting features into heads
#
# The fused projection puts all heads of a word side by side. Cut its D features into H slices of
# Dh. Head $h$ gets slice $h$ of *all* words: a small sequence of its own.
#
# $$x \in \mathbb{R}^{B \times T \times D} \;\longrightarrow\;
# \text{heads} \in \mathbb{R}^{B \times H \times T \times D_h}, \qquad
# \text{heads}_{b,h,t,i} = x_{b,\,t,\,h D_h + i}$$
#
# Here is a sentence whose cells carry labels: token 2, feature 5 is 25. We want two heads of three
# features.
#
# **Predict:** `x.view(1, 2, 4, 3)` has the right shape, (B, H, T, Dh). How many of the four tokens
# have numbers in its first head?

# %% tags=["skip-grading"]
guess("tokens in the first head of a view", None)  # how many of the four

# %% tags=["skip-grading"]
tokens = torch.arange(4) * 10
x = (tokens[:, None] + torch.arange(6))[None]  # (1, 4, 6)
wanted = torch.stack([x[0, :, :3], x[0, :, 3:]])
pictures.cut_cells(x[0], {"wanted": wanted, "view": x.view(1, 2, 4, 3)[0]})
inside = (x.view(1, 2, 4, 3)[0, 0] // 10).unique().tolist()
reveal("tokens in the first head of a view", len(inside))

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# `view` moves nothing. It reads the same row of numbers (0, 1, … 5, 10, 11, …) with other line
# breaks, so the first head gets all about two tokens and nothing about the others. And nothing
# crashes.
# </details>
#
# ### Exercise: `split_heads`
# *1 point · difficulty 2 of 5 · 6 minutes*
#
# Cut features into heads, so that each head sees its slice of every token.


# %% exercise="split_heads"
def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """Cut features into heads: heads[b, h, t, i] = x[b, t, h * Dh + i].

    Args:
        x: (B, T, D).
        n_heads: H, a divisor of D.

    Returns:
        (B, H, T, Dh) with Dh = D / H.
    """
    # BEGIN SOLUTION
    size, length, d_model = x.shape
    cut = x.view(size, length, n_heads, d_model // n_heads)  # (B, T, H, Dh)
    return cut.transpose(1, 2)
    # END SOLUTION


# %% test="split_heads" points=1
check.split_heads(split_heads)
# BEGIN HIDDEN TESTS
check.split_heads(
    split_heads,
    points=1,
    hidden=[
        dict(case="one token", B=2, T=1, H=3, Dh=4),
        dict(case="longer sentences", B=3, T=9, H=4, Dh=2),
        dict(
            case="a transposed tensor",
            demand="any order in memory",
            B=2,
            T=5,
            H=3,
            Dh=4,
            turned=True,
        ),
        dict(case="one head in float64", demand="float64", B=4, T=5, H=1, Dh=7, dtype="float64"),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# The features of one token lie side by side. Cutting that one axis in two is safe; it is the
# order of the axes afterwards that has to change.
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# First (B, T, D) → (B, T, H, Dh) with `view`, then swap T and H with `transpose`.
# </details>
#
# ### Exercise: `merge_heads`
# *1 point · difficulty 2 of 5 · 5 minutes*
#
# The way back: put what the heads found for one token side by side again.


# %% exercise="merge_heads"
def merge_heads(x: Tensor) -> Tensor:
    """Join heads: merged[b, t, h * Dh + i] = x[b, h, t, i]; undoes split_heads.

    Args:
        x: (B, H, T, Dh).

    Returns:
        (B, T, D) with D = H * Dh.
    """
    # BEGIN SOLUTION
    size, n_heads, length, d_head = x.shape
    side_by_side = x.transpose(1, 2)  # (B, T, H, Dh)
    return side_by_side.reshape(size, length, n_heads * d_head)
    # END SOLUTION


# %% test="merge_heads" points=1
check.merge_heads(merge_heads)
# BEGIN HIDDEN TESTS
check.merge_heads(
    merge_heads,
    points=1,
    hidden=[
        dict(case="one token", B=2, T=1, H=3, Dh=4),
        dict(case="longer sentences", B=3, T=9, H=4, Dh=2),
        dict(case="one head in float64", demand="float64", B=4, T=5, H=1, Dh=7, dtype="float64"),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# Do the steps of `split_heads` backwards, the last one first.
# </details>
# <details><summary>Hint 2: when view refuses</summary>
#
# `transpose` does not move numbers either: it notes that they are to be read in another order.
# `view` cannot join axes that are read like that. `reshape` copies where it must.
# </details>
# <details><summary>Hint 3: almost the answer</summary>
#
# Swap H and T, then `reshape(B, T, H * Dh)`.
# </details>
#
# ### Many small attentions, or one large one
#
# A list of heads and a fused projection that you cut must give the same numbers. **Predict:** does
# *one large attention* with the very same matrices, without cutting, give them too?

# %% tags=["skip-grading"]
guess("one large attention gives", None, choices=("the same", "something else"))

# %% tags=["skip-grading"]
torch.manual_seed(0)
x = torch.randn(2, 5, 12)
w_q, w_k, w_v = fuse_heads(small_heads)
q, k, v = (x @ w.T for w in (w_q, w_k, w_v))
cut = [split_heads(projected, 4) for projected in (q, k, v)]
fused = merge_heads(scaled_dot_product_attention(*cut)[0])
large = scaled_dot_product_attention(q, k, v)[0]
listed = attend_one_by_one(x, small_heads)
print(f"list of heads against one fused projection: {(listed - fused).abs().max():.2f}")
print(f"list of heads against one large attention:  {(listed - large).abs().max():.2f}")
found = "the same" if torch.allclose(listed, large, atol=1e-5) else "something else"
reveal("one large attention gives", found)

scores = [a @ b.transpose(-2, -1) for a, b in zip(cut[0].unbind(1), cut[1].unbind(1), strict=True)]
difference = (q @ k.transpose(-2, -1) - sum(scores)).abs().max()
print(f"scores of the large one against the sum of the heads' scores: {difference:.2f}")

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# Before the root divides them, the large attention's scores are the *sum* of the heads' scores, as
# the last line shows. It adds up what every head would look for, and looks once.
# </details>
#
# ## 4. The whole block
#
# The block is four linear layers ($w_q$, $w_k$, $w_v$, $w_o$) and one attention. In it $q_h$, $k_h$
# and $v_h$ are the slices of head $h$. Heads are one more leading axis, so the attention of lesson
# 02 handles all of them at once:
#
# $$\text{head}_h = \text{softmax}\!\left(\frac{q_h k_h^\top}{\sqrt{D_h}}\right) v_h, \qquad
# \text{output} = w_o\big(\text{head}_0 \,\|\, \dots \,\|\, \text{head}_{H-1}\big)$$
#
# ($\|$ puts vectors side by side.) In self-attention query, key and value are one sentence. In
# **cross-attention** keys and values come from *another* (S need not be T).
#
# In training, **dropout** sets a random share $p$ of some numbers to zero and multiplies the others
# by $1 / (1 - p)$, so that a model cannot lean on any single one. In eval mode it does nothing.

# %% tags=["skip-grading"]
drawn.way("heads")

# %% [markdown]
# ### Exercise: `MultiHeadAttention`
# *5 points · difficulty 4 of 5 · 20 minutes*
#
# Build the block of the picture with your functions; torch's own attentions are off limits. Then
# see to four details:
#
# - train four layers, and nothing else;
# - all heads share one mask, which has no axis for them;
# - in train mode `nn.Dropout` acts on the weights before they meet the values; but return the
#   weights as they were, with nothing dropped (so you need your attention's weights, not its
#   output);
# - if H does not divide D, `__init__` raises a `ValueError` that names both numbers.
#
# For grading, right functions stand in for yours.


# %% exercise="MultiHeadAttention"
class MultiHeadAttention(nn.Module):
    """Attention in H heads at once.

    Args:
        d_model: D.
        n_heads: H.
        dropout: share of the weights that is set to zero in train mode.
        bias: whether the four linear layers have one.

    Attributes:
        w_q, w_k, w_v, w_o: nn.Linear, D to D.

    Raises:
        ValueError: D is not divisible by H (in `__init__`); the message names both numbers.
    """

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0, bias: bool = True) -> None:
        super().__init__()
        # BEGIN SOLUTION
        if d_model % n_heads:
            raise ValueError(f"d_model = {d_model} is not divisible by n_heads = {n_heads}")
        self.n_heads = n_heads
        self.w_q = nn.Linear(d_model, d_model, bias=bias)
        self.w_k = nn.Linear(d_model, d_model, bias=bias)
        self.w_v = nn.Linear(d_model, d_model, bias=bias)
        self.w_o = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)
        # END SOLUTION

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Look with every query at all keys, in every head.

        Args:
            query: (B, T, D).
            key: (B, S, D).
            value: (B, S, D).
            mask: (B, T, S), (B, 1, S) or (1, T, S), True where a query may look; shared by heads.

        Returns:
            output (B, T, D); a query that may look nowhere finds zeros, and w_o acts on them too;
            weights (B, H, T, S), as they were before dropout; they may be detached.
        """
        # BEGIN SOLUTION
        q = split_heads(self.w_q(query), self.n_heads)  # (B, H, T, Dh)
        k = split_heads(self.w_k(key), self.n_heads)  # (B, H, S, Dh)
        v = split_heads(self.w_v(value), self.n_heads)
        shared = None if mask is None else mask.unsqueeze(1)  # an axis of size one for heads
        # Weights alone: dropout comes before the values, so no column of v goes in here.
        _, weights = scaled_dot_product_attention(q, k, v[..., :0], shared)  # (B, H, T, S)
        found = self.dropout(weights) @ v  # (B, H, T, Dh)
        return self.w_o(merge_heads(found)), weights
        # END SOLUTION


# %% test="MultiHeadAttention" points=5
check.MultiHeadAttention(MultiHeadAttention)
# BEGIN HIDDEN TESTS
check.MultiHeadAttention(
    MultiHeadAttention,
    points=5,
    hidden=[
        dict(case="one query, one key, one head", B=1, T=1, S=1, H=1, Dh=3),
        dict(case="other sizes, padding", B=2, T=6, S=5, H=4, Dh=3, mask="padding"),
        dict(case="its own mask for each query", B=4, T=3, S=6, H=2, Dh=5, mask="random"),
        dict(
            case="a second call, with another mask",
            B=3,
            T=4,
            S=5,
            H=2,
            Dh=6,
            mask="random",
            earlier="causal",
        ),
        dict(case="a sentence alone", B=4, T=7, H=3, Dh=2, mask="padding"),
        dict(case="self-attention, its own mask", B=4, T=6, H=2, Dh=5, mask="random"),
        dict(
            case="an empty row in float64",
            demand="a row with nothing allowed",
            B=2,
            T=5,
            S=6,
            H=3,
            Dh=4,
            mask="empty",
            dtype="float64",
        ),
        dict(
            case="15 features for 6 heads", demand="ValueError for sizes that do not fit", D=15, H=6
        ),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# In `forward`: project, split, attend, merge, project. Which axis does the mask lack once there
# are heads?
# </details>
# <details><summary>Hint 2: dropout</summary>
#
# `scaled_dot_product_attention` returns the weights too. Take them, put them through an
# `nn.Dropout` that you made in `__init__`, and multiply with the values yourself.
# </details>
# <details><summary>Hint 3: almost the answer</summary>
#
# `q = split_heads(self.w_q(query), n_heads)`, and k and v likewise. `mask.unsqueeze(1)` where
# there is a mask. Weights from `scaled_dot_product_attention(q, k, v, mask)`. Then
# `self.w_o(merge_heads(self.dropout(weights) @ v))`.
# </details>
#
# ### The shape of the weights
#
# Count your weights for 2 sentences of 10 tokens, D = 64 and 8 heads:

# %% tags=["skip-grading", "folded"]
# Count the weights of one block.
torch.manual_seed(0)
x = torch.randn(2, 10, 64)
weights = MultiHeadAttention(64, 8)(x, x, x)[1]
print(f"shape {tuple(weights.shape)}: {weights.numel():,} numbers")
print(f"(B, D, T, T) would be {2 * 64 * 10 * 10:,}")

# %% [markdown]
# The second axis is H: every head has its own (T, S) table.
#
# ## 5. What do several heads cost?
#
# ### Exercise: `predict_parameters_8_heads`
# *1 point · difficulty 1 of 5 · 2 minutes*
#
# **Predict**, before you count: take attention with D = 512 and biases. How many parameters does
# `MultiHeadAttention(512, 8)` have?

# %% exercise="predict_parameters_8_heads"
# How many numbers does MultiHeadAttention(512, 8) train, biases included?
# BEGIN SOLUTION
predict_parameters_8_heads = 4 * (512 * 512 + 512)
# STUB
# predict_parameters_8_heads = None
# END SOLUTION

# %% test="predict_parameters_8_heads" points=1
check.predict_parameters_8_heads(predict_parameters_8_heads)
# BEGIN HIDDEN TESTS
check.predict_parameters_8_heads(
    predict_parameters_8_heads,
    points=1,
    hidden=[],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint</summary>
#
# How many `nn.Linear` are there, and how many numbers does each hold? A layer from D to D has
# a matrix and one bias for each output.
# </details>
#
# ### Exercise: `predict_parameters_16_heads`
# *1 point · difficulty 1 of 5 · 1 minute*
#
# And `MultiHeadAttention(512, 16)`?

# %% exercise="predict_parameters_16_heads"
# How many numbers does MultiHeadAttention(512, 16) train, biases included?
# BEGIN SOLUTION
predict_parameters_16_heads = 4 * (512 * 512 + 512)
# STUB
# predict_parameters_16_heads = None
# END SOLUTION

# %% test="predict_parameters_16_heads" points=1
check.predict_parameters_16_heads(predict_parameters_16_heads)
# BEGIN HIDDEN TESTS
check.predict_parameters_16_heads(
    predict_parameters_16_heads,
    points=1,
    hidden=[],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint</summary>
#
# Twice as many heads, each half as wide. Does any of the four layers change its size?
# </details>
#
# ### Parameters, time and memory
#
# What grows with the number of heads? Count at D = 64, then run four sentences of 256 words through
# the block at D = 256.


# %% tags=["skip-grading", "folded"]
# Count parameters for several numbers of heads.
def count(*modules: nn.Module) -> int:
    return sum(p.numel() for module in modules for p in module.parameters())


torch.manual_seed(0)
for n_heads in (1, 4, 8, 16):
    print(
        f"{n_heads:2} heads of {64 // n_heads:2} features: "
        f"{count(MultiHeadAttention(64, n_heads)):,} parameters"
    )
one = MultiHeadAttention(64, 1)
three = count(one.w_q, one.w_k, one.w_v)
print(f"w_q, w_k and w_v of one head: {three:,}")
print(f"the share of w_o: {1 - three / count(one):.0%}")

# %% tags=["skip-grading", "measured", "folded"]
# Measure time and memory for several numbers of heads.
HEADS = (1, 4, 16, 64)
torch.manual_seed(0)
x = torch.randn(4, 256, 256)
with torch.no_grad():
    blocks = {n_heads: MultiHeadAttention(256, n_heads).eval() for n_heads in HEADS}
    times = [1000 * seconds(b, x, x, x, clock=time.process_time) for b in blocks.values()]
    tables = [block(x, x, x)[1].nbytes / 2**20 for block in blocks.values()]
pictures.cost_of_heads(HEADS, times, tables)

# %% [markdown]
# More heads take no more parameters, and `w_o` holds a quarter of them. They take no more
# multiplications either, because Dh shrinks as H grows. But each head fills a (T, S) table: memory
# grows in step with H, and so does time, once the tables outweigh the products.
#
# ### What is `w_o` for?
#
# Could $w_v$ do its work? Put $w_o w_v$ in place of $w_v$, and the identity in place of $w_o$.
# **Predict:** does the output stay the same with one head? With four?

# %% tags=["skip-grading"]
guess("the same without w_o", None, choices=("with 1 head", "with 4", "with both", "with none"))

# %% tags=["skip-grading", "folded"]
# Leave out w_o with one head and with four.
torch.manual_seed(0)
x, same = torch.randn(2, 5, 12), []
for n_heads in (1, 4):
    block = MultiHeadAttention(12, n_heads, bias=False)
    folded = copy.deepcopy(block)
    with torch.no_grad():
        folded.w_v.weight.copy_(block.w_o.weight @ block.w_v.weight)
        folded.w_o.weight.copy_(torch.eye(12))
    gap = (block(x, x, x)[0] - folded(x, x, x)[0]).abs().max()
    same += [n_heads] if gap < 1e-5 else []
    print(f"heads: {n_heads}   the output changes by up to {gap:.2f}")
kinds = {(1,): "with 1 head", (4,): "with 4", (1, 4): "with both", (): "with none"}
reveal("the same without w_o", kinds[tuple(same)])
for title, w in {"with w_o": block.w_o.weight, "without w_o": torch.eye(12)}.items():
    written = [int((part.norm(dim=1) > 0).sum()) for part in w.detach().split(3, 1)]
    print(f"{title}: the four heads write into", ", ".join(map(str, written)), "features")

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# With one head, $w_o$ may multiply the average or each single value: it makes no difference, so it
# can be part of $w_v$. With four heads, $w_o$ mixes four different averages, and no $w_v$ does
# that. With `w_o`, every head can write into every feature.
# </details>
#
# ## 6. One head against several
#
# Back to the drawers, now with your attention and D = 32. Four tables hold learned vectors,
# **embeddings**: of a drawer's number, of its symbol, of the first and of the second number asked.
# Drawer 3 with red in it is number[3] + symbol[red]; the question "3 then 5" is first[3] +
# second[5]. A linear layer reads both symbols from the output. Five models learn to answer: with 1,
# 2 and 8 heads; with one head and a hidden layer *behind* it; and with two heads and `w_o` fixed to
# the identity.
#
# **Predict:** how often will one head, with a linear layer, get both symbols right? (There are six
# symbols: guessing gets one right in 17%, and both in 3%.)

# %% tags=["skip-grading"]
guess("both right, 1 head", None)  # a share from 0 to 1, the median of five runs


# %% tags=["skip-grading", "measured"]
def trained(seed: int, n_heads: int, hidden: int = 0, mixing: bool = True) -> lookups.LookupModel:
    torch.manual_seed(seed)
    attention = MultiHeadAttention(32, n_heads)
    if not mixing:
        attention.w_o.requires_grad_(requires_grad=False)
        attention.w_o.weight.copy_(torch.eye(32))
        attention.w_o.bias.zero_()
    model = lookups.LookupModel(attention, hidden=hidden)
    lookups.train_lookups(model, seed)
    return model.eval()


unseen = lookups.lookup_batch(500, seed=99)
SETTINGS = {
    "1 head": (1,),
    "2 heads": (2,),
    "8 heads": (8,),
    "1 head + hidden": (1, 64),
    "2 heads, no w_o": (2, 0, False),
}
models = {name: [trained(seed, *how) for seed in range(5)] for name, how in SETTINGS.items()}
results = {
    name: torch.tensor([lookups.lookup_accuracy(model, unseen) for model in five])
    for name, five in models.items()
}
pictures.right_answers(results, chance=1 / lookups.N_SYMBOLS)
both = {name: found[:, 2].median().item() for name, found in results.items()}
reveal("both right, 1 head", both["1 head"])
print(f"with a hidden layer behind it: {both['1 head + hidden']:.3g}")

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# In each run one head gets one of the two symbols right. Two heads get everything right with no
# more parameters, and so do eight, with only four features each. Without `w_o` nothing is lost
# here: a linear layer comes right after.
#
# No training helps a head whose weights depend on the question alone. Say that it always puts 0.6
# on one drawer and 0.4 on the other, whatever lies inside. A linear layer can name the symbol in
# the drawer with 0.6. But no linear layer names the one in the drawer with 0.4 without errors.
# </details>
#
# <details><summary>Why none does</summary>
#
# Let the two drawers have weights $a > b$, and let symbol $s$, at weight 1, add $L_{sc}$ to the
# logit of answer $c$. The symbol of the drawer with weight $b$ is wanted. With $x$ in the first
# drawer and $y$ in the second, the logit of $y$ must be larger than that of $x$; with $x$ and $y$
# the other way round, smaller. Add the two conditions: what is the same in both (biases, the other
# drawers) cancels, and $(a - b)\,(L_{xy} + L_{yx} - L_{xx} - L_{yy}) > 0$ is left. So $L_{xy} +
# L_{yx} > L_{xx} + L_{yy}$. Now put $x$ into both drawers, then $y$ into both. This gives $(a +
# b)\,(L_{xx} + L_{yy} - L_{xy} - L_{yx}) > 0$, the opposite. So of these four fillings, at least
# one is read wrongly, whatever the two symbols are.
# </details>
#
# With a hidden layer behind it, one head *can* answer both, though not every run finds out how.
# Where does it look?

# %% tags=["skip-grading", "measured", "folded"]
# Draw where each head looks.
question = lookups.lookup_batch(1, seed=4)
first, second = question.asked[0].unbind(-1)
names = [f"{a} then {b}" for a, b in zip(first.tolist(), second.tolist(), strict=True)]
best = {name: models[name][results[name][:, 2].argmax()] for name in results}  # of five
panels = {
    "1 head, run 0": (models["1 head"][0], 0),
    "1 head, run 1": (models["1 head"][1], 0),
    "1 head + hidden": (best["1 head + hidden"], 0),
    "2 heads: head 0": (best["2 heads"], 0),
    "2 heads: head 1": (best["2 heads"], 1),
}
maps = {title: model(question)[1].detach()[0, h] for title, (model, h) in panels.items()}
drawn.heads(maps, names, [f"drawer {i}" for i in range(8)])

# %% tags=["skip-grading", "measured", "folded"]
# Print how sure the looks are.
seen = panels["1 head + hidden"][0](question)[1].detach()[0, 0]
print(f"1 head + hidden: largest weight {seen.amax(1).mean():.2f}, mean of the four questions")
for run, model in enumerate(models["1 head"]):
    on = model(unseen)[1].gather(-1, unseen.asked[:, None]).mean((0, 1, 2)).tolist()
    print(f"1 head, run {run}: {on[0]:.2f} on the first drawer, {on[1]:.2f} on the second")

# %% [markdown]
# One head alone looks more at the drawer whose symbol it gets right. With a hidden layer it looks
# at one *clearly more* than at the other: it seems that the weights tell which was asked first, and
# a layer that is not linear can read that. Two heads need no such code: each looks *sharply* at one
# drawer.
#
# ## 7. Switching heads off
#
# A head reaches the output only through its own Dh columns of `w_o`. Set them to zero, and the head
# is gone. **Predict:** a model with two heads loses one. What share is still right of the symbol
# that suffers most?

# %% tags=["skip-grading"]
# the lower of the two shares, with each head switched off in turn
guess("worst symbol, one of 2 heads off", None)


# %% tags=["skip-grading", "measured", "folded"]
# Switch off one head after the other.
def without_head(
    model: lookups.LookupModel,
    head: int,
    n_heads: int,
) -> lookups.LookupModel:
    """Copy a model and switch one of its heads off."""
    changed, size = copy.deepcopy(model), 32 // n_heads
    with torch.no_grad():
        changed.attention.w_o.weight[:, head * size : (head + 1) * size] = 0
    return changed


shares = {}
for n_heads in (2, 8):
    model = best[f"{n_heads} heads"]
    versions = [model, *(without_head(model, h, n_heads) for h in range(n_heads))]
    right = [lookups.lookup_accuracy(version, unseen)[:2] for version in versions]
    shares[f"{n_heads} heads"] = torch.tensor(right)  # (1 + H, 2)
pictures.heads_off(shares)
worst = {name: right[1:].min().item() for name, right in shares.items()}
reveal("worst symbol, one of 2 heads off", worst["2 heads"])
print(f"worst symbol, one of 8 heads off: {worst['8 heads']:.3g}")

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# These are the best of five runs. Two heads divide the work cleanly: without the head that carries
# it, a look-up falls to chance. Of eight, hardly any single head is needed. In trained translation
# models, too, many heads can go at little cost (Michel et al., Voita et al.).
# </details>
#
# ## 8. Is it the attention that everyone else uses?
#
# With the same weights, your block and torch's `nn.MultiheadAttention` must give the same output.
# torch keeps the three input projections in one matrix, `in_proj_weight` (3 D, D): the rows of the
# queries first, then the keys, then the values; `in_proj_bias` (3 D,) likewise. The output
# projection is `out_proj`, an `nn.Linear`. Without bias, `in_proj_bias` and `out_proj.bias` are
# `None`.
#
# ### Exercise: `load_torch_attention`
# *2 points · difficulty 3 of 5 · 10 minutes*
#
# Copy the weights. The two modules must stay independent: what happens to one later does not happen
# to the other, and you can still train yours.


# %% exercise="load_torch_attention"
def load_torch_attention(mha: nn.Module, torch_mha: nn.MultiheadAttention) -> None:
    """Copy torch's weights into ours, so that both give the same output.

    Args:
        mha: is changed in place: the numbers in w_q, w_k, w_v and w_o, and nothing else.
            Write into its parameters, and do not replace them: an optimiser may hold them already.
        torch_mha: with the same D, H and bias; stays as it is.
    """
    # BEGIN SOLUTION
    layers = (mha.w_q, mha.w_k, mha.w_v)
    with torch.no_grad():
        for layer, weight in zip(layers, torch_mha.in_proj_weight.chunk(3), strict=True):
            layer.weight.copy_(weight)
        mha.w_o.weight.copy_(torch_mha.out_proj.weight)
        if torch_mha.in_proj_bias is None:
            return
        for layer, bias in zip(layers, torch_mha.in_proj_bias.chunk(3), strict=True):
            layer.bias.copy_(bias)
        mha.w_o.bias.copy_(torch_mha.out_proj.bias)
    # END SOLUTION


# %% test="load_torch_attention" points=2
check.load_torch_attention(load_torch_attention)
# BEGIN HIDDEN TESTS
check.load_torch_attention(
    load_torch_attention,
    points=2,
    hidden=[
        dict(case="one head", H=1, Dh=5),
        dict(case="several heads, as torch makes them", H=3, Dh=5, fresh=True),
        dict(case="four heads without bias", demand="a module without bias", H=4, Dh=3, bias=False),
        dict(
            case="without bias in float64",
            demand="a module without bias",
            H=2,
            Dh=5,
            bias=False,
            dtype="float64",
        ),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# `x = y` makes a second name for the same tensor. To write numbers into a parameter, use
# `parameter.copy_(...)` under `torch.no_grad()`.
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# `torch_mha.in_proj_weight.chunk(3)` gives the three parts in the order q, k, v. Copy each into
# its layer, `out_proj.weight` into `w_o.weight`, and the biases in the same way if there are any.
# </details>
#
# ### Yours against torch's
#
# Beware: torch's `key_padding_mask` is **inverted**. There, `True` means "is padding, ignore"; in
# this course, and in torch's own `F.scaled_dot_product_attention`, `True` means "may be attended
# to". A boolean `attn_mask` of `nn.MultiheadAttention` is inverted as well.

# %% tags=["skip-grading", "folded"]
# Compare your block with torch's, in four sizes.
for d_model, n_heads in ((12, 3), (64, 8), (10, 1), (48, 6)):
    torch.manual_seed(n_heads)
    theirs = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
    ours = MultiHeadAttention(d_model, n_heads)
    load_torch_attention(ours, theirs)
    gaps = against_torch(ours, theirs, batch=3, length=7)  # on padded sentences
    same = ", ".join(f"{name} {gap < 1e-5}" for name, gap in gaps.items())
    print(f"{n_heads} heads of {d_model // n_heads:2}, the same up to 1e-5: {same}")

# %% [markdown]
# Where it says False, the checks above say which piece is not right yet.
#
# ## 9. A law that needs no right answers
#
# What if you have nothing to compare with? Then try a law (an **invariant**): a sentence alone and
# the same sentence in a padded batch must give the same logits, up to rounding.
#
# Here is a task to try it on: a sentence begins with one of four topic words, and one word in five
# gets a tag that depends on the topic. Your attention learns it, and so do three with a fault:
#
# - heads cut by `view` alone, as in section 3's picture, and joined the same way;
# - softmax over the queries in place of the keys;
# - the mask accepted and ignored.
#
# **Predict:** how many of the three faults break the law?

# %% tags=["skip-grading"]
guess("faults that break the law", None)


# %% tags=["skip-grading", "measured"]
def tagger(seed: int, fault: str) -> topics.TopicTagger:
    torch.manual_seed(seed)
    attention = MultiHeadAttention(32, 4)
    if fault != "none":
        attention = buggy.FaultyAttention(attention, 4, fault)
    model = topics.TopicTagger(attention)
    topics.train_tagger(model, seed)
    return model.eval()


FAULTS = {
    "right": "none",
    "heads cut by view": "heads",
    "softmax over queries": "axis",
    "mask ignored": "mask",
}
held_out, few = topics.topic_batch(500, seed=99), topics.topic_batch(40, seed=98)
accuracy, change = {}, {}
for label, fault in FAULTS.items():
    taggers = [tagger(seed, fault) for seed in range(3)]
    accuracy[label] = [topics.tagging_accuracy(model, held_out)[0] for model in taggers]
    change[label] = [topics.change_by_padding(model, few) for model in taggers]
pictures.score_and_law(accuracy, change)

# %% tags=["skip-grading", "measured"]
faults = [name for name in FAULTS if name != "right"]
low = sum(max(accuracy[name]) < min(accuracy["right"]) - 0.02 for name in faults)
broken = sum(min(change[name]) > 1e-4 for name in faults)
print("more than two points of accuracy below the right one:", low)
reveal("faults that break the law", broken)

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# The law shows all three at once. Accuracy shows one: with the heads cut by `view`, a word sees
# only its own quarter of the padded row, and the topic word stands in the first. Even its 90% look
# fine if you do not know that 100% was possible.
# </details>
#
# ## 10. A bug that no shape shows
#
# Somebody's split gives the right shapes, and for one sentence the right numbers. Now two
# sentences, *a* and *b*, go through attention in three heads. For each row of the tables we change
# one thing: the queries, keys or mask of *a* or of *b*. A cell is blue if this moves the weights of
# *a* in that head.

# %% tags=["skip-grading", "folded"]
# Show what moves the weights of a, with the right split and with theirs.
moving = {"right": head_bugs.moves(), "theirs": head_bugs.moves(buggy.broken_split_heads)}
pictures.what_moves(moving, head_bugs.CHANGED)

# %% [markdown]
# In their table *b* moves the weights of *a*: pieces of another sentence got in.
#
# ### Exercise: `repaired_split_heads`
# *1 point · difficulty 2 of 5 · 6 minutes*
#
# Below is their split. First say to yourself in which order its pieces lie after `cat`; then repair
# it.


# %% exercise="repaired_split_heads"
def repaired_split_heads(x: Tensor, n_heads: int) -> Tensor:
    """Cut features into heads: (B, T, D) -> (B, H, T, Dh)."""
    # BEGIN SOLUTION
    return torch.stack(x.chunk(n_heads, -1), 1)
    # STUB
    # size, length, d_model = x.shape
    # pieces = torch.cat(x.chunk(n_heads, -1))
    # return pieces.view(size, n_heads, length, d_model // n_heads)
    # END SOLUTION


# %% test="repaired_split_heads" points=1
check.repaired_split_heads(repaired_split_heads)
# BEGIN HIDDEN TESTS
check.repaired_split_heads(
    repaired_split_heads,
    points=1,
    hidden=[
        dict(case="longer sentences", B=2, T=7, H=4, Dh=3),
        dict(case="as many heads as features", B=3, T=2, H=6, Dh=1),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# `cat` along axis 0 puts head 0 of all sentences first, then head 1 of all sentences: (H B, T, Dh).
# The `view` reads them in another order.
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# Give the heads an axis of their own, behind the batch: `torch.stack(pieces, 1)`. Or cut as your
# `split_heads` does.
# </details>
#
# Now nothing of sentence *b* may move the weights of *a*.

# %% tags=["skip-grading"]
same = torch.equal(head_bugs.moves(), head_bugs.moves(repaired_split_heads))
print("your table is the right one:", same)

# %% tags=["skip-grading"]
summary()

# %% [markdown]
# ## Recap
#
# - One softmax makes one mixture. Heads look several times, and keep what they saw apart.
# - Heads are slices of every token's *projected* features: `view`, then `transpose`. - More heads
#   cost no parameters, but a (T, S) table each, and with it time, and memory unless a fused kernel
#   saves it.
# - `w_o` lets every head write into every feature.
# - torch's `key_padding_mask` is True where ours is False.
# - High accuracy does not prove attention right. A broken law proves it wrong.
#
# What is built so far:

# %% tags=["skip-grading"]
drawn.encoder(3)

# %% [markdown]
# ## Three open questions
#
# 1. Of eight heads hardly any single one was needed. How many can go together, before an answer is
#    lost? Does it matter which?
# 2. One head with a hidden layer failed in one run of five. Does it fail less often with more
#    hidden units, more steps, or another learning rate?
# 3. Ask for *three* drawers (the task is in `utils/experiments/lookup_task.py`). Do two heads
#    manage?
#
# **Next:** your heads still see a sentence as a bag of words.
# [Lesson 04](../04_positional_encoding/04_positional_encoding.ipynb) gives every word its
# place. [Start page](../Start.md)
#
# **Sources.** A. Vaswani et al., *Attention Is All You Need*, NeurIPS 2017, section 3.2.2 (heads
# and their projections). P. Michel, O. Levy, G. Neubig, *Are Sixteen Heads Really Better than
# One?*, NeurIPS 2019, and E. Voita et al., *Analyzing Multi-Head Self-Attention*, ACL 2019 (on
# switching heads off in trained models).
