"""The cell: an independent right answer."""

import torch
from torch import Tensor

from utils.checks.exercise import Exercise, by_id
from utils.checks.lessons.rnn_limits.probes import PROBES

# Bound at import: torch lacks this name while an answer is observed.
_torch_cell = torch.rnn_tanh_cell


def cell_oracle(x_t: Tensor, h: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor) -> Tensor:
    """Call torch's own cell, whose second bias is zero here."""
    return _torch_cell(x_t, h, w_x, w_h, b, torch.zeros_like(b))


EXERCISES = by_id(Exercise(PROBES["rnn_cell"], cell_oracle))
