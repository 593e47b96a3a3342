"""The stack of one repeated layer: right answers and common mistakes."""

import copy
import itertools
from collections.abc import Callable
from typing import Any

from torch import nn

from utils.checks.combining import by_choices
from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.encoder.probes import PROBES
from utils.checks.lessons.encoder.stack_facts import stack_facts


def stack_oracle(make_layer: Callable[[], nn.Module], n_layers: int) -> nn.ModuleList:
    """Stack n_layers layers, each made anew."""
    stack = nn.ModuleList()
    while len(stack) < n_layers:
        stack.append(make_layer())
    return stack


@by_choices
def _stack_variant(
    *,
    more: int = 0,
    whole: bool = False,
    holding: str = "new",
    drawn_again: bool = False,
    container: Callable[[list[Any]], Any] = nn.ModuleList,
) -> Any:
    """Build a stack with so many layers more, of one layer or copies of it, in any container.

    With "two" the first is one, and all others are another one; with "pairs" each stands at two
    places; with "turns" two layers come by turns; with "numbers" each is a layer with
    parameters of its own, which hold one storage. Weights may be `drawn_again` at the end, and the
    `whole` list may be repeated n_layers times.
    """

    def stack(make_layer: Callable[[], nn.Module], n_layers: int) -> Any:
        one = make_layer()
        two = itertools.chain([one], itertools.repeat(make_layer()))
        turns = itertools.cycle([one, make_layer()])
        pairs = itertools.chain.from_iterable([new, new] for new in iter(make_layer, None))
        ways: dict[str, Callable[[], Any]] = {
            "new": make_layer,
            "one": lambda: one,
            "two": lambda: next(two),
            "pairs": lambda: next(pairs),
            "turns": lambda: next(turns),
            "shallow": lambda: copy.copy(one),
            "function": lambda: make_layer,
            "numbers": lambda: _on_the_numbers_of(one, make_layer()),
        }
        layers = [ways[holding]() for _ in range(n_layers + more)]
        for layer in layers if drawn_again else ():
            layer.reset_parameters()
        return container(layers * n_layers if whole else layers)

    return stack


def _on_the_numbers_of(one: nn.Module, layer: nn.Module) -> nn.Module:
    for mine, theirs in zip(layer.parameters(), one.parameters(), strict=True):
        mine.data = theirs.data
    return layer


EXERCISES = by_id(
    Exercise(
        PROBES["repaired_stack"],
        stack_oracle,
        (
            Mistake(
                "still_one_layer",
                "The list still holds one layer several times.",
                "How often is make_layer called?",
                _stack_variant(holding="one"),
            ),
            Mistake(
                "two_layers_alone",
                "Only two of the layers differ: one of them is in several places.",
                "How often is make_layer called? [x] * n repeats x, and calls nothing again.",
                _stack_variant(holding="two"),
            ),
            Mistake(
                "each_layer_twice",
                "Each layer is in the list twice, one after the other.",
                "How often is make_layer called? Once for each place.",
                _stack_variant(holding="pairs"),
            ),
            Mistake(
                "shallow_copies",
                "The layers are different objects that share their weights.",
                "copy.copy copies the shell of a module, and a parameter that is assigned stays "
                "the same one. Make new layers, and leave them as they are.",
                _stack_variant(holding="shallow"),
            ),
            Mistake(
                "numbers_shared",
                "The layers have parameters of their own, but these share the same numbers in "
                "memory: training one layer changes the others.",
                "`p.data = q.data` makes two parameters one storage. New layers have numbers of "
                "their own already.",
                _stack_variant(holding="numbers"),
            ),
            Mistake(
                "two_layers_by_turns",
                "Two layers come by turns: each is in several places.",
                "How often is make_layer called, and how many layers are asked for?",
                _stack_variant(holding="turns"),
            ),
            Mistake(
                "one_layer_drawn_again",
                "The list holds one layer several times. Its weights are drawn again, but it is "
                "still one layer.",
                "How often is make_layer called?",
                _stack_variant(holding="one", drawn_again=True),
            ),
            Mistake(
                "make_layer_not_called",
                "The list holds make_layer itself: it is never called.",
                "Brackets after a function's name call it.",
                _stack_variant(holding="function"),
            ),
            Mistake(
                "one_layer_too_many",
                "There is one layer too many.",
                "Is there one beside those that are counted?",
                _stack_variant(more=1),
            ),
            Mistake(
                "one_layer_too_few",
                "There is one layer too few.",
                "Count how often a layer is made.",
                _stack_variant(more=-1),
            ),
            Mistake(
                "whole_list_repeated",
                "The list is right, and then repeated: it has n_layers times as many entries as "
                "it should, and each layer is in it n_layers times.",
                "A loop that calls make_layer n_layers times is enough: nothing is multiplied "
                "after it.",
                _stack_variant(whole=True),
            ),
            Mistake(
                "plain_list",
                "The result is a plain list: a module that holds it does not know its layers.",
                "nn.ModuleList was right; keep it.",
                _stack_variant(container=list),
            ),
            Mistake(
                "a_sequential",
                "The result is an nn.Sequential; the layers of an encoder take a mask, which it "
                "cannot pass on.",
                "nn.ModuleList was right; keep it.",
                _stack_variant(container=lambda layers: nn.Sequential(*layers)),
            ),
            Mistake(
                "one_layer_alone",
                "The result is a single layer, not a list of them.",
                "Where is your `return`, and what comes after it?",
                _stack_variant(container=lambda layers: layers[0]),
            ),
        ),
        facts=stack_facts,
    ),
)
