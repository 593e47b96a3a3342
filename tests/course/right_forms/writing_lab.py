"""Other right forms of lab 06b."""

import torch
from torch import nn
from torch.nn import functional as F

from utils.reference.attention.masks import causal_mask


def windows_by_a_loop(ids, length):
    inputs, targets = [], []
    for start in range(0, len(ids) - length, length):
        inputs.append(ids[start : start + length])
        targets.append(ids[start + 1 : start + length + 1])
    if not inputs:
        raise ValueError
    return torch.stack(inputs), torch.stack(targets)


def windows_by_unfold(ids, length):
    if len(ids) < length + 1:
        raise ValueError("too short")
    rows = ids.unfold(0, length + 1, length)
    return rows[..., :-1].contiguous(), rows[..., 1:].contiguous()


def windows_by_index(ids, length):
    count = (ids.numel() - 1) // length
    if not count:
        raise ValueError(f"{ids.numel()} ids")
    places = torch.arange(count).unsqueeze(1) * length + torch.arange(length)
    return ids[places], ids[places + 1]


def windows_by_chunks(ids, length):
    whole = [part for part in ids[:-1].split(length) if len(part) == length]
    after = [part for part in ids[1:].split(length) if len(part) == length]
    if len(whole) == 0:
        raise ValueError
    return torch.vstack(whole), torch.vstack(after)


def windows_of_numbers(ids, length):
    numbers = ids.tolist()
    n = max(0, len(numbers) - 1) // length
    if n == 0:
        raise ValueError("no window")
    cut = [numbers[k * length : (k + 1) * length + 1] for k in range(n)]
    return torch.tensor([row[:-1] for row in cut]), torch.tensor([row[1:] for row in cut])


class ModelByWeights(nn.Module):
    def __init__(self, encoder, vocab_size):
        super().__init__()
        width = encoder.embed(torch.ones(1, 1, dtype=torch.long)).shape[-1]
        self.to_logits = nn.Linear(width, vocab_size)
        self.encoder = encoder

    def forward(self, ids):
        places = torch.arange(ids.size(1))
        allowed = (places[None, :] <= places[:, None]).unsqueeze(0)
        encoded = self.encoder.encode(self.encoder.embed(ids), allowed)
        return F.linear(encoded, self.to_logits.weight, self.to_logits.bias)


class ModelLazy(nn.Module):
    def __init__(self, encoder, vocab_size):
        super().__init__()
        self.encoder = encoder
        self.to_logits = nn.LazyLinear(vocab_size)

    def forward(self, ids):
        size, length = ids.shape
        mask = causal_mask(length).expand(size, length, length)
        return self.to_logits(self.encoder.encode(self.encoder.embed(ids), mask=mask))


class ModelTextByText(nn.Module):
    def __init__(self, encoder, vocab_size):
        super().__init__()
        self.encoder = encoder
        self.to_logits = nn.Linear(encoder.embedding.weight.size(1), vocab_size)

    def forward(self, ids):
        length = ids.shape[-1]
        mask = torch.ones(length, length, dtype=torch.bool).tril()[None]
        rows = [self.encoder.encode(self.encoder.embed(row[None]), mask)[0] for row in ids]
        return torch.stack([row @ self.to_logits.weight.T + self.to_logits.bias for row in rows])


class ModelWithLongMask(nn.Module):
    def __init__(self, encoder, vocab_size):
        super().__init__()
        self.encoder = encoder
        self.to_logits = nn.Linear(next(encoder.embedding.parameters()).shape[1], vocab_size)
        self.register_buffer("seen", ~torch.ones(500, 500, dtype=torch.bool).triu(1))

    def forward(self, ids):
        length = ids.shape[1]
        hidden = self.encoder.encode(self.encoder.embed(ids), self.seen[None, :length, :length])
        return self.to_logits(hidden)


def largest(logits):
    return logits.argmax(-1).item()


def generate_into_a_list(model, ids, n_new, max_len, choose=largest):
    mode = model.training
    numbers = ids.tolist()
    model.train(False)
    while len(numbers) < len(ids) + n_new:
        with torch.inference_mode():
            logits = model(torch.tensor([numbers[-max_len:]]))
        numbers += [choose(logits[0, -1])]
    model.train(mode)
    return torch.tensor(numbers)


def generate_into_a_row(model, ids, n_new, max_len, choose=largest):
    was = model.training
    model.eval()
    whole = F.pad(ids, (0, n_new))
    with torch.no_grad():
        for end in range(len(ids), len(whole)):
            begin = max(end - max_len, 0)
            whole[end] = choose(model(whole[begin:end].view(1, -1)).squeeze(0)[-1])
    model.train(was)
    return whole


@torch.no_grad()
def generate_by_calling_itself(model, ids, n_new, max_len, choose=largest):
    if n_new == 0:
        return ids
    modes = {part: part.training for part in model.modules()}
    model.eval()
    new = choose(model(ids[None][:, -max_len:])[0][-1].detach())
    for part, mode in modes.items():
        part.training = mode
    longer = torch.hstack([ids, ids.new_tensor([new])])
    return generate_by_calling_itself(model, longer, n_new - 1, max_len, choose)


def generate_in_a_batch(model, ids, n_new, max_len, choose=largest):
    before, text = model.training, ids.unsqueeze(0).clone()
    try:
        model.eval()
        for _ in range(n_new):
            window = text if text.shape[1] <= max_len else text[:, text.shape[1] - max_len :]
            with torch.no_grad():
                *_, last = model(window)[0]
            text = torch.cat((text, torch.full((1, 1), int(choose(last)))), dim=1)
    finally:
        model.train(before)
    return text.flatten()


def by_beginnings(model):
    texts = torch.tensor([[1, 2, 3, 4, 5], [9, 8, 7, 6, 0]])
    both = model(texts)
    for row in range(2):
        for n in range(1, 6):
            torch.testing.assert_close(
                model(texts[row : row + 1, :n])[0], both[row, :n], atol=1e-4, rtol=1e-4
            )


def by_the_last_letter(model):
    """Only the last letter changes, so that everything before it has to stay."""
    for length in range(2, 8):
        text = torch.arange(length).repeat(3, 1)
        other = text.clone()
        other[2, -1] = 9
        one, two = model(text), model(other)
        assert (one[:, :-1] - two[:, :-1]).abs().max() < 1e-4
        assert (one[:2] - two[:2]).abs().max() < 1e-4


def by_random_texts(model):
    torch.manual_seed(1)
    for _ in range(5):
        text = torch.randint(0, 10, (4, 9))
        cut = int(torch.randint(1, 9, ()))
        other = text.clone()
        other[:, cut:] = torch.randint(0, 10, (4, 9 - cut))
        if not torch.allclose(model(text)[:, :cut], model(other)[:, :cut], atol=1e-4):
            raise AssertionError("a later letter shows")
        alone = torch.cat([model(row[None]) for row in text])
        assert torch.allclose(alone, model(text), atol=1e-4), "another text shows"


def by_swapping(model):
    text = [4, 4, 1, 7, 0, 3]
    for t in range(1, 6):
        changed = text[:t] + [(n + 5) % 10 for n in text[t:]]
        a, b = (model(torch.tensor([x, text])) for x in (text, changed))
        assert torch.allclose(a[0, :t], b[0, :t], rtol=0, atol=1e-4)
        assert torch.allclose(a[1], b[1], rtol=0, atol=1e-4)


FORMS = {
    "next_tokens": [
        windows_by_a_loop,
        windows_by_unfold,
        windows_by_index,
        windows_by_chunks,
        windows_of_numbers,
    ],
    "LanguageModel": [ModelWithLongMask, ModelByWeights, ModelLazy, ModelTextByText],
    "generate": [
        generate_into_a_list,
        generate_into_a_row,
        generate_by_calling_itself,
        generate_in_a_batch,
    ],
    "test_no_peeking": [by_beginnings, by_the_last_letter, by_random_texts, by_swapping],
}
