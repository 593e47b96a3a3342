"""What each bug of attention in heads makes the weights of a sentence depend on."""

import pytest
import torch

from utils.experiments import head_bugs
from utils.experiments.buggy import broken_split_heads

OWN = {"queries of a": [0, 1, 2], "keys of a": [0, 1, 2], "mask of a": [0, 1, 2]}


def found(moved):
    rows = zip(head_bugs.CHANGED, moved, strict=True)
    return {what: row.nonzero().flatten().tolist() for what, row in rows if row.any()}


@pytest.mark.parametrize(
    ("bug", "moved"),
    [
        ("", OWN),
        (head_bugs.FROM_QUERY, OWN | {"keys of a": []}),
        (head_bugs.MASK_ORDER, OWN | {"mask of a": [0, 2], "mask of b": [1]}),
        (
            head_bugs.PAIRED,
            {
                "queries of a": [0, 2],
                "keys of a": [0, 2],
                "mask of a": [0, 1, 2],
                "queries of b": [1],
                "keys of b": [1],
            },
        ),
    ],
)
def test_each_bug_has_a_picture_of_its_own(bug, moved):
    assert found(head_bugs.moves(bug)) == {what: heads for what, heads in moved.items() if heads}


def test_the_panels_show_each_bug_once():
    assert sorted(head_bugs.PANELS.values()) == sorted(head_bugs.BUGS)


def test_a_split_that_is_given_takes_the_place_of_the_broken_one():
    assert torch.equal(head_bugs.moves(split=broken_split_heads), head_bugs.moves(head_bugs.PAIRED))
