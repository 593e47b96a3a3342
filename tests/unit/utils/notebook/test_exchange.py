"""Whether an encoder uses parts that are put into it after it was made."""

import pytest
from torch import nn

from utils.notebook.exchange import fault_of_exchanging
from utils.reference.modules import EncoderLayer, TransformerEncoder


class StepsKept(EncoderLayer):
    """Keeps second references to its parts."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.steps = [(self.norm_1, self._attended), (self.norm_2, self.feed_forward)]

    def _attended(self, x):
        return self.self_attention(x, x, x, self.mask)[0]

    def forward(self, x, mask=None):
        self.mask = mask
        for norm, step in self.steps:
            x = norm(x + step(x))
        return x


class OfSteps(TransformerEncoder):
    layer_type = StepsKept


class PositionsKept(TransformerEncoder):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.first = [self.positions]

    def embed(self, ids):
        return self.first[0](self.embedding(ids))


class Weighing(TransformerEncoder):
    def embed(self, ids):
        return self.positions(self.embedding(ids) * self.embedding.factor)


class OfBlocks(TransformerEncoder):
    """Another right way to write it: parts looked up by their names."""

    def encode(self, x, mask=None):
        return self.final_norm(
            [x := getattr(self, "layers")[n](x, mask) for n in range(len(self.layers))][-1]  # noqa: B009
        )


@pytest.mark.parametrize("encoder", [TransformerEncoder, OfBlocks])
def test_an_encoder_that_looks_its_parts_up_is_taken(encoder):
    assert fault_of_exchanging(encoder) == ""


def test_an_encoder_that_keeps_second_references_is_not_taken_and_the_parts_are_named():
    assert "layers[0].feed_forward" in fault_of_exchanging(OfSteps)
    assert "norm_1" in fault_of_exchanging(OfSteps)
    assert "positions" in fault_of_exchanging(PositionsKept)


def test_an_encoder_that_fails_with_other_parts_is_not_taken():
    assert "AttributeError" in fault_of_exchanging(Weighing)


def test_a_layer_that_adds_an_old_part_is_told_too():
    class Both(EncoderLayer):
        def __init__(self, *sizes):
            super().__init__(*sizes)
            self.kept = nn.ModuleList([self.norm_1])

        def forward(self, x, mask=None):
            return super().forward(self.kept[0](x), mask)

    class OfBoth(TransformerEncoder):
        layer_type = Both

    assert "norm_1" in fault_of_exchanging(OfBoth)
