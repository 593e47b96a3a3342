"""Other right forms of lesson 01."""

import torch
from torch import nn


def cell_side_by_side(x_t, h, w_x, w_h, b):
    return torch.tanh(torch.cat([x_t, h], dim=1) @ torch.cat([w_x, w_h], dim=1).T + b)


def cell_by_functional(x_t, h, w_x, w_h, b):
    linear = nn.functional.linear
    return (linear(x_t, w_x, b) + linear(h, w_h)).tanh()


def cell_by_exponentials(x_t, h, w_x, w_h, b):
    total = torch.addmm(b, x_t, w_x.t()) + torch.mm(w_h, h.t()).t()
    return 2 * torch.sigmoid(2 * total) - 1


def forward_own_loop(x, h_0, w_x, w_h, b):
    projected = x @ w_x.T + b
    h, states = h_0, []
    for t in range(x.size(1)):
        h = torch.tanh(projected[:, t] + h @ w_h.T)
        states += [h]
    return torch.stack(states, dim=1), h


def forward_time_first(x, h_0, w_x, w_h, b):
    states = [h_0]
    for x_t in x.transpose(0, 1):
        states.append(cell_side_by_side(x_t, states[-1], w_x, w_h, b))
    return torch.stack(states).transpose(0, 1)[:, 1:], states[-1]


def forward_into_a_tensor(x, h_0, w_x, w_h, b):
    states = x.new_empty(x.shape[0], x.shape[1], h_0.shape[1])
    h = h_0
    for t in range(x.shape[1]):
        h = (x[:, t] @ w_x.T + h @ w_h.T + b).tanh()
        states[:, t] = h
    return states, h


def gradient_by_hand(x, h_0, w_x, w_h, b):
    with torch.no_grad():
        states, _ = forward_own_loop(x, h_0, w_x, w_h, b)
        g = torch.ones_like(h_0)
        norms = [g.norm()]
        for t in range(x.shape[1] - 1, 0, -1):
            g = (g * (1 - states[:, t] ** 2)) @ w_h
            norms.append(torch.sqrt((g**2).sum()))
        return torch.stack(norms).flip(0)


def gradient_by_backward(x, h_0, w_x, w_h, b):
    w_x, w_h, b = w_x.detach(), w_h.detach(), b.detach()
    h, states = h_0.clone().detach().requires_grad_(True), []
    for t in range(x.shape[1]):
        h = torch.tanh(x[:, t] @ w_x.T + h @ w_h.T + b)
        h.retain_grad()
        states.append(h)
    h.sum().backward()
    return torch.stack([torch.linalg.vector_norm(h.grad) for h in states])


def gradient_by_restart(x, h_0, w_x, w_h, b):
    states, _ = forward_own_loop(x, h_0, w_x, w_h, b)
    norms = []
    for t in range(x.shape[1]):
        h_t = states[:, t].detach().requires_grad_()
        h = h_t
        for later in range(t + 1, x.shape[1]):
            h = cell_side_by_side(x[:, later], h, w_x, w_h, b)
        (gradient,) = torch.autograd.grad(h.sum(), [h_t])
        norms.append(gradient.flatten().norm())
    return torch.stack(norms).detach()


def shift_in_place_of_a_copy(targets, bos):
    inputs = targets.clone()
    inputs[:, 1:] = targets[:, :-1]
    inputs[:, 0] = bos
    return inputs


def shift_by_roll(targets, bos):
    inputs = torch.roll(targets, 1, dims=1)
    inputs[:, 0] = bos
    return inputs


def decode_while(step, state, bos, eos, max_len):
    tokens = [bos]
    while len(tokens) <= max_len:
        logits, state = step(tokens[-1], state)
        token = logits.max(dim=-1).indices.item()
        if token == eos:
            break
        tokens.append(token)
    return tokens[1:]


def decode_and_cut(step, state, bos, eos, max_len):
    token, tokens = bos, []
    for _ in range(max_len):
        logits, state = step(token, state)
        token = int(torch.softmax(logits, -1).argmax())
        tokens.append(token)
    return tokens[: tokens.index(eos)] if eos in tokens else tokens


def decode_one_step_ahead(step, state, bos, eos, max_len):
    """Asks for one more token than it has room for, and never uses it."""
    tokens = []
    logits, state = step(bos, state)
    for _ in range(max_len):
        token = int(logits.argmax())
        if token == eos:
            break
        tokens.append(token)
        logits, state = step(token, state)
    return tokens


def decode_feeding_tensors(step, state, bos, eos, max_len):
    tokens, token = [], torch.tensor(bos)
    for _ in range(max_len):
        logits, state = step(token, state)
        token = torch.argmax(logits, dim=-1)
        if token == eos:
            return tokens
        tokens.append(token.item())
    return tokens


FORMS = {
    "rnn_cell": [cell_side_by_side, cell_by_functional, cell_by_exponentials],
    "rnn_forward": [forward_own_loop, forward_time_first, forward_into_a_tensor],
    "predict_rnn_steps": [1000, 1000.0, 10**3],
    "predict_attention_steps": [1, 1.0],
    "gradient_through_time": [gradient_by_hand, gradient_by_backward, gradient_by_restart],
    "shift_right": [
        shift_in_place_of_a_copy,
        shift_by_roll,
        lambda targets, bos: torch.cat([torch.full_like(targets[:, :1], bos), targets[:, :-1]], 1),
    ],
    "greedy_decode": [
        decode_while,
        decode_and_cut,
        decode_one_step_ahead,
        decode_feeding_tensors,
    ],
}
