"""The weights of an encoder's attention, layer by layer."""

import torch

from utils.reference.modules import TransformerEncoder
from utils.training.attention_seen import attention_of

D, H, LAYERS = 12, 3, 2


def test_attention_is_collected_from_every_layer_and_only_inside_with():
    torch.manual_seed(0)
    found = TransformerEncoder(9, D, H, LAYERS, 10, dropout=0.0)
    ids = torch.tensor([[2, 3, 4, 5], [6, 7, 0, 0]])
    output = found(ids)
    with attention_of(found) as weights:
        torch.testing.assert_close(found(ids), output)
    found(ids)
    assert [tuple(layer.shape) for layer in weights] == [(2, H, 4, 4)] * LAYERS
    for layer in weights:
        torch.testing.assert_close(layer.sum(-1), torch.ones(2, H, 4))
        assert not layer[1, :, :, 2:].any()
        assert not layer.requires_grad
    x = found.embed(ids)
    first = found.layers[0].self_attention(x, x, x, (ids != 0)[:, None])[1]
    torch.testing.assert_close(weights[0], first)


def test_a_layer_within_another_module_is_found_too():
    encoder = TransformerEncoder(9, D, H, LAYERS, 10)
    with attention_of(torch.nn.ModuleList([encoder])) as weights:
        encoder(torch.tensor([[2, 3]]))
    assert len(weights) == LAYERS


def test_a_part_with_another_name_that_came_first_is_found_once():
    encoder = TransformerEncoder(9, D, H, LAYERS, 10)
    for layer in encoder.layers:
        attention = layer.self_attention
        del layer.self_attention
        layer.parts = torch.nn.ModuleList([attention])
        layer.self_attention = attention
    with attention_of(encoder) as weights:
        encoder(torch.tensor([[2, 3]]))
    assert len(weights) == LAYERS
