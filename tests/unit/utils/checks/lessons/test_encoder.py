"""What lesson 05's probes ask of the parts of an encoder."""

import pytest
from torch import nn

from tests.course.lesson_runs import lesson_of
from utils.checks import check
from utils.checks.authoring.calling import AnswerError, mode_of
from utils.checks.judge import judge
from utils.checks.lessons.encoder.answers.count import count_oracle
from utils.checks.lessons.encoder.probes.requirements import (
    dropout_of,
    require_dropout,
    require_gain_and_bias,
)
from utils.checks.observe.observe import observe
from utils.checks.registry import exercises
from utils.reference import modules


def encoder_with(**dropouts):
    """An encoder of two layers; dropout is 0.5 but where another is given."""
    encoder = modules.TransformerEncoder(9, 6, 3, 2, 5, 7, dropout=0.5)
    for path, rate in dropouts.items():
        encoder.get_submodule(path.replace("__", ".")).dropout = rate
    return encoder


@pytest.mark.parametrize(("training", "mode"), [(True, True), (False, False)])
def test_the_mode_of_an_encoder_is_that_of_all_its_parts(training, mode):
    assert mode_of(encoder_with().train(training)) is mode


@pytest.mark.parametrize("training", [True, False])
def test_a_mode_that_only_the_whole_is_in_is_no_mode(training):
    encoder = encoder_with().train(not training)
    encoder.training = training
    assert isinstance(mode_of(encoder), str)


def test_dropout_is_read_from_a_module_or_a_number_and_else_unknown():
    assert dropout_of(encoder_with().positions) == 0.5
    assert dropout_of(modules.MultiHeadAttention(6, 3, 0.25)) == 0.25
    assert dropout_of(nn.Linear(2, 3)) is None
    attention = modules.MultiHeadAttention(6, 3)
    attention.dropout = "a word"
    assert dropout_of(attention) is None


def test_dropout_that_reached_every_part_that_tells_is_accepted():
    require_dropout(encoder_with(), 0.5)
    require_dropout(encoder_with(layers__1=nn.Identity()), 0.5)


@pytest.mark.parametrize("part", ["positions", "layers__0", "layers__1"])
def test_a_part_without_the_encoders_dropout_is_named(part):
    named = {"positions": r"self\.positions has 0\.1\.$"}
    pattern = named.get(part, rf"parts: self\.layers\[{part[-1]}\] has 0\.1\.$")
    with pytest.raises(AnswerError, match=pattern):
        require_dropout(encoder_with(**{part: nn.Dropout(0.1)}), 0.5)


@pytest.mark.parametrize("missing", ["weight", "bias"])
def test_a_norm_without_gain_or_bias_is_told_which_name_is_missing(missing):
    norm = nn.LayerNorm(4)
    delattr(norm, missing)
    with pytest.raises(AnswerError, match=f"^self.{missing} is missing"):
        require_gain_and_bias(norm)


@pytest.mark.parametrize("name", ["TransformerEncoder", "Tagger"])
def test_in_the_case_of_a_given_mask_and_padding_a_word_may_look_at_padding(name):
    probe = exercises()[name].probe
    case = next(c for c in probe.cases if c.name == "a mask of your own, and padding")
    i = probe.inputs(**case.params)
    padding = i["ids"] == 0
    looks = (i["mask"] & padding.unsqueeze(1)).any(-1)
    assert (looks & ~padding).any()


class FirstMask(modules.EncoderLayer):
    """Keeps the first mask of each length."""

    def forward(self, x, mask=None):
        self.known = getattr(self, "known", {})
        return super().forward(x, self.known.setdefault((x.shape[1], mask is None), mask))


class OtherDefaults(modules.EncoderLayer):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=True):
        super().__init__(d_model, n_heads, d_ff, dropout, norm_first)


class PaddingOfTheFirst(modules.TransformerEncoder):
    """Keeps the first padding mask of each length."""

    def forward(self, ids, mask=None):
        self.known = getattr(self, "known", {})
        real = self.known.setdefault(ids.shape[1], (ids != self.padding_idx).unsqueeze(1))
        return self.encode(self.embed(ids), (real[: len(ids)]) if mask is None else mask)


class EncoderWithoutDropout(modules.TransformerEncoder):
    def __init__(self, *sizes, dropout=0.0, **options):
        options |= {"dropout": dropout} if len(sizes) < 7 else {}
        super().__init__(*sizes, **options)


@pytest.mark.parametrize(
    ("exercise", "answer", "demand"),
    [
        ("EncoderLayer", FirstMask, "calls that do not depend on earlier ones"),
        ("EncoderLayer", OtherDefaults, "the defaults of the stub"),
        ("TransformerEncoder", PaddingOfTheFirst, "calls that do not depend on earlier ones"),
        ("TransformerEncoder", EncoderWithoutDropout, "the defaults of the stub"),
    ],
)
def test_what_only_another_call_shows_is_missed_alone(exercise, answer, demand):
    judged = exercises()[exercise]
    seen = [observe(judged.probe, case, answer, trusted=True) for case in judged.probe.cases]
    verdict = judge(judged, judged.probe.cases, seen)
    assert verdict.idea_is_right
    assert [name for name, met in verdict.demands.items() if not met] == [demand]


def load_into_new_parameters(encoder, torch_encoder):
    right = exercises()["load_torch_encoder"].oracle
    right(encoder, torch_encoder)
    for layer in encoder.layers:
        norm = layer.norm_1
        norm.weight = nn.Parameter(norm.weight.detach().clone())


def test_loading_that_replaces_a_parameter_misses_only_that():
    verdict = check.load_torch_encoder.verdict(load_into_new_parameters)
    assert verdict.idea_is_right
    missed = [demand for demand, met in verdict.demands.items() if not met]
    assert missed == ["parameters written, not replaced"]


class OrderInDropoutsPlace(modules.EncoderLayer):
    """Hands norm_first on where the attention's dropout belongs."""

    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__(d_model, n_heads, d_ff, dropout, norm_first)
        self.self_attention = modules.MultiHeadAttention(d_model, n_heads, norm_first)


def test_norm_first_in_the_place_of_a_dropout_rate_is_seen():
    judged = exercises()["EncoderLayer"]
    seen = [
        observe(judged.probe, case, OrderInDropoutsPlace, trusted=True)
        for case in judged.probe.cases
    ]
    assert not judge(judged, judged.probe.cases, seen).passed


MEASURES = {
    "divided_by_absolute_mean": lambda x, c: c.abs().mean(-1, keepdim=True),
    "divided_by_range": lambda x, c: x.amax(-1, keepdim=True) - x.amin(-1, keepdim=True),
    "divided_by_length": lambda x, c: c.square().sum(-1, keepdim=True).sqrt(),
    "divided_by_spread_of_all": lambda x, c: x.std(unbiased=False),
    "variance_over_tokens_too": lambda x, c: c.square().mean((-2, -1), keepdim=True).sqrt(),
    "divided_by_the_squared_variance": lambda x, c: c.square().mean(-1, keepdim=True).square(),
}


@pytest.mark.parametrize("name", MEASURES)
def test_a_norm_that_divides_by_something_else_is_told_by_what(name):
    class Norm(modules.LayerNorm):
        def forward(self, x):
            centred = x - x.mean(-1, keepdim=True)
            return self.weight * centred / (MEASURES[name](x, centred) + self.eps) + self.bias

    assert check.LayerNorm.verdict(Norm).mistake.name == name


def test_counts_in_another_order_have_the_cause_that_they_have_in_the_usual_one():
    def count_parameters(encoder):
        counts = count_oracle(encoder)
        counts["layer_norm"] -= sum(p.numel() for p in encoder.final_norm.parameters())
        return dict(sorted(counts.items()))

    entry = next(e for e in lesson_of("count_parameters").exercises if e.id == "count_parameters")
    verdict = check.count_parameters.verdict(count_parameters, points=1, hidden=entry.hidden)
    assert verdict.mistake.name == "final_norm_left_out_with_the_total_right"
    assert verdict.second is None
