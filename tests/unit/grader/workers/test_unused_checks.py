"""Helpers of the checks: what calls the answers asked for stays, all else refuses."""

import subprocess
import sys

import pytest

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


def run(exercise: str, code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", SETUP, exercise, code], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("way", GONE)
def test_a_helper_that_calls_no_answer_asked_for_refuses(way):
    done = run(*GONE[way])
    assert "Forbidden: " in done.stderr, done.stderr
    assert "is not here while grading" in done.stderr


def test_what_calls_the_answer_stays():
    code = "print(attention.PROBES['causal_mask'].call(lambda size: size, {'size': 3}))"
    assert run("causal_mask", code).stdout == "{'mask': 3}\n"
    code = "print(watched.TaggingModel(torch.ones(2, 3), torch.ones(4, 3)).rows)"
    assert run("tag_sentences", code).stdout == "[]\n"
