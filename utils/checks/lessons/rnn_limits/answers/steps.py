"""The number of steps that must wait for each other: right answers and common mistakes."""

import math
from collections.abc import Sequence

from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.rnn_limits.probes import PROBES

TOKENS = 1000


def longest_wait(needs: Sequence[Sequence[int]]) -> int:
    """Count the steps of a layer that computes all it can at each step.

    Args:
        needs: for each output of the layer, the earlier outputs that it is computed from.

    """
    step_of: list[int] = []
    for waits_for in needs:
        step_of.append(1 + max((step_of[earlier] for earlier in waits_for), default=0))
    return max(step_of)


def _rnn_steps() -> int:
    return longest_wait([[t - 1] if t else [] for t in range(TOKENS)])


def _attention_steps() -> int:
    return longest_wait([[] for _ in range(TOKENS)])  # outputs need inputs alone


_IN_WORDS = (
    "That says how the steps grow with the tokens, in words. A number is asked for.",
    "How many steps is it for these 1,000 tokens? Write it without quotes.",
)

EXERCISES = by_id(
    Exercise(
        PROBES["predict_rnn_steps"],
        _rnn_steps,
        (
            Mistake(
                "all_at_once",
                "A state cannot be computed before the one that it is made from.",
                "Which of the 1,000 states can be computed in the first step? And in the second?",
                1,
            ),
            Mistake(
                "first_state_for_free",
                "The first state has to be computed too: it needs the first token.",
                "The state given at the start is h_0; the tokens make h_1 to h_T.",
                999,
            ),
            Mistake(
                "halving",
                "That is the depth of a tree. A sum can be grouped that way; here the tanh "
                "between two steps prevents it.",
                "Could you join steps 2 and 3 into one before h_1 is known?",
                10,
            ),
            *(
                Mistake(
                    f"halving_{name}",
                    "That is the depth of a tree. A sum can be grouped that way; here the tanh "
                    "between two steps prevents it.",
                    "Could you join steps 2 and 3 into one before h_1 is known?",
                    value,
                )
                for name, value in (("not_rounded", math.log2(TOKENS)), ("rounded_down", 9))
            ),
            Mistake(
                "h_0_counted",
                "That counts h_0 too, which is given, not computed.",
                "How many states does one token make? And 1,000 tokens?",
                1001,
            ),
            *(
                Mistake(
                    f"{name}_for_each_token",
                    f"That counts {name} for each token. As the lesson counts, one step makes one "
                    "state, whatever operations it takes.",
                    "How many states does one token make? And 1,000 tokens?",
                    each * TOKENS,
                )
                for name, each in (("two", 2), ("three", 3), ("four", 4))
            ),
            Mistake(
                "half_of_the_tokens",
                "Half as many steps do not reach the last state: each state is made from the one "
                "before it, back to the first.",
                "Follow the arrows from the first token to the last state and count the states.",
                TOKENS // 2,
            ),
            *(
                Mistake(
                    f"steps_of_all_states_added{name}",
                    "That adds up the steps that lead to each state. But a state does not start "
                    "again from h_0: it continues from the state before.",
                    "Once state 500 is known, how many more steps does state 501 need?",
                    TOKENS * (TOKENS + last) // 2,
                )
                for name, last in (("", 1), ("_from_zero", -1))
            ),
            *(
                Mistake(f"order_of_growth_in_{letter}", *_IN_WORDS, f"O({letter})")
                for letter in ("T", "n", "N")
            ),
            Mistake(
                "pairs",
                "That is the number of pairs of tokens, which a recurrent network never forms.",
                "Follow the arrows from the first token to the last state and count the states.",
                1_000_000,
            ),
        ),
        tolerance=0.0,
    ),
    Exercise(
        PROBES["predict_attention_steps"],
        _attention_steps,
        (
            *(
                Mistake(
                    f"one_query_at_a_time{name}",
                    "There are many outputs, but none is made from another: none has to wait.",
                    "Which output of the layer does output 500 need?",
                    TOKENS + more,
                )
                for name, more in (("", 0), ("_but_the_first", -1), ("_and_one", 1))
            ),
            Mistake(
                "two_for_each_query",
                "That counts two for each token. But no output is made from another: none has to "
                "wait.",
                "Which output of the layer does output 500 need?",
                2 * TOKENS,
            ),
            *(
                Mistake(
                    name,
                    "Projections, scores and weights are not outputs of the layer: as the lesson "
                    "counts, all these operations belong to one step, that of the weighted mean.",
                    "A new step begins only where an output of the layer needs another output.",
                    steps,
                )
                for name, steps in (
                    ("scores_then_outputs", 2),
                    ("scores_weights_outputs", 3),
                    ("projections_scores_weights_outputs", 4),
                    ("all_operations", 11),  # as the cell after it counts them
                )
            ),
            *(
                Mistake(
                    f"pairs{name}",
                    "That is how many pairs of tokens are compared. The question is how many "
                    "computations have to wait for others.",
                    "Work and waiting are two things: all scores can be computed side by side.",
                    pairs,
                )
                for name, pairs in (
                    ("", TOKENS**2),
                    ("_counted_once", TOKENS * (TOKENS + 1) // 2),
                    ("_of_two_tokens", TOKENS * (TOKENS - 1) // 2),
                )
            ),
            Mistake(
                "halving",
                "That is the depth of a tree that adds 1,000 numbers. As the lesson counts, a "
                "whole matrix product is part of one step.",
                "A new step begins only where an output of the layer needs another output.",
                10,
            ),
            Mistake(
                "halving_not_rounded",
                "That is the depth of a tree that adds 1,000 numbers. As the lesson counts, a "
                "whole matrix product is part of one step.",
                "A new step begins only where an output of the layer needs another output.",
                math.log2(TOKENS),
            ),
            Mistake("order_of_growth", *_IN_WORDS, "O(1)"),
            Mistake(
                "no_step_at_all",
                "Something is computed, so there is at least one step.",
                "A new step begins only where an output of the layer needs another output.",
                0,
            ),
        ),
        tolerance=0.0,
    ),
)
