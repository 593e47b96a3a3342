"""An answer that is wrong only because it keeps something of an earlier call is told just that."""

import functools

import torch
from torch import nn

from utils.checks import check
from utils.reference.modules import MultiHeadAttention

NAME = "remembers_an_earlier_call"
_angles = {}
_mask = None


def turned(x, angles):
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)


def angles_for(length, width, base, device):
    rates = base ** (-torch.arange(0, width, 2, device=device) / width)
    return torch.arange(length, device=device)[:, None] * rates


def named(answer, exercise):
    verdict = getattr(check, exercise).verdict(answer)
    assert not verdict.passed
    return verdict.mistake and verdict.mistake.name


def cached_by(key):
    kept = {}

    def rotary(x, base=10000.0, offset=0):
        place = (*key(x, base), offset)
        if place not in kept:
            last = offset + x.shape[-2]
            kept[place] = angles_for(last, x.shape[-1], base, x.device)[offset:]
        return turned(x, kept[place])

    return rotary


def test_a_global_table_kept_by_length_alone_is_told_although_it_looks_like_another_fault():
    def rotary(x, base=10000.0):
        key = x.shape[-2], x.shape[-1]
        if key not in _angles:
            _angles[key] = angles_for(*key, base, x.device)
        return turned(x, _angles[key])

    assert named(rotary, "rotary_embedding") == NAME


def test_a_table_kept_in_an_attribute_that_the_first_call_makes_is_told():
    def rotary(x, base=10000.0):
        kept, key = vars(rotary).setdefault("kept", {}), (x.shape[-2], x.shape[-1])
        if key not in kept:
            kept[key] = angles_for(*key, base, x.device)
        return turned(x, kept[key])

    assert named(rotary, "rotary_embedding") == NAME


def test_a_table_kept_without_its_device_is_refused_and_named():
    answer = cached_by(lambda x, base: (*x.shape[-2:], base))
    assert named(answer, "rotary_embedding") == NAME


def test_a_table_kept_by_all_that_it_depends_on_passes():
    answer = cached_by(lambda x, base: (*x.shape[-2:], base, x.device))
    assert check.rotary_embedding.verdict(answer).passed


def test_a_default_value_that_fills_up_is_told():
    def mask(size, kept=[]):  # noqa: B006
        if not kept:
            kept.append(torch.ones(size, size).tril().bool()[None])
        return kept[0]

    assert named(mask, "causal_mask") == NAME


def test_a_cache_of_functools_without_the_width_is_told():
    @functools.lru_cache
    def rates(length):
        return angles_for(length, rates.width, 10000.0, "cpu")

    def rotary(x, base=10000.0):
        rates.width = x.shape[-1]
        return turned(x, rates(x.shape[-2]))

    assert not check.rotary_embedding.verdict(rotary).passed


def test_a_table_that_a_function_gives_itself_in_a_call_is_told():
    def rotary(x, base=10000.0, offset=0):
        if not hasattr(rotary, "angles"):
            rotary.angles = {}
        key = x.shape[-2:]
        if key not in rotary.angles:
            rotary.angles[key] = angles_for(*key, base, x.device)
        return turned(x, rotary.angles[key])

    assert named(rotary, "rotary_embedding") == NAME


def test_a_table_that_a_class_gives_itself_in_a_call_is_told():
    class Remembering(MultiHeadAttention):
        def forward(self, query, key, value, mask=None):
            kept = type(self).__dict__.get("kept", {}).setdefault("mask", mask)
            type(self).kept = {"mask": mask if kept is None else kept}
            fits = kept is not None and kept.shape[-1] == key.shape[1] and len(kept) == len(key)
            return super().forward(query, key, value, kept if fits else mask)

    assert named(Remembering, "MultiHeadAttention") == NAME


def test_a_first_mask_kept_for_good_is_told():
    def attend(scores, values, mask=None):
        global _mask  # noqa: PLW0603 - as students write it
        _mask = mask if _mask is None or _mask.shape != scores.shape else _mask
        kept = torch.ones_like(scores).bool() if _mask is None else _mask
        weights = scores.masked_fill(~kept, -1e9).softmax(-1) * kept
        return torch.einsum("bs,bsd->bd", weights, values), weights

    assert named(attend, "attend") == NAME


def test_an_answer_that_keeps_nothing_has_the_cause_that_it_has():
    assert named(lambda size: torch.ones(size, size).triu().bool()[None], "causal_mask") != NAME


def test_a_module_that_keeps_its_first_mask_is_told_that_its_second_call_fails():
    class Keeping(MultiHeadAttention):
        mask = None

        def forward(self, query, key, value, mask=None):
            if self.mask is None:
                self.mask = mask
            return super().forward(query, key, value, self.mask)

    verdict = check.MultiHeadAttention.verdict(Keeping)
    assert any("something of the first is kept in self" in r.finding.message
               for r in verdict.results if r.finding)  # fmt: skip


class Tagging:
    @staticmethod
    def tag(model, sentences, vocab, tags, batch_size=32, *, place=lambda ids, model: ids):
        mode = model.training
        model.eval()
        found = []
        with torch.no_grad():
            for start in range(0, len(sentences), batch_size):
                batch = sentences[start : start + batch_size]
                longest = max(map(len, batch))
                rows = [[vocab.get(w, 1) for w in s] + [0] * (longest - len(s)) for s in batch]
                best = model(place(torch.tensor(rows).long(), model)).argmax(-1).tolist()
                found += [
                    [tags[n] for n in row[: len(s)]] for row, s in zip(best, batch, strict=True)
                ]
        model.train(mode)
        return found


def missing(place):
    verdict = check.tag_sentences.verdict(functools.partial(Tagging.tag, place=place))
    return [name for name, met in verdict.demands.items() if not met]


def test_ids_that_stay_where_they_were_made_miss_a_demand_and_nothing_else():
    assert missing(lambda ids, model: ids) == ["ids that go to where the model is"]


def test_ids_that_are_put_where_the_model_is_are_let_through_in_several_forms():
    def device(model):
        return next(model.parameters()).device

    for place in (
        lambda ids, model: ids.to(device(model)),
        lambda ids, model: ids.to(device=device(model)),
        lambda ids, model: torch.tensor(ids.tolist(), device=device(model)).long(),
        lambda ids, model: next(model.parameters()).new_tensor(ids.tolist(), dtype=torch.long),
    ):
        assert missing(place) == []


def test_moving_the_model_is_not_taken_for_moving_the_ids():
    def other_way(ids, model):
        nn.Module.to(model, "cpu")
        return ids

    assert missing(other_way) == ["ids that go to where the model is"]
