"""The recurrent network in plain operations: the stand-in for an unfinished exercise."""

import torch
from torch import Tensor

from utils.reference.recurrent_cell import reference_cell


def reference_forward(
    x: Tensor, h_0: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor
) -> tuple[Tensor, Tensor]:
    """Take T steps: inputs (B, T, I) -> all states (B, T, Hd) and the last one (B, Hd)."""
    states = [h_0]
    for x_t in x.unbind(1):
        states.append(reference_cell(x_t, states[-1], w_x, w_h, b))
    return torch.stack(states[1:], 1), states[-1]
