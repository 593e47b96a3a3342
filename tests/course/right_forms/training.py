"""Other right forms of lesson 06."""

import contextlib
import itertools
import math
import random
from collections import Counter, defaultdict

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from utils.reference import modules
from utils.reference.tagging import reference_collate, reference_token_loss


def vocab_by_two_sorts(sentences, min_count=1):
    counts = defaultdict(int)
    for sentence in sentences:
        for word in sentence:
            counts[word] += 1
    words = sorted(word for word in counts if counts[word] >= min_count)
    words.sort(key=counts.__getitem__, reverse=True)  # stable: ties stay alphabetical
    return {"<pad>": 0, "<unk>": 1, **{word: i for i, word in enumerate(words, start=2)}}


def vocab_by_most_common(sentences, min_count=1):
    counts = Counter(sorted(itertools.chain.from_iterable(sentences)))
    vocab = dict(zip(("<pad>", "<unk>"), range(2), strict=True))
    for word, count in counts.most_common():
        if count >= min_count:
            vocab[word] = len(vocab)
    return vocab


def collate_by_filling(batch):
    lengths = torch.tensor([len(ids) for ids, _ in batch])
    ids = torch.zeros(len(batch), int(lengths.max()), dtype=torch.long)
    tags = torch.full_like(ids, -100)
    for b, (words, labels) in enumerate(batch):
        ids[b, : len(words)] = torch.tensor(words)
        tags[b, : len(labels)] = torch.tensor(labels)
    return ids, lengths, tags


def collate_by_lists(batch):
    longest = max(len(ids) for ids, _ in batch)
    ids = [ids + [0] * (longest - len(ids)) for ids, _ in batch]
    tags = [tags + [-100] * (longest - len(tags)) for _, tags in batch]
    lengths = [len(ids) for ids, _ in batch]
    return tuple(torch.tensor(x, dtype=torch.int64) for x in (ids, lengths, tags))


def buckets_longest_first(lengths, max_tokens, generator=None):
    order = torch.argsort(torch.tensor(lengths), descending=True).tolist()
    batches, batch, longest = [], [], 0
    for index in order:
        if batch and longest * (len(batch) + 1) > max_tokens:
            batches.append(batch)
            batch = []
        longest = longest if batch else lengths[index]
        batch.append(index)
    if batch:
        batches.append(batch)
    return [batches[i] for i in torch.randperm(len(batches), generator=generator)]


def buckets_with_noise(lengths, max_tokens, generator=None):
    """Lengths are blurred a little, so that batches differ between epochs."""
    noise = torch.rand(len(lengths), generator=generator).tolist()
    order = sorted(range(len(lengths)), key=lambda i: lengths[i] + 2 * noise[i])
    batches, longest = [], 0
    for index in order:
        longest = max(longest, lengths[index])
        if not batches or longest * (len(batches[-1]) + 1) > max_tokens:
            batches.append([])
            longest = lengths[index]
        batches[-1].append(index)
    seed = int(torch.randint(1 << 30, (), generator=generator))
    random.Random(seed).shuffle(batches)
    return batches


def buckets_by_width(lengths, max_tokens, generator=None):
    """Lengths are rounded up to a few widths, as a compiled model likes them."""
    groups = defaultdict(list)
    for index in torch.randperm(len(lengths), generator=generator).tolist():
        groups[math.ceil(math.log(max(lengths[index], 1), 1.15))].append(index)
    batches = []
    for group in groups.values():
        size = max(1, max_tokens // max(1, *(lengths[i] for i in group)))
        batches += [group[n : n + size] for n in range(0, len(group), size)]
    order = torch.randperm(len(batches), generator=generator).numpy()
    return [batches[int(i)] for i in np.asarray(order)]


class TaggerByEmbed(nn.Module):
    """The width is that of what embed gives; the features are summed first."""

    def __init__(self, encoder, n_tags, feature_sizes=()):
        super().__init__()
        width = encoder.embed(torch.zeros(1, 1, dtype=torch.long)).shape[-1]
        self.output = nn.Linear(width, n_tags)
        self.features = nn.ModuleList()
        for size in feature_sizes:
            self.features.append(modules.TokenEmbedding(size, width))
        self.encoder = encoder

    def forward(self, ids, features=None, mask=None):
        x = self.encoder.embedding(ids)
        if features is not None:
            columns = zip(self.features, features.unbind(-1), strict=True)
            x = x + sum(table(column) for table, column in columns)
        x = self.encoder.positions(x)
        real = ids.ne(self.encoder.padding_idx)[:, None, :]
        return self.output(self.encoder.encode(x, real if mask is None else mask))


class TaggerWithWholeMask(TaggerByEmbed):
    """Padding is blocked as a query too; the encoder's own forward does what it can."""

    def forward(self, ids, features=None, mask=None):
        if not self.features:
            return self.output(self.encoder(ids, mask))
        if mask is None:
            real = ids != self.encoder.embedding.padding_idx
            mask = real[:, None, :] & real[:, :, None]
        words = [self.encoder.embedding(ids)]
        words += [table(features[:, :, n]) for n, table in enumerate(self.features)]
        x = self.encoder.positions(torch.stack(words).sum(0))
        return F.linear(self.encoder.encode(x, mask), self.output.weight, self.output.bias)


class TaggerOfLikes(nn.Module):
    def __init__(self, encoder, n_tags, feature_sizes=()):
        super().__init__()
        (table,) = encoder.embedding.parameters()
        kind = type(encoder.embedding)
        self.features = nn.ModuleList(kind(size, table.shape[1]) for size in feature_sizes)
        self.encoder, self.output = encoder, nn.Linear(table.shape[1], n_tags)

    def forward(self, ids, features=None, mask=None):
        if mask is None:
            mask = (ids != self.encoder.padding_idx).unsqueeze(-2)
        if features is None:
            return self.output(self.encoder.encode(self.encoder.embed(ids), mask=mask))
        x = self.encoder.embedding(ids)
        for n in range(len(self.features)):
            x = x + self.features[n](features[..., n])
        return self.output(self.encoder.encode(self.encoder.positions(x), mask=mask))


class TaggerSilentAtPadding(TaggerOfLikes):
    """What stands at padding is nobody's business."""

    def forward(self, ids, features=None, mask=None):
        real = ids != self.encoder.padding_idx
        return super().forward(ids, features, mask) * real.unsqueeze(-1)


def loss_of_real_words(logits, tags):
    real = tags != -100
    if not real.any():
        return logits.sum() * 0
    return F.cross_entropy(logits[real], tags[real])


def loss_by_gather(logits, tags):
    real = (tags != -100).to(logits.dtype)
    chosen = logits.log_softmax(-1).gather(-1, tags.clamp(min=0)[..., None])[..., 0]
    return -(chosen * real).sum() / real.sum().clamp(min=1)


def loss_with_tags_second(logits, tags):
    each = F.cross_entropy(logits.transpose(1, 2), tags, ignore_index=-100, reduction="none")
    return each.sum() / max(int(tags.ne(-100).sum()), 1)


def accuracy_of_real_words(logits, tags):
    real = tags != -100
    if not real.any():
        return 0.0
    return (logits[real].argmax(1) == tags[real]).float().mean().item()


def accuracy_by_loop(logits, tags):
    hits = total = 0
    for best, tag in zip(logits.max(-1).indices.flatten(), tags.flatten(), strict=True):
        total += tag.item() != -100
        hits += best.item() == tag.item()
    return hits / total if total else 0.0


def rate_in_two_parts(step, d_model, warmup):
    if step <= 0:
        raise ValueError("the first step is step 1")
    scale = 1 / math.sqrt(d_model)
    return scale * step / warmup**1.5 if step < warmup else scale / math.sqrt(step)


def rate_by_tensor(step, d_model, warmup):
    if step < 1:
        raise ValueError(step)
    both = torch.tensor([step**-0.5, step * warmup**-1.5], dtype=torch.float64)
    return (d_model**-0.5 * both.min()).item()


def step_for_a_gpu_apart(model, batch, optimizer, scheduler, device, clip=1.0):
    ids, lengths, tags = batch
    ids, lengths, tags = ids.to(device), lengths.to(device), tags.to(device)
    model.train(True)
    half = (
        torch.autocast("cuda", torch.bfloat16)
        if torch.device(device).type == "cuda"
        else contextlib.nullcontext()
    )
    with half:
        logits = model(ids)
        loss = reference_token_loss(logits.float(), tags)
    model.zero_grad(set_to_none=False)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(list(model.parameters()), max_norm=clip)
    optimizer.step()
    scheduler.step()
    return float(loss.detach())


def step_by_hand(model, batch, optimizer, scheduler, device, clip=1.0):
    """The norm is worked out by hand; the mask is made here too."""
    model.to(device).train()
    ids, _, tags = [part.to(device, non_blocking=True) for part in batch]
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.grad = None
    with torch.amp.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda"):
        loss = reference_token_loss(model(ids, mask=(ids != 0)[:, None]), tags)
    loss.backward()
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    norm = sum(g.pow(2).sum() for g in gradients).sqrt()
    if norm > clip:
        for gradient in gradients:
            gradient.mul_(clip / norm)
    optimizer.step()
    scheduler.step()
    optimizer.zero_grad()
    return loss.detach().cpu().item()


@torch.no_grad()
def tag_by_length(model, sentences, vocab, tags, batch_size=32):
    """Batches of like lengths; the order is restored."""
    mode = model.training
    model.train(False)
    order = sorted(range(len(sentences)), key=lambda i: len(sentences[i]), reverse=True)
    found = [[] for _ in sentences]
    for start in range(0, len(order), batch_size):
        chosen = order[start : start + batch_size]
        ids = [[vocab.get(w, vocab["<unk>"]) for w in sentences[i]] for i in chosen]
        table = reference_collate([(row, row) for row in ids])[0]
        logits = model(table.to(next(model.parameters()).device))
        for i, best in zip(chosen, logits.argmax(2).tolist(), strict=True):
            found[i] = [tags[t] for t, _ in zip(best, sentences[i], strict=False)]
    model.train(mode)
    return found


@torch.inference_mode()
def tag_without_empty_ones(model, sentences, vocab, tags, batch_size=32):
    mode, found = model.training, [[] for _ in sentences]
    try:
        model.eval()
        real = [(i, words) for i, words in enumerate(sentences) if len(words) > 0]
        while real:
            batch, real = real[:batch_size], real[batch_size:]
            longest = max(len(words) for _, words in batch)
            ids = next(model.parameters()).new_zeros(len(batch), longest, dtype=torch.long)
            for row, (_, words) in enumerate(batch):
                for t, word in enumerate(words):
                    ids[row, t] = vocab[word] if word in vocab else vocab["<unk>"]
            best = model(ids).max(-1)[1]
            for row, (i, words) in enumerate(batch):
                found[i] = [tags[int(n)] for n in best[row, : len(words)]]
    finally:
        model.train(mode)
    return found


FORMS = {
    "build_vocab": [vocab_by_two_sorts, vocab_by_most_common],
    "collate": [collate_by_filling, collate_by_lists, reference_collate],
    "bucket_batches": [buckets_longest_first, buckets_with_noise, buckets_by_width],
    "Tagger": [TaggerByEmbed, TaggerWithWholeMask, TaggerOfLikes, TaggerSilentAtPadding],
    "predict_first_loss": [math.log(64), 4.1589, 4.16],
    "token_loss": [loss_of_real_words, loss_by_gather, loss_with_tags_second],
    "predict_padded_accuracy": [0.932, 0.93, 0.6 + 0.4 * 0.83],
    "accuracy": [accuracy_of_real_words, accuracy_by_loop],
    "noam_rate": [rate_in_two_parts, rate_by_tensor],
    "train_step": [step_for_a_gpu_apart, step_by_hand],
    "tag_sentences": [tag_by_length, tag_without_empty_ones],
}
