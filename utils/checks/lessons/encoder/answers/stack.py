"""The stack of one repeated layer: the right answer; the known mistakes are patches of it."""

from collections.abc import Callable

from torch import nn

from utils.checks.exercise import Exercise, by_id
from utils.checks.lessons.encoder.probes import PROBES
from utils.checks.lessons.encoder.stack_facts import stack_facts


def stack_oracle(make_layer: Callable[[], nn.Module], n_layers: int) -> nn.ModuleList:
    """Stack n_layers layers, each made anew."""
    stack = nn.ModuleList()
    while len(stack) < n_layers:
        stack.append(make_layer())
    return stack


EXERCISES = by_id(Exercise(PROBES["repaired_stack"], stack_oracle, facts=stack_facts))
