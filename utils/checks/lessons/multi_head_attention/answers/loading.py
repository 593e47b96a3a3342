"""Loading the weights of torch's attention: right answers and common mistakes."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.multi_head_attention.probes import PROBES

Cut = Callable[[Tensor], Sequence[Tensor]]


def load_oracle(mha: nn.Module, torch_mha: nn.MultiheadAttention) -> None:
    """Load torch's weights by name, as from a file."""
    theirs = torch_mha.state_dict()
    ours: dict[str, Tensor] = {}
    for kind in ("weight", "bias"):
        if f"in_proj_{kind}" in theirs:
            parts = zip("qkv", theirs[f"in_proj_{kind}"].chunk(3), strict=True)
            ours |= {f"w_{letter}.{kind}": part for letter, part in parts}
            ours[f"w_o.{kind}"] = theirs[f"out_proj.{kind}"]
    mha.load_state_dict(ours)


def _thirds(matrix: Tensor) -> Sequence[Tensor]:
    return matrix.chunk(3)


def _turned(x: Tensor) -> Tensor:
    """Transpose a matrix, and leave a bias as it is."""
    return x.T.clone() if x.ndim > 1 else x.clone()


def _kinds_in_front(rows: Tensor, n_heads: int) -> Tensor:
    """Sort rows that are taken to lie head by head: all queries, then all keys, then all values."""
    by_head = rows.view(n_heads, 3, -1, *rows.shape[1:])
    return by_head.transpose(0, 1).reshape(rows.shape)


_BIASES = {"w_o.bias": "o", "in_proj.bias": "qkv"}


@by_choices
def _load(
    *,
    order: str = "qkv",
    left_out: str = "",
    but: Literal["", "w_o.bias", "in_proj.bias"] = "",
    exchanged: str = "",
    twice: str = "",
    first_for_all: str = "",
    by_head: bool = False,
    kinds: tuple[str, ...] = ("weight", "bias"),
    cut: Cut = _thirds,
    change: Callable[[Tensor], Tensor] = torch.clone,
    last: Callable[[Tensor], Tensor] = torch.clone,
    after: Callable[[nn.Module], object] = lambda mha: None,
    replaces: bool = False,
    adds: bool = False,
) -> Any:
    """Build a load_torch_attention with the given choices.

    Args:
        order: which of our layers get the three parts of torch's matrix.
        left_out: layers that nothing is loaded into.
        but: the only bias that is not loaded, "w_o.bias", or the only three, "in_proj.bias".
        exchanged: what keys and values get of each other: "weight", "bias" or nothing.
        twice: what of the keys goes to the values, too: "weight", "bias" or nothing.
        first_for_all: what all three layers get of the queries: "weight", "bias" or nothing.
        by_head: whether torch's rows are read as q, k and v of head 0, then those of head 1.
        kinds: what is loaded of each layer.
        cut: torch's matrix or bias -> its three parts.
        change: applied to each of these parts before it is loaded.
        last: applied to the weight and the bias of the output projection.
        after: what is done to our module in the end.
        replaces: whether our layers get new parameters.
        adds: whether torch's numbers are added to ours.

    """

    def load(mha: Any, torch_mha: Any) -> None:
        for kind in kinds:
            whole = getattr(torch_mha, f"in_proj_{kind}")
            if whole is None:
                continue
            rows = _kinds_in_front(whole.data, torch_mha.num_heads) if by_head else whole.data
            parts = [cut(rows)[0]] * 3 if kind == first_for_all else cut(rows)
            found = {name: change(part) for name, part in zip(order, parts, strict=False)}
            if kind == exchanged:
                found["k"], found["v"] = found["v"], found["k"]
            if kind == twice:
                found["v"] = found["k"].clone()
            found = {"o": last(change(getattr(torch_mha.out_proj, kind).data))} | found
            skipped = _BIASES.get(but, "") if kind == "bias" else ""
            for name in found.keys() - set(left_out + skipped):
                layer = getattr(mha, f"w_{name}")
                if replaces:
                    setattr(layer, kind, nn.Parameter(found[name]))
                else:
                    own = getattr(layer, kind)
                    own.data = own.data + found[name] if adds else found[name]
        after(mha)

    return load


def _other_way(mha: Any, torch_mha: nn.MultiheadAttention) -> None:
    matrices = [getattr(mha, f"w_{letter}").weight.data for letter in "qkv"]
    torch_mha.in_proj_weight.data = torch.cat(matrices)
    torch_mha.out_proj.weight.data = mha.w_o.weight.data.clone()


def _freezes_torchs(mha: nn.Module, torch_mha: nn.MultiheadAttention) -> None:
    torch_mha.requires_grad_(False)
    load_oracle(mha, torch_mha)


def _with_gradients(mha: Any, torch_mha: nn.MultiheadAttention) -> None:
    mha.w_q.weight.copy_(torch_mha.in_proj_weight.chunk(3)[0])


def _asks_always(ask: Callable[[Any], object]) -> Any:
    """Load rightly, but ask something of torch's bias, where there may be none."""

    def load(mha: nn.Module, torch_mha: nn.MultiheadAttention) -> None:
        ask(torch_mha.in_proj_bias)
        load_oracle(mha, torch_mha)

    return load


def _biases_unless_zero(mha: nn.Module, torch_mha: nn.MultiheadAttention) -> None:
    whole = torch_mha.in_proj_bias is None or bool(torch_mha.in_proj_bias.any())
    (load_oracle if whole else _load(kinds=("weight",)))(mha, torch_mha)


_PARTS = (
    "The three parts of in_proj_weight went to the wrong layers.",
    "torch puts the rows of the queries first, then the keys, then the values.",
)
LEFT_OUT = (
    Mistake(
        "biases_forgotten",
        "The weights are loaded, but the biases are not.",
        "torch keeps in_proj_bias and out_proj.bias; both are None without bias.",
        _load(kinds=("weight",)),
    ),
    Mistake(
        "biases_of_zero_not_loaded",
        "Biases that are zero are not loaded, so the old ones stay.",
        "A new module of torch's has biases of zero, and they are biases like any others.",
        _biases_unless_zero,
    ),
    Mistake(
        "output_projection_forgotten",
        "w_o was not loaded.",
        "torch calls it out_proj.",
        _load(left_out="o"),
    ),
    Mistake(
        "output_bias_forgotten",
        "The bias of w_o was not loaded; its weight was.",
        "torch keeps it in out_proj.bias.",
        _load(but="w_o.bias"),
    ),
    Mistake(
        "input_biases_forgotten",
        "The biases of w_q, w_k and w_v were not loaded.",
        "torch keeps all three in in_proj_bias.",
        _load(but="in_proj.bias"),
    ),
    *(
        Mistake(
            f"{called}_forgotten",
            f"{called} was not loaded: it has the weights that it was made with.",
            "There are four layers to load: three parts of in_proj_weight, and out_proj.",
            _load(left_out=name),
        )
        for called, name in (("w_q", "q"), ("w_k", "k"), ("w_v", "v"))
    ),
    Mistake(
        "weights_forgotten",
        "The biases are loaded, but the weights are not.",
        "torch keeps in_proj_weight and out_proj.weight.",
        _load(kinds=("bias",)),
    ),
)
WRONG_PART = (
    *(
        Mistake(name, *_PARTS, _load(order=order))
        for name, order in (
            ("wrong_order", "kqv"),
            ("values_first", "vkq"),
            ("keys_last", "qvk"),
            ("values_in_front", "vqk"),
            ("queries_last", "kvq"),
        )
    ),
    *(
        Mistake(
            f"{kind}_of_keys_and_values_exchanged",
            f"w_k has the {kind} of the values, and w_v that of the keys.",
            "torch puts the rows of the queries first, then the keys, then the values.",
            _load(exchanged=kind),
        )
        for kind in ("weight", "bias")
    ),
    *(
        Mistake(
            f"{kind}_of_the_keys_in_w_v",
            f"The {kind} of w_v is that of the keys.",
            "The values come last: the rows from 2 D on.",
            _load(twice=kind),
        )
        for kind in ("weight", "bias")
    ),
    Mistake(
        "values_in_the_output_projection",
        "The part of in_proj_weight that belongs to the values went to w_o.",
        "in_proj_weight holds queries, keys and values. The output projection is a layer of its "
        "own, out_proj.",
        _load(order="qko"),
    ),
    Mistake(
        "rows_alternating",
        "in_proj_weight is read as if its rows were a query's, a key's and a value's in turn.",
        "torch puts all rows of the queries first, then all of the keys, then all of the values.",
        _load(cut=lambda whole: [whole[n::3] for n in range(3)]),
    ),
    Mistake(
        "rows_by_head",
        "in_proj_weight is read head by head: a head's queries, its keys, its values, then those "
        "of the next head.",
        "torch puts all rows of the queries first, then all of the keys, then all of the values.",
        _load(by_head=True),
    ),
    Mistake(
        "one_part_for_all",
        "The first part of in_proj_weight went to all three layers.",
        "It has 3 D rows: D for the queries, then D for the keys, then D for the values.",
        _load(cut=lambda whole: [whole.chunk(3)[0]] * 3),
    ),
    *(
        Mistake(
            f"first_{kind}_for_all",
            f"w_q, w_k and w_v all have the {kind} of the queries.",
            f"in_proj_{kind} holds three parts. Does your slice move on from layer to layer?",
            _load(first_for_all=kind),
        )
        for kind in ("weight", "bias")
    ),
)
NUMBERS = (
    Mistake(
        "transposed",
        "The matrices are transposed.",
        "in_proj_weight has one row for each output, exactly as nn.Linear keeps its weight.",
        _load(change=_turned),
    ),
    Mistake(
        "input_projections_transposed",
        "The matrices of queries, keys and values are transposed.",
        "in_proj_weight has one row for each output, exactly as nn.Linear keeps its weight.",
        _load(cut=lambda whole: [_turned(part) for part in whole.chunk(3)]),
    ),
    Mistake(
        "output_projection_transposed",
        "The matrix of the output projection is transposed.",
        "out_proj is an nn.Linear, and so is w_o. Does anything need transposing?",
        _load(last=_turned),
    ),
    Mistake(
        "added_to_ours",
        "torch's numbers are added to those that our layers had.",
        "They take the place of ours: `copy_` writes over what was there.",
        _load(adds=True),
    ),
    Mistake(
        "output_bias_zeroed",
        "The bias of the output projection becomes zero.",
        "torch starts it at zero, but it is trained like the others: copy it too.",
        _load(last=lambda x: x.clone() if x.ndim > 1 else 0 * x),
    ),
    Mistake(
        "memory_shared",
        "Both modules use the same memory: training one would change the other.",
        "Copy the numbers instead of handing over the tensors: `copy_`, or `clone()`.",
        _load(change=lambda x: x, last=lambda x: x),
    ),
)
MODULE = (
    Mistake(
        "frozen",
        "After loading, the parameters cannot be trained any more.",
        "Under torch.no_grad() a parameter can be written without freezing it.",
        _load(after=lambda mha: mha.requires_grad_(requires_grad=False)),
    ),
    Mistake(
        "parameters_replaced",
        "mha has new parameters in place of its own: an optimiser that holds the old ones would "
        "no longer train the module.",
        "Write the numbers into the existing parameters: `copy_`, or load_state_dict.",
        _load(replaces=True),
    ),
    Mistake(
        "left_in_eval_mode",
        "Loading changes the mode of mha, train or eval.",
        "Copy numbers and nothing else: the mode is the caller's decision.",
        _load(after=lambda mha: mha.eval()),
    ),
    Mistake(
        "other_way_round",
        "torch's module was overwritten with yours.",
        "The first argument is written to; the second is only read.",
        _other_way,
    ),
    Mistake(
        "torchs_module_frozen",
        "torch's module can no longer be trained: its parameters ask for no gradient.",
        "`torch.no_grad()` around the copying is enough, and leaves torch_mha as it is.",
        _freezes_torchs,
    ),
    Mistake(
        "nothing_loaded",
        "mha still has the weights that it was made with.",
        "`x = y` gives a name to a tensor; to write into a parameter use `copy_`. With "
        "strict=False, load_state_dict skips names that mha does not have.",
        lambda mha, torch_mha: None,
    ),
    Mistake(
        "written_under_gradients",
        "A parameter is written while gradients are recorded, which torch refuses.",
        "`with torch.no_grad():` around the copying tells torch that this is not part of a "
        "computation.",
        _with_gradients,
    ),
    *(
        Mistake(
            f"bias_expected_by_{name}",
            "Loading fails where there is no bias: in_proj_bias is None there.",
            "Check whether torch's module has a bias before you split it.",
            _asks_always(ask),
        )
        for name, ask in (
            ("chunk", lambda bias: bias.chunk(3)),
            ("split", lambda bias: bias.split(1)),
            ("slice", lambda bias: bias[:1]),
            ("data", lambda bias: bias.data),
            ("detach", lambda bias: bias.detach()),
        )
    ),
)
EXERCISES = by_id(
    Exercise(
        PROBES["load_torch_attention"],
        load_oracle,
        (*LEFT_OUT, *WRONG_PART, *NUMBERS, *MODULE),
    )
)
