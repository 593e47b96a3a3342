"""The usual causes of errors: each is told where it is true, and nowhere else."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils.checks.explain.seen.errors_explained import usual_cause
from utils.checks.observation import Problem, ProblemKind


def raised(call):
    try:
        call()
    except Exception as error:
        return Problem(ProblemKind.EXCEPTION, f"{type(error).__name__}: {error}")
    raise AssertionError("nothing was raised")


class NotSetUp(nn.Module):
    def __init__(self):
        self.layer = nn.Linear(2, 3)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (NotSetUp, "super().__init__()"),
        (lambda: torch.ones(2, 3) @ torch.ones(4, 5), "inner sizes 3 and 4"),
        (lambda: torch.ones(2, 3) + torch.ones(2, 5), "Axis 1 has size 3 in one tensor and 5"),
        (lambda: torch.ones(2, 3).t().view(6), "`view` fails after this transpose"),
        (lambda: torch.ones(6).view(4, 2), "6 entries do not fill the shape [4, 2]"),
        (lambda: bool(torch.ones(2) > 0), "need a single truth value"),
        (lambda: torch.ones(2).sum(3), "Your code names an axis that the tensor does not have"),
        (lambda: torch.ones(2)[3], "beyond the end"),
        (lambda: torch.ones(2)[0, 1], "than the tensor has axes"),
        (lambda: torch.ones(2, 3)[torch.ones(2, 1).bool()], "index of shape [2, 1] picks from a"),
        (lambda: F.one_hot(torch.tensor([-1]), 3), "whole numbers from 0"),
        (lambda: [1].index(2), "is it there for every input"),
        (lambda: None.shape, "Your code asks None for `shape`"),
        (lambda: nn.Linear(2, 3).w, "is it made in __init__"),
        (lambda: nn.Identity().weight, "nn.Identity does nothing and has no"),
        (
            lambda: [(B, T) for B, T in [(1,)]],
            "There are 2 names on the left of `=`, but 1 on its right",
        ),
        (lambda: undefined_name, "`undefined_name` is not defined in this notebook"),  # noqa: F821
        (lambda: 1 / 0, "a count that can be zero"),
        (lambda: {}["a"], "The key 'a' is not in the dictionary"),
        (lambda: torch.ones(2, 1).expand(3, 4), "only axes of size 1 can"),
        (lambda: torch.stack([torch.ones(3), torch.ones(2)]), "A slice that ends at -1"),
        (lambda: torch.cat([torch.ones(3, 2), torch.ones(2, 3)]), "joined along axis 0"),
        (lambda: nn.Conv1d(4, 4, 3)(torch.ones(2, 6, 4)), "(B, 4, T), but found 6 there"),
        (lambda: nn.Linear(2), "compare the call with"),
        (lambda: ~torch.ones(2), "need booleans"),
        (lambda: torch.ones(2) ^ 2, "a power is written `**`"),
        (lambda: 2.0 ^ 3, "a power is written `**`"),
        (lambda: torch.ones(2, requires_grad=True).numpy(), "numpy records no gradients"),
    ],
)
def test_torchs_own_errors_are_told_with_their_usual_cause(call, says):
    assert says in usual_cause(raised(call))


def test_a_problem_that_is_no_exception_says_enough_itself():
    assert usual_cause(Problem(ProblemKind.ATTRIBUTE, "self.w_q is missing.")) == ""


def test_a_value_error_is_put_down_to_a_check_of_sizes_only_where_that_check_raised_it():
    def raised(line):
        return usual_cause(Problem(ProblemKind.EXCEPTION, "ValueError: 0 is not in list", line))

    assert "Your own `raise` stopped" in raised('raise ValueError("too long")')
    assert "not there" in raised("found.append(tags.index(t))")


def test_none_is_only_blamed_where_the_error_is_about_it():
    def said(message):
        return usual_cause(Problem(ProblemKind.EXCEPTION, f"TypeError: {message}"))

    assert not said("mean() received an invalid combination - got (dtype=NoneType, axis=int)")
    assert "Something is None" in said("'NoneType' object is not subscriptable")
    assert "Something is None" in said("can't assign a NoneType to a torch.LongTensor")
