"""What the weights of a sentence depend on, with a right split of the heads and a broken one."""

import torch

from utils.experiments import head_bugs
from utils.experiments.buggy import broken_split_heads

OWN = {"queries of a": [0, 1, 2], "keys of a": [0, 1, 2], "mask of a": [0, 1, 2]}


def found(moved):
    rows = zip(head_bugs.CHANGED, moved, strict=True)
    return {what: row.nonzero().flatten().tolist() for what, row in rows if row.any()}


def test_with_a_right_split_a_sentence_moves_its_own_weights_alone():
    assert found(head_bugs.moves()) == OWN


def test_with_heads_paired_with_the_batch_another_sentence_moves_them_too():
    assert found(head_bugs.moves(broken_split_heads)) == {
        "queries of a": [0, 2],
        "keys of a": [0, 2],
        "mask of a": [0, 1, 2],
        "queries of b": [1],
        "keys of b": [1],
    }


def test_a_split_written_otherwise_gives_the_right_table():
    def stacked(x, n_heads):
        return torch.stack(x.chunk(n_heads, -1), 1)

    assert torch.equal(head_bugs.moves(stacked), head_bugs.moves())
