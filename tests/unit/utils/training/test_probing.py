"""Linear probes: what each stage of an encoder holds, and no more."""

import torch
from torch import nn

from utils.training.probing import IGNORED, Examples, examples, probe, states_of


class Shift(nn.Module):
    """A layer that moves every vector one place on: a word then holds its neighbour's."""

    def forward(self, x, mask=None):
        return x.roll(1, 1)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(7, 5)
        self.layers = nn.ModuleList([Shift(), Shift()])

    def forward(self, ids):
        x = self.table(ids)
        for layer in self.layers:
            x = layer(x)
        return x


def batch(seed, size=40, length=6):
    ids = torch.randint(1, 7, (size, length), generator=torch.Generator().manual_seed(seed))
    tags = ids.roll(1, 1) % 3  # the word before, around the corner, decides
    tags[:, -1] = IGNORED
    return ids, torch.ones(size, 1, length, dtype=torch.bool), tags


def test_states_are_what_enters_the_first_layer_and_what_each_layer_gives():
    model, ids = Reader(), batch(0)[0]
    with states_of(model.layers) as seen:
        out = model(ids)
    assert len(seen) == 3
    torch.testing.assert_close(seen[0], model.table(ids))
    torch.testing.assert_close(seen[2], out)
    with torch.no_grad():
        model(ids)
    assert len(seen) == 3  # no hook is left


def test_examples_hold_real_words_only_and_leave_no_gradient():
    model = Reader()
    found = examples(model, model.layers, [batch(0), batch(1, 3, 9)])
    assert [state.shape for state in found.states] == [(40 * 5 + 3 * 8, 5)] * 3
    assert len(found.ids) == len(found.tags) == 40 * 5 + 3 * 8
    assert IGNORED not in found.tags
    assert not any(state.requires_grad for state in found.states)
    assert not model.training


def test_a_probe_reads_what_a_stage_holds_and_only_guesses_what_it_does_not():
    torch.manual_seed(0)
    model = Reader()
    known, asked = (examples(model, model.layers, [batch(seed, 200)]) for seed in (0, 1))
    own, neighbour, second = (right.float().mean().item() for right in probe(known, asked))
    assert neighbour == 1
    assert max(own, second) < 0.6


def test_a_stage_that_is_the_same_for_all_words_does_not_stop_a_probe():
    flat = Examples([torch.ones(6, 4)], torch.arange(6), torch.tensor([0, 0, 0, 0, 1, 1]))
    (right,) = probe(flat, flat, steps=5)
    assert right.tolist() == [True] * 4 + [False] * 2
