# %% [markdown]
# # 06b · Lab: your encoder writes
#
# **What this lesson answers:** what is missing between the encoder that you wrote and a machine
# that writes, and how would you notice that the machine cheats?
#
# **What it needs:** lessons 02 and 05. A lab is an extra: no later lesson builds on it.
#
# <span class="course-chip">**Time:** 60 minutes</span>
# <span class="course-chip">**Points:** 7</span>
#
# Your phone suggests the next word while you type. You type one word, and from then on only tap the
# first suggestion. What do you get: a letter to a friend, or something else? Keep your answer until
# section 5.
#
# The phone has a **language model**: it reads a beginning and says how likely each next piece is. A
# GPT is such a model, and you have all its parts: it is the class that you wrote in lesson 05, plus
# one mask and one loss. Put them together, and your encoder writes, letter by letter.

# %% tags=["folded"]
# Set up: what this lesson uses. Run it first.
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.notebook.carry import carry
from utils.checks import check
from utils.notebook.lend import lend

# %% tags=["skip-grading", "folded"]
# Set up: the course's text, its loop and its pictures.
from pathlib import Path

import matplotlib.pyplot as plt

from utils import plots
from utils.experiments.train import train
from utils.experiments.word_order_task import redraw
from utils.pretrained import library
from utils.progress.guesses import guess, reveal, summary

torch.set_num_threads(1)  # small matrices gain nothing from more

# %%
causal_mask = carry("02_attention", "causal_mask")
TransformerEncoder = carry("05_encoder", "TransformerEncoder")

# %% [markdown]
# ## 1. A text asks its own questions
#
# Lesson 06 needed tags written by hand. Here nobody tags anything: each letter of a text is the
# right answer to all the letters before it. This text is the course's own, the sentences of lessons
# 00 to 06; put the path of a longer one into `my_file`. The last tenth is kept aside.

# %% tags=["skip-grading", "measured"]
my_file = ""  # such as "letters.txt"
text = Path(my_file).read_text(encoding="utf-8") if my_file else " ".join(library.places()[1])
letters = ["", *sorted(set(text))]  # id 0 stays free: it is padding's, as always
number = {letter: n for n, letter in enumerate(letters)}
ids = torch.tensor([number[letter] for letter in text])
known, kept = ids[: len(ids) * 9 // 10], ids[len(ids) * 9 // 10 :]
V = len(letters)
print(f"{len(known):,} letters to learn from, {len(kept):,} kept aside; V = {V} ids")
print(text[:200])

# %% [markdown]
# The model reads **windows** of T letters. Its answer at place $t$ is compared with the letter that
# follows in the text:
#
# $$\text{target}_t = \text{text}_{t+1}$$
#
# So one window asks T questions at once.
#
# ### Exercise: `next_tokens`
# *1 point · difficulty 2 of 5 · 7 minutes*
#
# Cut a text into windows that do not overlap. The last letter of a window has a target, too.


# %% exercise="next_tokens"
def next_tokens(ids: Tensor, length: int) -> tuple[Tensor, Tensor]:
    """Cut a text into windows, and give each letter the one that follows it.

    Args:
        ids: (N,), a text.
        length: T, at least 1.

    Also asked: an error where the text is too short for a window and its last target.

    Returns:
        inputs: (B, T), as many windows as fit, one behind the other in the text; what is left over
            at its end is dropped.
        targets: (B, T), the id that follows each of them in the text.

    Raises:
        ValueError: not one window fits.
    """
    # BEGIN SOLUTION
    n = (len(ids) - 1) // length  # the last window needs one id more, as a target
    if n < 1:
        raise ValueError(f"{len(ids)} ids are too few for a window of {length}")
    inputs = ids[: n * length].view(n, length)
    targets = ids[1 : n * length + 1].view(n, length)
    return inputs, targets
    # END SOLUTION


# %% test="next_tokens" points=1
check.next_tokens(next_tokens)
# BEGIN HIDDEN TESTS
check.next_tokens(
    next_tokens,
    points=1,
    hidden=[
        dict(case="seven windows", N=29, T=4, V=75),
        dict(case="a remainder of many", N=33, T=9, V=65),
        dict(case="as many ids as two windows", N=14, T=7, V=55),
        dict(case="windows of one id", N=9, T=1, V=45),
        dict(case="one window", N=12, T=11, V=35),
        dict(
            case="as many ids as one window",
            demand="ValueError where no window fits",
            T=8,
            V=25,
            lacking=1,
        ),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# N ids hold N - 1 pairs of a letter and the one after it. How many windows of `length` pairs is
# that? Watch what happens if N is a multiple of `length`.
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# `n = (len(ids) - 1) // length`. The inputs are the first `n * length` ids, the targets the same
# number from the second id on. `.view(n, length)` folds each into rows.
# </details>
#
# ## 2. What guessing costs
#
# The loss is cross-entropy, as in lesson 06: minus the logarithm of the share that the right letter
# got, on average.
#
# $$\text{loss} = -\frac{1}{N} \sum_t \ln p(x_{t+1} \mid x_1, \ldots, x_t)$$
#
# **Predict:** somebody knows nothing, and gives each of the V ids the same share. What is the loss?

# %% tags=["skip-grading"]
guess("loss of an even guess", None)

# %% [markdown]
# Two more baselines, for honesty: the letters' shares as counted, and their shares after the letter
# before.

# %% tags=["skip-grading", "measured"]
# Each count begins at a tenth: a pair that is new must not cost infinitely much.
counts = torch.full((V, V), 0.1).index_put((known[:-1], known[1:]), torch.ones(()), accumulate=True)
shares = {
    "an even guess": torch.full((V, V), 1 / V),
    "counts of letters": (counts.sum(0) / counts.sum()).expand(V, V),
    "counts after the letter before": counts / counts.sum(1, keepdim=True),
}
baselines = {name: -p[kept[:-1], kept[1:]].log().mean().item() for name, p in shares.items()}
for name, loss in baselines.items():
    print(f"{name:32}{loss:.2f}")
reveal("loss of an even guess", round(baselines["an even guess"], 2))

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# Each right letter gets the share $1/V$, and $-\ln(1/V) = \ln V$. A model with a memory should beat
# the table that remembers one letter.
# </details>
#
# ## 3. One mask, one layer
#
# At place $t$ the encoder must not see $t + 1$: that is the answer. The mask of lesson 02 sees to
# it, in every layer. Then a linear layer turns each vector $h_t$ into a number for each id:
#
# $$h = \text{encode}(\text{embed}(x),\; \text{causal mask}) \qquad
# \text{logits}_t = W h_t + b$$
#
# ### Exercise: `LanguageModel`
# *2 points · difficulty 2 of 5 · 10 minutes*
#
# Write it for any encoder with `embed` and `encode`, such as yours.


# %% exercise="LanguageModel"
class LanguageModel(nn.Module):
    """An encoder that reads from left to right, and says at each place which id comes next.

    Args:
        encoder: has `embed`, ids (B, T) -> (B, T, D); `encode`, (B, T, D) and a mask (1, T, T) ->
            (B, T, D); and its table of ids, `embedding`. Call nothing else of it.
        vocab_size: V, how many ids there are to choose from; the table may have more rows.

    Attributes:
        encoder: as given.
        to_logits: nn.Linear from D to V, with weights of its own.
    """

    def __init__(self, encoder: nn.Module, vocab_size: int) -> None:
        super().__init__()
        # BEGIN SOLUTION
        self.encoder = encoder
        d_model = next(encoder.embedding.parameters()).shape[1]
        self.to_logits = nn.Linear(d_model, vocab_size)
        # END SOLUTION

    def forward(self, ids: Tensor) -> Tensor:
        """Ids (B, T), without padding -> logits (B, T, V), each from its own and earlier ids."""
        # BEGIN SOLUTION
        x = self.encoder.embed(ids)
        mask = causal_mask(ids.shape[1])
        return self.to_logits(self.encoder.encode(x, mask))
        # END SOLUTION


# %% test="LanguageModel" points=2
check.LanguageModel(LanguageModel)
# BEGIN HIDDEN TESTS
check.LanguageModel(
    LanguageModel,
    points=2,
    hidden=[
        dict(case="four texts", V=12, B=4, T=6, D=8, H=2, F=5, L=3),
        dict(case="one letter, one text", V=7, B=1, T=1, D=6, H=3, F=5, L=2),
        dict(case="pre-norm, two layers", V=9, B=3, T=5, D=8, H=4, F=6, L=2, norm_first=True),
        dict(
            case="another encoder, two texts",
            demand="any encoder with embed and encode",
            V=8,
            B=2,
            T=7,
            D=5,
            other=True,
        ),
        dict(
            case="a table with rows to spare",
            demand="a table with more rows than letters",
            V=10,
            B=2,
            T=4,
            D=6,
            H=3,
            F=5,
            L=1,
            spare=7,
        ),
        dict(
            case="float64, pre-norm",
            demand="float64",
            V=8,
            B=3,
            T=4,
            D=6,
            H=2,
            F=7,
            L=1,
            norm_first=True,
            dtype="float64",
        ),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: the width</summary>
#
# D is the number of columns of the encoder's table:
# `next(encoder.embedding.parameters()).shape[1]`.
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# In `forward`, in this order: `self.encoder.embed(ids)`; `self.encoder.encode` of that, under
# `causal_mask(T)` with T = `ids.shape[1]`; `self.to_logits` of that.
# </details>
#
# ## 4. With the mask and without
#
# All sizes in one cell. Together both trainings take about a minute on one core.

# %% tags=["skip-grading"]
T, D, HEADS, LAYERS, HIDDEN = 48, 96, 4, 2, 256
BATCH, RATE, DROPOUT = 24, 5e-3, 0.1
STEPS = {"with the mask": 600, "without": 300}
torch.set_flush_denormal(True)  # numbers below 1e-38 become 0: they cost a CPU much time


class Peeking(LanguageModel):
    """The same model without the mask."""

    def forward(self, ids: Tensor) -> Tensor:
        return self.to_logits(self.encoder.encode(self.encoder.embed(ids)))


# %% tags=["skip-grading", "folded"]
# Define how a model learns, and how it is examined.
def trained(make: Callable, title: str) -> tuple[nn.Module, list[float]]:
    """A new model, and its loss at each step."""
    torch.manual_seed(0)
    encoder = TransformerEncoder(V, D, HEADS, LAYERS, HIDDEN, T, DROPOUT, norm_first=True)
    redraw(encoder.embedding, 0.3 * D**-0.5)  # letters shorter than positions: lesson 05
    model = make(encoder, V)

    def loss(generator: torch.Generator) -> Tensor:
        start = int(torch.randint(T, (1,), generator=generator))  # other windows each time
        inputs, targets = next_tokens(known[start:], T)
        rows = torch.randint(len(inputs), (BATCH,), generator=generator)
        return F.cross_entropy(model(inputs[rows]).flatten(0, 1), targets[rows].flatten())

    how = dict(rate=RATE, warm_up=50, falling=2.0, clip=1.0, method=torch.optim.AdamW)
    return model, train(model, loss, steps=STEPS[title], title=f"{title:14}", **how).losses


@torch.no_grad()
def examined(model: nn.Module) -> float:
    """The loss on the text that was kept aside."""
    inputs, targets = next_tokens(kept, T)
    return F.cross_entropy(model.eval()(inputs).flatten(0, 1), targets.flatten()).item()


# %% tags=["skip-grading", "measured"]
models, losses = {}, {}
models["with the mask"], losses["with the mask"] = trained(LanguageModel, "with the mask")
print(f"loss on the text kept aside: {examined(models['with the mask']):.2f}")
print(f"counts after the letter before: {baselines['counts after the letter before']:.2f}")

# %% [markdown]
# More than one letter of memory pays. Now somebody forgets the mask: nothing else changes, and no
# shape either. This model gets half as many steps.
#
# **Predict:** which of the two has the lower loss at the end, on text that it has never seen?

# %% tags=["skip-grading"]
guess("lower loss on unseen text", None, choices=("with the mask", "without"))

# %% tags=["skip-grading", "measured"]
models["without"], losses["without"] = trained(Peeking, "without")
found = {name: examined(model) for name, model in models.items()}
for name, loss in found.items():
    print(f"{name:14} loss on the text kept aside: {loss:.2f}")
reveal("lower loss on unseen text", min(found, key=lambda name: found[name]))

# %% tags=["skip-grading", "measured", "folded"]
# Draw both trainings, and the baselines.
fig, ax = plt.subplots(figsize=(7, 3.2))
for place, (name, curve) in enumerate(losses.items()):
    means = torch.tensor(curve[: len(curve) // 10 * 10]).view(-1, 10).mean(1)
    ax.plot(10 * torch.arange(1, len(means) + 1), means, ls=("-", "--")[place], label=name)
for name, loss in baselines.items():
    ax.axhline(loss, color="0.5", ls=":", lw=1)
    ax.text(STEPS["with the mask"], loss + 0.05, name, ha="right", color="0.3", fontsize=8)
ax.set(title="Two trainings", xlabel="step", ylabel="training loss (nats per letter)", ylim=(0, 5))
ax.legend(loc="lower right")
plots.show(fig, about="Training loss against the step, with the mask and without, and baselines.")

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# Without the mask, the answer at place $t$ lies in view at place $t + 1$. So the model learns one
# thing: look one place to the right, and copy. On the text kept aside the answers are in view, too,
# so that no unseen text warns you.
# </details>
#
# ## 5. Let it write
#
# To write, ask for the next id, append it, and ask again. The encoder has positions for T letters
# only, so of a long text the last T go in.
#
# ### Exercise: `generate`
# *2 points · difficulty 3 of 5 · 12 minutes*
#
# `choose` gets the logits of the last place and picks an id.


# %% exercise="generate"
def generate(
    model: nn.Module,
    ids: Tensor,
    n_new: int,
    max_len: int,
    choose: Callable[[Tensor], int] = lambda logits: int(logits.argmax()),
) -> Tensor:
    """Continue a text, one id at a time.

    Runs in eval mode and records no gradients; afterwards the model is in the mode that it was in.

    Args:
        model: called as model(ids (1, S)) -> logits (1, S, V), with S at most max_len.
        ids: (T,), the beginning, at least one id; left as it is.
        n_new: how many ids to append; may be 0.
        max_len: the longest text that the model takes: of a longer one, its last max_len ids.
        choose: logits (V,) of the last place -> the next id; called once for each new id.

    Returns:
        (T + n_new,): the beginning and what was written.
    """
    # BEGIN SOLUTION
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(n_new):
            logits = model(ids[-max_len:].unsqueeze(0))[0, -1]
            ids = torch.cat([ids, torch.tensor([choose(logits)])])
    model.train(was_training)
    return ids
    # END SOLUTION


# %% test="generate" points=2
check.generate(generate)
# BEGIN HIDDEN TESTS
check.generate(
    generate,
    points=2,
    hidden=[
        dict(case="five new ids", T=3, new=5, max_len=14, V=10),
        dict(case="one new id", T=6, new=1, max_len=15, V=8),
        dict(case="far past the window", T=5, new=11, max_len=4, V=9, looks="window"),
        dict(case="a longer prompt", T=12, new=3, max_len=7, V=10),
        dict(case="the unlikeliest", T=2, new=6, max_len=9, V=7, choose="least", looks="choice"),
        dict(case="a window of one id", T=4, new=3, max_len=1, V=8),
        dict(case="in training", T=4, new=3, max_len=10, V=5, train=True, looks="mode"),
        dict(case="in evaluation", T=5, new=2, max_len=8, V=6, looks="mode"),
        dict(case="no gradients", T=2, new=4, max_len=9, V=5, looks="gradients"),
        dict(
            case="nothing to write",
            demand="nothing to write",
            T=4,
            new=0,
            max_len=9,
            V=5,
            train=True,
            looks="mode",
        ),
    ],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# The model wants a batch: `unsqueeze(0)`. Of its answer you need one row: `[0, -1]`. What does
# `ids[-max_len:]` give while the text is still short?
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# Remember `model.training`; `eval()`; inside `torch.no_grad()` go `n_new` times round: logits of
# the last place, `torch.cat([ids, torch.tensor([choose(logits)])])`; then `train(...)` with the
# mode that it had.
# </details>
#
# A **temperature** $\tau$ divides the logits, and the letter is drawn from
# $\mathrm{softmax}(\text{logits} / \tau)$. At 1 the shares are the model's own; below 1 likely
# letters gain; at 0 the likeliest is always taken, as on the phone.
#
# **Predict:** three texts are written, at temperatures 0, 0.5 and 1. Which one has the most
# different words?

# %% tags=["skip-grading"]
guess("most different words at temperature", None)  # 0, 0.5 or 1


# %% tags=["skip-grading", "measured"]
def at(temperature: float, seed: int = 0) -> Callable[[Tensor], int]:
    """A way to choose: the likeliest id, or one drawn at a temperature."""
    generator = torch.Generator().manual_seed(seed)
    if not temperature:
        return lambda logits: int(logits.argmax())
    return lambda logits: int(
        torch.multinomial((logits / temperature).softmax(-1), 1, generator=generator)
    )


def written(model: nn.Module, temperature: float, n_new: int = 200) -> str:
    start = torch.tensor([number[letter] for letter in prompt if letter in number])
    return "".join(letters[n] for n in generate(model, start, n_new, T, at(temperature)))


prompt = "The attention "  # yours: any beginning
texts = {temperature: written(models["with the mask"], temperature) for temperature in (0, 0.5, 1)}
for temperature, line in texts.items():
    print(f"{temperature}: {line}\n")
different = {temperature: len(set(line.split())) for temperature, line in texts.items()}
reveal("most different words at temperature", max(different, key=lambda t: different[t]))

# %% tags=["skip-grading", "measured", "folded"]
# Draw the shares of the letter after the prompt.
start = torch.tensor([[number[letter] for letter in prompt if letter in number]])
with torch.no_grad():
    logits = models["with the mask"].eval()(start[:, -T:])[0, -1]
best = logits.topk(12).indices
fig, ax = plt.subplots(figsize=(7, 2.8))
for place, temperature in enumerate((0.25, 0.5, 1)):
    drawn_from = (logits / temperature).softmax(-1)[best]
    ax.bar(torch.arange(12) + 0.28 * (place - 1), drawn_from, 0.26, label=f"{temperature:g}")
ax.set_xticks(range(12), [letters[n].replace(" ", "blank") for n in best])
ax.set(title="The letter after the prompt", xlabel="letter", ylabel="share")
ax.legend(title="temperature")
plots.show(fig, about="Shares of the twelve likeliest letters at three temperatures.")

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# The likeliest letter leads to the likeliest word, and that one back to where it came from: at
# temperature 0 the text goes round in circles, and so does the phone. A little chance leads out.
# More chance gives more words, among them many that nobody knows.
# </details>
#
# How small it is! It has read a booklet, letter by letter, for less than a minute. It has learned
# to spell, more or less, and has nothing to say.
#
# And the model without the mask? Let both write at temperature 1, and let the table of letter pairs
# say how odd each text is: its loss per letter, as in section 2.
#
# **Predict:** whose text is odder?

# %% tags=["skip-grading"]
guess("odder text", None, choices=("with the mask", "without"))

# %% tags=["skip-grading", "measured"]
pairs = shares["counts after the letter before"].log()
print(f"text kept aside: {-pairs[kept[:-1], kept[1:]].mean():.2f} nats per letter")
odd = {}
for name, model in models.items():
    line = written(model, 1)
    numbers = torch.tensor([number[letter] for letter in line[len(prompt) :]])
    odd[name] = -pairs[numbers[:-1], numbers[1:]].mean().item()
    print(f"{name}: {odd[name]:.2f} nats per letter\n    {line}")
reveal("odder text", max(odd, key=lambda name: odd[name]))

# %% [markdown]
# <details class="why"><summary>After the run: why</summary>
#
# It learned to copy from the right. When it writes, nothing stands there. Its loss measured how
# well it peeks.
# </details>
#
# ## 6. Catch the cheat
#
# Neither loss nor shapes showed the fault. A law does, without any training: **what comes later
# changes nothing that was said before.**
#
# ### Exercise: `test_no_peeking`
# *2 points · difficulty 3 of 5 · 10 minutes*
#
# Write the law down as a test that right models pass, and that raises `AssertionError` for each of
# these:
#
# - there is no mask;
# - the mask is transposed: a token sees itself and what comes later;
# - the mask reaches one too far: each token sees the next one;
# - only the first layer is masked;
# - the mean of the whole text is added to each token;
# - the mean over the batch is added: texts of a batch see each other.
#
# Each of the six that you catch gives points, provided that right models pass. Allow rounding of
# 1e-4.


# %% exercise="test_no_peeking"
def test_no_peeking(model: Callable) -> None:
    """Assert that no logits depend on a later id, nor on another text of the batch.

    Args:
        model: called as model(ids), ids (B, T) of whole numbers from 0 to 9, T at most 48. Returns
            logits (B, T, V), nothing dropped out. It may be right or broken.

    Raises:
        AssertionError: this model is broken.
    """
    # BEGIN SOLUTION
    ids = torch.tensor([[3, 1, 4, 1, 5, 9], [2, 7, 1, 8, 2, 8]])
    before = model(ids)
    for t in range(6):
        changed = ids.clone()
        changed[0, t] = 6
        after = model(changed)
        assert torch.allclose(after[0, :t], before[0, :t], atol=1e-4)
        assert torch.allclose(after[1], before[1], atol=1e-4)
    # END SOLUTION


# %% test="test_no_peeking" points=2
check.test_no_peeking(test_no_peeking)
# BEGIN HIDDEN TESTS
check.test_no_peeking(
    test_no_peeking,
    points=2,
    hidden=[],
)
# END HIDDEN TESTS

# %% [markdown]
# <details><summary>Hint 1: a nudge</summary>
#
# Change one id of one text. Which logits may change, and which may not? If the mask reaches one too
# far, who notices?
# </details>
# <details><summary>Hint 2: almost the answer</summary>
#
# A batch of two texts. For each place t: clone, change the first text's id at t, ask again.
# `torch.allclose` for the first text's logits before t, and for all logits of the second one.
# </details>
#
# Does your test know the cheat from the honest model?

# %% tags=["skip-grading", "measured"]
for name, model in models.items():
    try:
        test_no_peeking(model.eval())
        print(f"{name:14} passes")
    except AssertionError:
        print(f"{name:14} is caught")

# %% tags=["skip-grading", "measured", "folded"]
# Draw which logits move when one letter changes.
some = kept[:16]
fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    rows = []
    with torch.no_grad():
        for t in range(len(some)):
            changed = some.clone()
            changed[t] = number["e"] if some[t] != number["e"] else number["a"]
            pair = model(torch.stack([some, changed])).softmax(-1)
            rows.append((pair[0] - pair[1]).abs().sum(-1) / 2)
    plots.heat_map(ax, torch.stack(rows), title=name, limits=(0, 1), bar="shares that move")
    ax.set(xlabel="place of the answer")
axes[0].set_ylabel("letter that is changed")
plots.show(fig, about="How much each answer moves when one letter changes, for both models.")

# %% [markdown]
# Left of the diagonal lies what was said before the changed letter. With the mask nothing moves
# there. Without it, the answer right before the letter moves most: it is the one that copies.

# %% [markdown]
# ## 7. From here to a GPT
#
# **A GPT** (Radford et al. 2018, 2019) has more of everything: layers, width, a longer window, a
# library in the place of your booklet. Its ids are pieces of words (lesson 07 cuts some), so a
# window reaches further. To answer questions, it is tuned on answers afterwards.
#
# **The Transformer of 2017** (Vaswani et al., section 3.1) has two stacks. An encoder without this
# mask reads the source. A decoder with it writes the target, and in each of its layers
# cross-attention (lesson 02, section 1) looks at the source.
#
# **Today's usual block** differs from that of 2017 in four places, and you know two of them:
#
# | then | now | |
# |---|---|---|
# | post-norm | pre-norm | Xiong et al. 2020; lesson 05 |
# | LayerNorm | RMSNorm: no mean is subtracted, and there is no bias | Zhang and Sennrich 2019 |
# | ReLU | GELU, or SwiGLU: one linear layer gates another | Shazeer 2020 |
# | sinusoids, added | rotary: queries and keys are turned | Su et al. 2021; lesson 04 |
#
# The mask and the loss have stayed as you wrote them.

# %% tags=["skip-grading"]
summary()

# %% [markdown]
# ## Recap
#
# - A language model is your encoder, the causal mask, a linear layer, and the loss on the next id.
# - Knowing nothing costs $\ln V$. Counts are to be beaten.
# - A model that sees its answers has a splendid loss, on unseen text as well, and cannot write. A
#   test of the law finds it at once.
#
# ## Three open questions
#
# 1. Your model saw T letters at once. Give it half, and twice as many: what becomes of the loss on
#    the text kept aside?
# 2. Put `rotary_embedding` of lesson 04 in the place of the added positions. Does it learn in fewer
#    steps?
# 3. Train on a text of your own until the training loss is far below that on the text kept aside.
#    How much of what it writes stands word for word in the text?
#
# **Next:** a model that has read more than a booklet: in
# [lesson 07](../07_pretrained_encoder/07_pretrained_encoder.ipynb) a published one runs in your
# encoder. [Start page](../Start.md)
#
# **Sources.** A. Radford et al., *Improving language understanding by generative pre-training*,
# 2018. A. Radford et al., *Language models are unsupervised multitask learners*, 2019. A. Vaswani
# et al., *Attention is all you need*, NeurIPS 2017. R. Xiong et al., *On layer normalization in the
# Transformer architecture*, ICML 2020. B. Zhang, R. Sennrich, *Root mean square layer
# normalization*, NeurIPS 2019. N. Shazeer, *GLU variants improve Transformer*, 2020. J. Su et al.,
# *RoFormer: Enhanced Transformer with rotary position embedding*, 2021.
