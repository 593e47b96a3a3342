"""The encoders that yours is compared with."""

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from utils.training.baseline_encoders import BiLSTMEncoder, PerWordEncoder, units_for

LENGTHS = [5, 7, 1, 4]
MASK = (torch.arange(7) < torch.tensor(LENGTHS).unsqueeze(1)).unsqueeze(1)  # (4, 1, 7)


def make(kind, **dropouts):
    torch.manual_seed(0)
    sizes = {"d_ff": 9} if kind is PerWordEncoder else {"units": 5}
    return kind(11, 6, n_layers=2, **sizes, **(dropouts or {"dropout": 0.4})).eval()


def ids():
    return torch.randint(2, 11, (4, 7)).masked_fill(~MASK.squeeze(1), 0)


@pytest.mark.parametrize("kind", [PerWordEncoder, BiLSTMEncoder])
def test_a_sentence_alone_gives_what_it_gives_in_a_padded_batch(kind):
    encoder, batch = make(kind), ids()
    together = encoder(batch)
    assert together.shape == (4, 7, 6)
    for row, length in enumerate(LENGTHS):
        alone = encoder(batch[row : row + 1, :length])
        torch.testing.assert_close(together[row, :length], alone[0])


@pytest.mark.parametrize("kind", [PerWordEncoder, BiLSTMEncoder])
def test_forward_embeds_masks_padding_and_encodes(kind):
    encoder, batch = make(kind), ids()
    torch.testing.assert_close(encoder(batch), encoder.encode(encoder.embed(batch), MASK))
    torch.testing.assert_close(encoder(batch, MASK), encoder(batch))


@pytest.mark.parametrize("kind", [PerWordEncoder, BiLSTMEncoder])
@pytest.mark.parametrize("name", ["dropout", "layer_dropout"])
def test_each_dropout_acts_in_training_only(kind, name):
    encoder, batch = make(kind, **{name: 0.5}), ids()
    torch.testing.assert_close(encoder(batch), encoder(batch))
    encoder.train()
    assert not torch.equal(encoder(batch), encoder(batch))


@pytest.mark.parametrize("kind", [PerWordEncoder, BiLSTMEncoder])
def test_gradients_reach_every_parameter(kind):
    encoder = make(kind).train()
    encoder(ids())[MASK.squeeze(1)].square().sum().backward()
    assert all(parameter.grad.any() for parameter in encoder.parameters())


def test_a_word_alone_decides_in_the_per_word_encoder():
    encoder = make(PerWordEncoder)
    first, second = encoder(torch.tensor([[3, 4, 5], [9, 4, 2]]))
    torch.testing.assert_close(first[1], second[1])
    assert not torch.allclose(first[0], second[0])


def test_the_bilstm_is_torchs_own_on_packed_sequences():
    ours = make(BiLSTMEncoder)
    torchs = nn.LSTM(6, 5, num_layers=2, batch_first=True, bidirectional=True)
    with torch.no_grad():
        for number in range(2):
            for directions, ending in ((ours.forwards, ""), (ours.backwards, "_reverse")):
                for name, value in directions[number].named_parameters():
                    getattr(torchs, name.replace("l0", f"l{number}{ending}")).copy_(value)
    x = torch.randn(4, 7, 6)
    packed = pack_padded_sequence(x, torch.tensor(LENGTHS), batch_first=True, enforce_sorted=False)
    wanted = pad_packed_sequence(torchs(packed)[0], batch_first=True)[0]
    real = MASK.squeeze(1)
    torch.testing.assert_close(ours.encode(x, MASK)[real], ours.to_model(wanted)[real])
    torch.testing.assert_close(ours.encode(x), ours.to_model(torchs(x)[0]))


@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_units_make_the_bilstm_as_large_as_asked_and_no_larger(n_layers):
    def size(units):
        layers = BiLSTMEncoder(3, 8, n_layers, units)
        return sum(p.numel() for p in layers.parameters()) - 3 * 8

    units = units_for(20_000, 8, n_layers)
    assert size(units) <= 20_000 < size(units + 1)
