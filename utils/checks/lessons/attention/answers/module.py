"""SelfAttention: right answers and common mistakes."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from utils.checks.authoring.common_mistakes import no_forward
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.attention.answers.comparing import comparing_mistakes
from utils.checks.lessons.attention.answers.first import LAWS
from utils.checks.lessons.attention.answers.mask import (
    mask_mistakes,
    mask_of_the_first_query,
    query_mask_mistakes,
)
from utils.checks.lessons.attention.answers.rows import padded_queries_closed
from utils.checks.lessons.attention.answers.scores import (
    axis_mistakes,
    length_mistakes,
    result_mistakes,
    scaling_mistakes,
)
from utils.checks.lessons.attention.answers.softmaxes import softmax_mistakes
from utils.checks.lessons.attention.probes import PROBES
from utils.checks.lessons.attention.variants import (
    SelfAttentionVariant,
    attention_to_others,
    causal_attention,
    no_super_init,
    random_attention,
    self_attention_variant,
)
from utils.reference.attention import reference_attention


class _AddedToWhatItSaw(SelfAttentionVariant):
    through = "qkx"

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        mixed, weights = super().forward(x, mask)
        layer: Any = self.w_v
        return layer(mixed + x), weights


class _AddedWhereItFits(SelfAttentionVariant):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        output, weights = super().forward(x, mask)
        return output + x if output.shape == x.shape else output, weights


class _ThroughAFourthLayer(SelfAttentionVariant):
    def __init__(self, d_model: int, d_k: int, d_v: int) -> None:
        super().__init__(d_model, d_k, d_v)
        self.w_o = nn.Linear(d_v, d_v, bias=self.bias)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        output, weights = super().forward(x, mask)
        return self.w_o(output), weights


def _with_an_axis_for_heads(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Any:
    return reference_attention(q, k, v, mask if mask is None else mask.unsqueeze(1))


_OWN_LAYER = "Queries, keys and values each go through their own projection."
THROUGH = tuple(
    Mistake(name, message, hint, self_attention_variant(through=through))
    for name, through, message, hint in (
        (
            "values_not_projected",
            "qkx",
            "The output mixes the inputs themselves: w_v is not used.",
            _OWN_LAYER,
        ),
        (
            "scores_from_inputs",
            "xxv",
            "The weights are computed from the inputs: w_q and w_k are not used.",
            "The weights come from the projected queries and keys, not from x itself.",
        ),
        (
            "nothing_projected",
            "xxx",
            "Queries, keys and values are x itself: no projection is used.",
            _OWN_LAYER,
        ),
        ("queries_not_projected", "xkv", "The queries are x itself: w_q is not used.", _OWN_LAYER),
        ("keys_not_projected", "qxv", "The keys are x itself: w_k is not used.", _OWN_LAYER),
        (
            "queries_and_keys_swapped",
            "kqv",
            "Queries and keys are swapped.",
            "w_q makes the first argument, w_k the second.",
        ),
        (
            "keys_and_values_swapped",
            "qvk",
            "Keys and values are swapped.",
            "Queries are compared with keys, and the values are mixed. Follow each of them from "
            "its layer on.",
        ),
        (
            "queries_through_w_k",
            "kkv",
            "The queries are made with w_k: w_q is not used, and each position mostly attends to "
            "itself.",
            _OWN_LAYER,
        ),
        (
            "keys_through_w_q",
            "qqv",
            "The keys are made with w_q: w_k is not used, and each position mostly attends to "
            "itself.",
            _OWN_LAYER,
        ),
        ("values_through_w_k", "qkk", "The values are made with w_k: w_v is not used.", _OWN_LAYER),
        ("values_through_w_q", "qkq", "The values are made with w_q: w_v is not used.", _OWN_LAYER),
    )
)
_FROM_TO = "In nn.Linear(in, out), `in` is the size of the vectors that come in, here those of x."
SIZES = (
    *(
        Mistake(name, message, hint, self_attention_variant(sizes=sizes))
        for name, message, hint, sizes in (
            (
                "sizes_exchanged",
                "The input size and the output size of the layers are swapped.",
                _FROM_TO,
                lambda d, d_k, d_v: ((d_k, d), (d_k, d), (d_v, d)),
            ),
            (
                "values_of_size_d_k",
                "w_v gives d_k entries, but a value has d_v.",
                "d_k is shared by queries and keys, which are compared. Values may have any size.",
                lambda d, d_k, d_v: ((d, d_k), (d, d_k), (d, d_k)),
            ),
            (
                "all_of_size_d_model",
                "The layers keep the size d_model; queries and keys have d_k entries, values d_v.",
                "Which of the three sizes does each layer give?",
                lambda d, d_k, d_v: ((d, d), (d, d), (d, d)),
            ),
            (
                "queries_and_keys_of_size_d_v",
                "w_q gives d_v entries, but a query has d_k.",
                "d_k is shared by queries and keys, which are compared. Values may have any size.",
                lambda d, d_k, d_v: ((d, d_v), (d, d_v), (d, d_k)),
            ),
        )
    ),
    Mistake(
        "projections_activated",
        "The projections go through a ReLU: no query, key or value has a negative entry.",
        "Q = X W_q, and so on: a product and nothing after it.",
        self_attention_variant(applied=staticmethod(lambda layer, x: layer(x).relu())),
    ),
    Mistake(
        "projections_with_bias",
        "The projections have a bias, but the stub asks for none.",
        "nn.Linear has a bias unless you say otherwise.",
        self_attention_variant(bias=True),
    ),
)
_NO_LAYER = (
    "A projection is a bare tensor; the exercise asks for an nn.Linear.",
    "nn.Linear makes its matrix itself, with starting values that suit its size, and applies it "
    "when it is called.",
)
FORM = (
    *(
        Mistake(
            f"{called}_not_made",
            f"After __init__ there is no self.{called}.",
            "Layers are made in __init__, under exactly the names that the stub gives. A layer "
            "made in forward would be new, random and untrained at every call.",
            self_attention_variant(missing=missing),
        )
        for called, missing in (("w_q", "qkv"), ("w_k", "kv"), ("w_v", "v"))
    ),
    Mistake(
        "one_layer_for_queries_and_keys",
        "w_q and w_k are one and the same layer.",
        "Two names for one object share its weights. Make a layer for each.",
        self_attention_variant(shared=True),
    ),
    Mistake(
        "layers_hidden_from_the_module",
        "nn.Module does not know of the layers: no optimiser and no .to(device) finds them.",
        "nn.Module registers layers that are assigned to self or held by an nn.ModuleList or "
        "nn.ModuleDict. A plain list or dictionary hides them.",
        self_attention_variant(registered=False),
    ),
    Mistake(
        "more_is_trained",
        "The module has a parameter besides its three layers, and training would change that too.",
        "What is fixed, such as 1 / sqrt(d_k), is a plain number, not an nn.Parameter.",
        self_attention_variant(more=True),
    ),
    Mistake(
        "x_added_before_the_values",
        "Each position's own value is added to the output: x is there beside what attention found.",
        "Residuals come in lesson 05. Here the output is the weights times the values, x through "
        "w_v.",
        _AddedToWhatItSaw,
    ),
    Mistake(
        "x_added_where_it_fits",
        "Where d_v is d_model, x is added to the output.",
        "Residuals come in lesson 05. Here the output is the weights times the values, whatever "
        "the sizes.",
        _AddedWhereItFits,
    ),
    Mistake(
        "through_a_fourth_layer",
        "The output goes through another layer that is trained: only w_q, w_k and w_v are asked "
        "for.",
        "A layer after the sum over the values comes in lesson 03, where it joins the heads. Here "
        "the output is the weights times the values.",
        _ThroughAFourthLayer,
    ),
    *(
        Mistake(name, *_NO_LAYER, self_attention_variant(layer=layer))
        for name, layer in (
            ("matrices_for_layers", lambda n_in, n_out: nn.Parameter(torch.ones(n_in, n_out))),
            ("turned_matrices", lambda n_in, n_out: nn.Parameter(torch.ones(n_out, n_in))),
        )
    ),
    no_super_init(),
    no_forward("SelfAttention", SelfAttentionVariant),
    Mistake(
        "random_results",
        "Two calls with the same input differ: something random is at work, such as dropout or a "
        "layer made in forward.",
        "Nothing random is asked for here. Layers are made once, in __init__.",
        self_attention_variant(attention=staticmethod(random_attention)),
    ),
)
MASK_FOR_HEADS = Mistake(
    "mask_with_an_axis_for_heads",
    "The mask gets an axis for heads, and this attention has none: a result with one axis too many "
    "comes out of that.",
    "Scores are (B, T, T) here, and a mask is (B, T, T) or (B, 1, T): they line up as they are.",
    self_attention_variant(attention=staticmethod(_with_an_axis_for_heads)),
)
WEIGHTS_RESHAPED = Mistake(
    "weights_reshaped",
    "The layers' weights are reshaped, not transposed, which mixes up their entries.",
    "nn.Linear keeps its matrix as (out, in), and applies it the right way round when it is "
    "called.",
    self_attention_variant(
        applied=staticmethod(lambda layer, x: x @ layer.weight.reshape(x.shape[-1], -1))
    ),
)
MASKS = tuple(
    replace(
        mistake,
        name="mask_not_passed_on",
        message="The mask is accepted and then forgotten.",
        hint="Pass it on to scaled_dot_product_attention.",
    )
    if mistake.name == "mask_ignored"
    else mistake
    for mistake in mask_mistakes(self_attention_variant)
)
CLASS = (
    *THROUGH,
    WEIGHTS_RESHAPED,
    MASK_FOR_HEADS,
    *scaling_mistakes(self_attention_variant, "d_k"),
    Mistake(
        "divided_by_sqrt_of_d_model",
        "The scores are divided by sqrt(d_model); queries and keys have d_k entries.",
        "The scale undoes the spread of a sum. How many terms does the product of a query and a "
        "key have?",
        self_attention_variant(factor=staticmethod(lambda d, d_k: (d_k / d) ** 0.5)),
    ),
    *comparing_mistakes(self_attention_variant),
    Mistake(
        "own_position_blocked",
        "No position attends to itself, whatever the mask allows.",
        "This layer is told by its argument what is allowed; None allows all, itself too.",
        self_attention_variant(attention=staticmethod(attention_to_others)),
    ),
    Mistake(
        "causal_mask_added",
        "No position attends to a later one, whatever the mask allows: a causal mask is always "
        "there.",
        "This layer is told by its argument what is allowed; None allows all.",
        self_attention_variant(attention=staticmethod(causal_attention)),
    ),
    *axis_mistakes(self_attention_variant),
    *softmax_mistakes(self_attention_variant),
    *length_mistakes(self_attention_variant, queries=False),
    *MASKS,
    *query_mask_mistakes(self_attention_variant),
    mask_of_the_first_query(self_attention_variant),
    padded_queries_closed(self_attention_variant),
    *result_mistakes(self_attention_variant),
)
EXERCISES = by_id(
    Exercise(PROBES["SelfAttention"], self_attention_variant(), (*CLASS, *SIZES, *FORM), LAWS)
)
