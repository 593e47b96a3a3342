"""MultiHeadAttention: mistakes in its layers, and in cutting and joining heads."""

from utils.checks.authoring.common_mistakes import no_forward
from utils.checks.exercise import Mistake
from utils.checks.lessons.attention.variants import no_super_init
from utils.checks.lessons.multi_head_attention.variants import (
    HeadsVariant,
    OneSoftmaxForAll,
    SliceForEachHead,
    SplitBeforeProjection,
    WithResidualAndNorm,
    heads_variant,
    interleaved_merge,
    interleaved_split,
    paired_split,
    repeated_merge,
    summed_merge,
    view_merge,
    view_split,
)
from utils.reference.heads import reference_merge

_EACH = "Queries, keys and values each go through their own projection."
HEADS = (
    Mistake(
        "split_before_projection",
        "The inputs are cut into heads before they are projected, so a head sees only its slice.",
        "Every head may look at all D features: project first, then cut.",
        SplitBeforeProjection,
    ),
    Mistake(
        "slice_for_each_head",
        "Each head sees only its slice of the words: it uses the matrices' diagonal blocks.",
        "Every head may look at all D features: its rows of a matrix have D columns.",
        SliceForEachHead,
    ),
    Mistake(
        "heads_joined_backwards",
        "The heads are joined in the opposite order, the last one first.",
        "Head 0 has to come first.",
        heads_variant(merge=staticmethod(lambda x: reference_merge(x.flip(1)))),
    ),
    Mistake(
        "one_softmax_for_all_heads",
        "There is one attention over all features; its weights are the same for every head.",
        "Cut queries, keys and values into heads before they meet: each head has its own scores.",
        OneSoftmaxForAll,
    ),
    Mistake(
        "never_cut_into_heads",
        "Nothing is cut into heads: one attention over all features, and one table of weights.",
        "Queries, keys and values go through split_heads before they meet, and the output through "
        "merge_heads.",
        type("MultiHeadAttention", (OneSoftmaxForAll,), {"repeats": False}),
    ),
    Mistake(
        "cut_by_view_alone",
        "The heads are cut without swapping axes: a head gets all the features of a few tokens.",
        "Call your split_heads rather than cutting here again.",
        heads_variant(split=staticmethod(view_split)),
    ),
    Mistake(
        "joined_by_view_alone",
        "The heads are joined without swapping axes: a row of the output mixes tokens.",
        "Call your merge_heads rather than joining here again.",
        heads_variant(merge=staticmethod(view_merge)),
    ),
    Mistake(
        "cut_and_joined_by_view_alone",
        "The heads are cut and joined without swapping axes, so a head sees a few tokens only.",
        "Call your split_heads and merge_heads rather than reshaping here again.",
        heads_variant(split=staticmethod(view_split), merge=staticmethod(view_merge)),
    ),
    Mistake(
        "paired_with_the_batch",
        "Heads of one sentence end up in another sentence's place: they are cut one after another, "
        "each with all sentences, and then read sentence by sentence.",
        "Call your split_heads rather than cutting here again.",
        heads_variant(split=staticmethod(paired_split)),
    ),
    Mistake(
        "every_other_feature",
        "Head h gets every H-th feature.",
        "Call your split_heads: a head's features lie side by side.",
        heads_variant(split=staticmethod(interleaved_split)),
    ),
    *(
        Mistake(
            name,
            message,
            "Nothing may get lost: the features of all heads go side by side.",
            heads_variant(merge=staticmethod(merge)),
        )
        for name, message, merge in (
            ("heads_averaged", "The heads are averaged; they should be joined.", repeated_merge),
            ("heads_summed", "The heads are added up; they should be joined.", summed_merge),
            (
                "heads_interleaved",
                "The heads are joined feature by feature: first feature 0 of all of them.",
                interleaved_merge,
            ),
        )
    ),
    Mistake(
        "heads_behind_tokens",
        "The heads still come after the tokens, (B, T, H, Dh), when queries meet keys: heads "
        "would attend to heads.",
        "The last two axes meet in the product. Which two have to be last?",
        heads_variant(
            split=staticmethod(lambda x, n: x.unflatten(-1, (n, -1))),
            merge=staticmethod(lambda x: x.flatten(2)),
        ),
    ),
    Mistake(
        "keys_as_long_as_queries",
        "Keys and values are cut with the length of the queries: that fails where S is not T.",
        "key and value have their own length. The former is key.shape[1].",
        heads_variant(as_long=True),
    ),
)
LAYERS = (
    Mistake(
        "no_output_projection",
        "The heads are joined and returned as they are: w_o is not used.",
        "Something has to mix what the heads found.",
        heads_variant(projected="qkv"),
    ),
    Mistake(
        "output_projection_transposed",
        "The matrix of w_o is used the other way round: its rows are used as columns.",
        "nn.Linear stores (out, in), and multiplies by the transpose. Call w_o itself.",
        heads_variant(transposed="o"),
    ),
    Mistake(
        "values_not_projected",
        "The values are not projected: w_v is not used.",
        "Queries, keys and values each go through their own projection.",
        heads_variant(projected="qko"),
    ),
    Mistake(
        "values_from_keys",
        "The values are made from `key`.",
        "forward has three arguments, and each has its own projection.",
        heads_variant(values="key"),
    ),
    Mistake(
        "queries_and_keys_swapped",
        "Queries and keys are swapped.",
        "w_q belongs to `query`, which has T rows; the output has T rows too.",
        heads_variant(swapped="qk"),
    ),
    *(
        Mistake(
            name,
            "Keys and values are swapped.",
            "Queries are compared with keys, and the values are mixed. Follow each of them from "
            "its argument on.",
            heads_variant(**choices),
        )
        for name, choices in (
            ("keys_and_values_swapped", {"swapped": "kv"}),
            ("key_and_value_swapped", {"keys": "value", "values": "key"}),
        )
    ),
    Mistake(
        "queries_and_keys_not_projected",
        "The scores are made from the inputs themselves: w_q and w_k are not used.",
        "Queries, keys and values each go through their own projection.",
        heads_variant(projected="vo"),
    ),
    Mistake(
        "no_bias_at_all",
        "w_q has no bias, but `bias` is True unless the caller says otherwise.",
        "Pass `bias` on to all four layers.",
        heads_variant(shared_bias=False),
    ),
    Mistake(
        "no_error_for_bad_sizes",
        "A d_model that cannot be shared evenly among the heads is accepted.",
        "Look at the remainder of d_model by n_heads, before anything else.",
        heads_variant(checked=False),
    ),
    Mistake(
        "error_without_the_numbers",
        "ValueError is raised, but its message does not name both numbers, d_model and n_heads.",
        'Write both into it: f"{d_model} features ... {n_heads} heads".',
        heads_variant(told=False),
    ),
    Mistake(
        "bad_sizes_asserted",
        "Sizes that do not fit raise AssertionError.",
        "The docstring asks for ValueError: assertions vanish when Python runs with -O.",
        heads_variant(refusal=AssertionError),
    ),
    *(
        Mistake(name, message, _EACH, heads_variant(**choices))
        for name, message, choices in (
            (
                "nothing_projected",
                "Queries, keys and values are not projected: w_q, w_k and w_v are not used.",
                {"projected": "o"},
            ),
            (
                "keys_not_projected",
                "The keys are not projected: w_k is not used.",
                {"projected": "qvo"},
            ),
            (
                "queries_not_projected",
                "The queries are not projected: w_q is not used.",
                {"projected": "kvo"},
            ),
            (
                "keys_through_w_q",
                "The keys are projected with w_q: w_k is not used.",
                {"through": "qqv"},
            ),
            (
                "queries_through_w_k",
                "The queries are projected with w_k: w_q is not used.",
                {"through": "kkv"},
            ),
            (
                "values_through_w_k",
                "The values are projected with w_k: w_v is not used.",
                {"through": "qkk"},
            ),
            (
                "all_through_w_q",
                "Queries, keys and values all go through w_q: w_k and w_v are not used.",
                {"through": "qqq"},
            ),
            (
                "layers_of_keys_and_values_swapped",
                "w_k and w_v are swapped: keys go through w_v, values through w_k.",
                {"through": "qvk"},
            ),
            (
                "layers_of_queries_and_keys_swapped",
                "w_q and w_k are swapped: queries go through w_k, keys through w_q.",
                {"through": "kqv"},
            ),
        )
    ),
    *(
        Mistake(
            name,
            f"{message}: that is right only where a sentence attends to itself.",
            "forward has three arguments, and each has its own projection.",
            heads_variant(**choices),
        )
        for name, message, choices in (
            (
                "keys_and_values_from_query",
                "Keys and values are made from `query`",
                {"keys": "query", "values": "query"},
            ),
            ("keys_from_query", "The keys are made from `query`", {"keys": "query"}),
            ("values_from_query", "The values are made from `query`", {"values": "query"}),
        )
    ),
    Mistake(
        "keys_from_value",
        "The keys are made from `value`.",
        "forward has three arguments, and each has its own projection.",
        heads_variant(keys="value"),
    ),
    Mistake(
        "output_projection_on_values",
        "w_o acts on the values, not on the joined heads at the end.",
        "w_o is there to mix what the heads found. Where in forward do you have that?",
        heads_variant(out="values"),
    ),
    Mistake(
        "query_added",
        "The query is added to the output, but the exercise asks for no residual.",
        "Adding the input is the job of the layer that uses this module; lesson 05 gets to it.",
        heads_variant(added=True),
    ),
    Mistake(
        "query_added_and_normalised",
        "The query is added to the output, and the sum is normalised: the exercise asks for "
        "neither.",
        "Both are the job of the layer that uses this module; lesson 05 gets to it.",
        WithResidualAndNorm,
    ),
)
FORM = (
    no_forward("MultiHeadAttention", HeadsVariant),
    no_super_init(),
    Mistake(
        "more_is_trained",
        "The module has a parameter besides its four layers, and training would change that too.",
        "What is fixed, such as 1 / sqrt(Dh), is a plain number, not an nn.Parameter.",
        heads_variant(more=True),
    ),
    Mistake(
        "always_a_bias",
        "The layers have a bias even with bias=False.",
        "Pass `bias` on to all four layers.",
        heads_variant(always_bias="qkvo"),
    ),
    *(
        Mistake(
            f"w_{letter}_always_with_a_bias",
            f"w_{letter} has a bias even with bias=False; the layers before it have none.",
            "Pass `bias` on to all four layers.",
            heads_variant(always_bias=letter),
        )
        for letter in "kvo"
    ),
    *(
        Mistake(
            f"{called}_not_made",
            f"After __init__ there is no self.{called}.",
            "Layers are made in __init__, under exactly the names that the stub gives. A layer "
            "made in forward would be new, random and untrained at every call.",
            heads_variant(missing=missing),
        )
        for called, missing in (("w_q", "qkvo"), ("w_k", "kvo"), ("w_v", "vo"), ("w_o", "o"))
    ),
    *(
        Mistake(
            f"{name}_for_all_heads",
            f"The layers are {size}: each of w_q, w_k and w_v should be D to D.",
            "Each layer projects for all heads at once, and each head sees the whole embedding: "
            "project first, then cut.",
            heads_variant(sizes=sizes),
        )
        for name, size, sizes in (
            ("small_layers", "Dh to Dh", lambda d, h: (d // h, d // h)),
            ("one_small_head", "D to Dh", lambda d, h: (d, d // h)),
            ("wide_layers", "D to H D", lambda d, h: (d, d * h)),
        )
    ),
    Mistake(
        "list_of_small_layers",
        "The layers of the heads are kept in plain lists; the exercise asks for a single "
        "nn.Linear.",
        "nn.Module does not see into a list: no optimiser finds what is in there. One layer of D "
        "to D holds the rows of all heads.",
        heads_variant(in_lists=True),
    ),
    *(
        Mistake(
            name,
            f"{message} one and the same layer.",
            "Two names for one object share its weights. Make a layer for each.",
            heads_variant(tied=tied),
        )
        for name, message, tied in (
            ("one_layer_for_queries_and_keys", "w_q and w_k are", "k"),
            ("one_layer_for_queries_and_values", "w_q and w_v are", "v"),
        )
    ),
)
