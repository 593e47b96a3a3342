"""A version that a student's test is tried on does in a notebook what its proxy does in grading."""

import pytest
import torch

from utils.checks.registry import probes

ONE = torch.ones(1, 1, 1)


def version(test: str):
    return probes()[test].make(probes()[test].cases[0].params)["version"]


@pytest.mark.parametrize(
    ("test", "given"),
    [
        ("test_attention", [torch.zeros(1, 1, 40_000)] * 3),
        ("test_padding", [torch.ones(1, 40_000, dtype=torch.int64)]),
        ("test_no_peeking", [torch.ones(1, 40_000, dtype=torch.int64)]),
    ],
)
def test_what_grading_refuses_is_refused_in_a_notebook(test, given):
    with pytest.raises(ValueError, match="a test may pass"):
        version(test)(*given)


@pytest.mark.parametrize(
    ("test", "given"),
    [
        ("test_attention", [ONE, ONE, ONE.clone().requires_grad_()]),
        ("test_padding", [torch.tensor([[1, 2]])]),
        ("test_no_peeking", [torch.tensor([[1, 2]])]),
    ],
)
def test_results_record_no_gradients_in_a_notebook_either(test, given):
    found = version(test)(*given)
    assert not any(x.requires_grad for x in (found if isinstance(found, tuple) else (found,)))
