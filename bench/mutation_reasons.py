"""Why a changed answer that passes every case is right to pass.

A reason belongs to a pattern of what was changed in which form, and to one of the line. The first
that fits counts. A change that no reason fits is a gap, until someone has looked at it.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Reason:
    """A kind of change that leaves an answer right.

    Attributes:
        why: the reason, in words.
        change: a pattern of `EXERCISE / FORM: as if CHANGE (WHAT WAS CHANGED)`.
        line: a pattern of the form's line.

    """

    why: str
    change: str = ""
    line: str = ""

    def fits(self, change: str, line: str) -> bool:
        """Return whether this is the reason for a change."""
        return bool(re.search(self.change, change) and re.search(self.line, line))


_STANDS_FOR = r"as if `\w+` stood where"
_MASKLESS = "the exercise has no mask, so the line does not run"
_ONE = "an axis of size one has one entry"
_SORTED = "in which order sentences are batched is free"
_START = "what the numbers are at the start is free"
_AT_PADDING = "what stands at padding is free"
_FORM_ONLY = "only a number type, a device or an equal size is read"

OF_ONE_FORM = (
    # Lesson 00
    Reason("0 divided by any number is 0", r"stable_softmax: .*a constant 1 were", "return exp"),
    Reason("minus infinity is never the largest", r"by_slices: .*\(row\[allowed\]\)"),
    Reason("booleans multiply and count like numbers", r"masked_mean: .*`x` belongs", r"\.to\("),
    Reason(_FORM_ONLY, r"mean_by_einsum: as if a 0 were", "ones_like"),
    # Lesson 01
    Reason(_FORM_ONLY, rf"forward_into_a_tensor: {_STANDS_FOR}", "new_empty"),
    Reason("only the length of the result counts", r"other way round \((1 - states|encoder|y - z)"),
    Reason("the same axis, counted from the other end", r"a 0 were -1 in `flip`"),
    Reason("detach makes a tensor of its own", r"gradient_by_backward: .*`clone` were left out"),
    Reason("the norm is that of all entries", r"gradient_by_restart: .*`flatten` were left out"),
    Reason("what moves on to the next row is overwritten", r"by_roll: .*without `dims`"),
    Reason("softmax keeps the order, and argmax sees no more", r"decode_and_cut: .*softmax"),
    Reason("a step takes a plain number too", r"feeding_tensors: .*`tensor` were left out"),
    Reason("the logits of one step have one axis", r"feeding_tensors: .*`argmax` .*`dim`"),
    # Lesson 02
    Reason(_MASKLESS, r"^repaired_attention / attention_(by|with)", "mask"),
    Reason("only the length of the difference counts", r"^breaks_equiv.*other way round"),
    Reason("a tensor of one entry counts like a number", r"order_by_loop: .*`item` were left out"),
    Reason("a batch of one: its first is its last", r"reach_by_sentence: as if a 0 were -1"),
    Reason("queries and keys have as many features", r"`[qk]` belongs \([qk]\)", r"[qk]\.s"),
    Reason(_FORM_ONLY, r"nan_to_num: .*(`q` belongs|`mask` were inverted \(mask\))", "bias = "),
    Reason("what is cut off is multiplied by 0", r"attend_by_exp: as if a 0 were 1", "clamp"),
    Reason(_FORM_ONLY, r"attend_by_exp: .*`scores` belongs", "finfo"),
    Reason(_ONE, r"attend_by_lowering: as if a 0 were -1 \(0\)", r"\[:, 0\]"),
    Reason("what is kept there is never read", r"SelfAttentionByWeights", r"self\.scale ="),
    # Lesson 03
    Reason("the numbers and their order stay", r"split_by_permute: .*`contiguous` were left out"),
    Reason(
        "the output of this call is thrown away", r"(a 0 were|slice|the whole of|two indices)",
        r"_, weights = scaled_dot_product_attention\(q, k, v\[",
    ),
    Reason("no number that is drawn is exactly the rate", r"OwnDropout: .*both sides are equal"),
    Reason("at rate 0 the next line keeps all; 1 is not asked for", r"OwnDropout", r"p == 0"),
    # Lesson 04
    Reason("a distance has no sign", r"^alibi_bias / .*other way round"),
    Reason("every entry is overwritten", r"alibi_by_loop: .*`ones` stood for `zeros`"),
    Reason("every entry is written later", r"`ones` stood for `zeros`", r"pe = torch\.zeros"),
    Reason("a whole number times a fraction is a fraction", r"`float` were left out", r"div_term"),
    Reason("the repair is asked for even widths alone", r"^repaired_encoding / .*rror` ?were left"),
    Reason("the repair is asked for even widths alone", r"^repaired_encoding / .*the error were"),
    Reason("a rate off by 1 in 10,000 is within the tolerance", r"a 10000 were (10001|9999)"),
    Reason("whether a buffer is saved is free", r"`persistent`"),
    Reason(_START, r"^LearnedPositionalEncoding / ", r"nn\.Parameter\("),
    Reason(_START, r"^TokenEmbedding / EmbeddingByTable", r"nn\.Parameter\(torch\.randn"),
    # Lesson 05
    Reason("bias=True is the default", r"`Linear` were called without `bias` \(.*bias=True"),
    Reason("both dropouts have one rate", r"a [01] were (1|0|-1) in a slice", r"drops\["),
    Reason(_AT_PADDING, r"comparison were left out of a condition", r"real\[:, None"),
    Reason("the layers are different objects already", r"EncoderOfCopies"),
    Reason(_ONE, r"^influence / .*a 0 were -1 \(0\)"),
    Reason("a third copy changes nothing", r"a 2 were 3 in `repeat`"),
    Reason("a distance is the same both ways", r"one_batch: as if a 1 were 0", r"x\[1, source"),
    Reason("the other row's distance to itself is 0", r"in_one_batch: .*the whole of", r"dist\("),
    Reason("None is the default", r"`encode` were called without `None`"),
    # Lesson 06
    Reason(_ONE, r"Neighbours: as if the axes of `mask` were made by reshape"),
    Reason("a tensor of one number is a size or an index", r"`int` were left out", r"zeros|tags\["),
    Reason("only its width is read", r"TaggerByEmbed: as if a 1 were 0 in `zeros`"),
    Reason("the general way gives the same", r"TaggerWithWholeMask: .*early return were left out"),
    Reason("of two axes, the last but one is the first", r"OfLikes: .*`unsqueeze` ran over axis 1"),
    Reason("features are missing only where no table is", r"TaggerOfLikes: ", r"features is None"),
    Reason(_AT_PADDING, r"TaggerSilentAtPadding: .*nothing were multiplied by a comparison"),
    Reason("0 times a finite number is 0", r"loss_of_real_words", r"return logits\.sum\(\) \* 0"),
    Reason(_ONE, r"loss_by_gather: as if a 0 were -1 \(0\)", r"\[\.\.\., 0\]"),
    Reason("whole numbers count as well", r"loss_by_gather: .*`logits` belongs", r"\.to\(logits"),
    Reason("-100 is the default", r"without `ignore_index` \(.*ignore_index=-100"),
    Reason("a tensor divides as well", r"`int` were left out", r"max\("),
    Reason("no tag that is found is -100", r"^accuracy / accuracy: .*`real` were left out"),
    Reason("where step is warmup both are equal", r"rate_in_two_parts: .*both sides are equal"),
    Reason("zeros or no gradients: the step is the same", r"set_to_none"),
    Reason("the loss takes its logarithms in float32 itself", r"a_gpu_apart: .*`float` were left"),
    Reason("an iterator serves once", r"a_gpu_apart: .*`list` were left out"),
    Reason("both clear the same gradients", r"`(optimizer|model)` belongs", r"zero_grad"),
    Reason("it has cleared them at the start", r"step_by_hand: .*`zero_grad` were left out"),
    Reason("where the norm is clip, the factor is 1", r"step_by_hand: .*both sides are equal"),
    Reason("how a copy is made is free", r"`non_blocking`"),
    Reason("the model makes the same mask itself", r"`model` were called without `mask`"),
    Reason("all parameters have gradients", r"step_by_hand: .*a list left nothing out"),
    Reason("the optimiser has one group", r"step_by_hand: .*ended after its first step", "groups"),
    Reason(_SORTED, r"tag_by_length", r"order = sorted\("),
    Reason(
        "an empty sentence among others does no harm",
        r"without_empty_ones: .*(both sides|a 0 were -1|left nothing out)", r"real = \[",
    ),
)  # fmt: skip

OF_ANY_FORM = (
    Reason("what an error says is free", r"", r"^\s*raise\b"),
    Reason("done again it changes nothing", r"applied twice|`tanh` were applied", r""),
    Reason(
        "the same axis, counted or named from the other end",
        r"axis -\d|a -?[12] were -?[12] |a -1 were (0|-2) \(-1\)|"
        r"exchanged in `(transpose|movedim)`",
    ),
    Reason(
        "the order does not matter",
        r"exchanged in `(add|max|maximum|min|dist|addcmul|add_and_norm)`",
    ),
    Reason("the result is nowhere negative", r"`relu` were applied to the result"),
    Reason("any number so large, or so small, does the same", r"constant 1e[+-]\d+ were"),
    Reason("the default stands in the cell that is given", r"a (512|8|6|2048|5000|32) were"),
    Reason(_START, r"constant 0\.02"),
    Reason(
        "shows on another device, in another precision, or for a caller that needs another type",
        r"`detach` were|device|dtype|`to` were|`cpu`|`tolist`|strict",
    ),
)


def reason_for(change: str, line: str) -> str | None:
    """Return why a change that passes is right to, or None if no one knows yet."""
    found = (r.why for r in (*OF_ONE_FORM, *OF_ANY_FORM) if r.fits(change, line))
    return next(found, None)
