"""A check that takes long says what it does; one that is stopped gives a verdict. A real kernel."""

import pytest

from tests.unit.utils.kernel.kernel import Kernel

CHECK = "check.stable_softmax(stable_softmax)"
SOON = "from utils.kernel import waiting\nwaiting.PATIENCE = {}"
HUNG = "def stable_softmax(x, dim=-1):\n    n = 0\n    while True:\n        n = n + 1"
SLOW_IN_FLOAT64 = (
    "import time\ndef stable_softmax(x, dim=-1):\n"
    "    if x.dtype == torch.float64:\n        time.sleep(600)\n    return x"
)


@pytest.fixture
def kernel(kernel: Kernel) -> Kernel:
    kernel.run(SOON.format(0.2))
    return kernel


def test_a_hung_answer_is_told_of_and_an_interrupt_gives_a_verdict(kernel: Kernel) -> None:
    kernel.run(HUNG)
    shown = kernel.interrupted(CHECK, "has been running")
    told = shown.texts[0]
    assert "The check of `stable_softmax` has been running for" in told
    assert "now in its case “small numbers, last axis”" in told
    assert "the square button above, or press I twice" in told
    verdict = shown.texts[-1]
    assert verdict.startswith("! stable_softmax: does not count\nYou stopped this check after ")
    assert "in its case “small numbers, last axis”, in your line `" in verdict
    assert shown.errors == []
    assert shown.status == "error"  # cells that wait for it are not run
    assert kernel.run("1 + 1").text == "2"


def test_the_line_is_taken_away_when_the_check_ends(kernel: Kernel) -> None:
    kernel.run(HUNG)
    shown = kernel.interrupted(CHECK, "has been running")
    assert shown.texts[-2] == ""


def test_an_answer_that_is_slow_in_one_case_is_told_of_with_that_case(kernel: Kernel) -> None:
    kernel.run(SLOW_IN_FLOAT64)
    shown = kernel.interrupted(CHECK, "now in its case “float64”")
    assert "in its case “float64”, in your line `time.sleep(600)`" in shown.texts[-1]


def test_an_interrupt_within_the_checks_own_code_gives_a_verdict_too(kernel: Kernel) -> None:
    kernel.run("def stable_softmax(x, dim=-1):\n    return x")
    slow = "import time\nfrom unittest import mock\nfrom utils.checks import api\n"
    slow += "with mock.patch.object(api, 'judge', lambda *_, **__: time.sleep(600)):\n    " + CHECK
    shown = kernel.interrupted(slow, "looking for the cause")
    assert shown.errors == []
    assert shown.texts[-1].startswith("! stable_softmax: does not count\nYou stopped this check")
    assert "looking for the cause" in shown.texts[-1]


def test_a_quick_check_says_nothing_of_waiting(kernel: Kernel) -> None:
    kernel.run("def stable_softmax(x, dim=-1):\n    return x")
    kernel.run(SOON.format(600))
    assert len(kernel.run(CHECK).texts) == 1
