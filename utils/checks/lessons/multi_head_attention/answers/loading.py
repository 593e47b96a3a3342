"""Loading the weights of torch's attention: the right answer; known mistakes are patches of it."""

from torch import Tensor, nn

from utils.checks.exercise import Exercise, by_id
from utils.checks.lessons.multi_head_attention.probes import PROBES


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


EXERCISES = by_id(Exercise(PROBES["load_torch_attention"], load_oracle))
