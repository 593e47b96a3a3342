"""Helpers of the checks: what calls the answers asked for stays, all else refuses."""

import pytest

from tests.forks import run_scripts

SETUP = """
import sys
import torch
from grader.workers import unused_checks
from utils.checks.authoring.inputs import Draw
from utils.checks.lessons.attention.probes import attention, measuring
from utils.checks.lessons.training.probes import steps, watched
from utils.checks.registry import probes
probes()
kept = Draw.mask
unused_checks.helpers(), unused_checks.needed()
"""
SCRIPT = """
unused_checks.take_out_helpers([probes()[sys.argv[1]]])
exec(sys.argv[2])
"""
GONE = {
    "a mask": ("causal_mask", "Draw().mask('causal', 1, 3, 3)"),
    "a mask by a method that was kept": ("causal_mask", "kept(object(), 'causal', 1, 3, 3)"),
    "padding": ("padding_mask", "Draw._padding(None, 2, 3)"),
    "a mean in another lesson's model": ("masked_mean", "watched.TaggingModel.forward(None, None)"),
    "a recurrent layer": ("rnn_cell", "measuring._recurrent(None, None)"),
    "inputs in a table": ("causal_mask", "probes()['SelfAttention'].inputs(B=1, T=2)"),
}


STAYS = {
    (
        "causal_mask",
        "print(attention.PROBES['causal_mask'].call(lambda size: size, {'size': 3}))",
    ): ("{'mask': 3}\n"),
    ("tag_sentences", "print(watched.TaggingModel(torch.ones(2, 3), torch.ones(4, 3)).rows)"): (
        "[]\n"
    ),
}


@pytest.fixture(scope="module")
def done():
    asked = [*GONE.values(), *STAYS]
    return dict(zip(asked, run_scripts(SETUP, *((SCRIPT, *one) for one in asked)), strict=True))


@pytest.mark.parametrize("way", GONE)
def test_a_helper_that_calls_no_answer_asked_for_refuses(done, way):
    said = done[GONE[way]].stderr
    assert "Forbidden: " in said, said
    assert "is not here while grading" in said


def test_what_calls_the_answer_stays(done):
    assert {asked: done[asked].stdout for asked in STAYS} == STAYS
