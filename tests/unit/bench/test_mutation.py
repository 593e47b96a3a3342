"""What passes is listed by its reason, and what has no reason counts as a gap."""

from types import SimpleNamespace

from bench.mutation import UNKNOWN, row, summary
from bench.mutation_reasons import reason_for
from grader.mutation.fingerprint_files import Tally


def passing(as_if, text, line):
    source = SimpleNamespace(definition="form", text=f"def form(x):\n    {line}\n")
    return source, SimpleNamespace(as_if=(as_if,), text=text, place=("operator", 0, 2, 4))


def test_a_reason_needs_both_its_change_and_its_line():
    change = "attend / attend_by_exp: as if a 0 were 1 (0)"
    assert reason_for(change, "e = (scores - top).clamp(max=0).exp()") is not None
    assert reason_for(change, "return weights[:, 0]") is None


def test_a_word_of_the_line_is_no_reason_for_another_change_in_it():
    assert reason_for("f / f: as if a sign were turned (x)", "y = -x.to(x.dtype)") is None


def test_what_no_reason_fits_counts_against_the_score():
    found = Tally(10, [passing("`relu` were applied to the result", "x", "return x"),
                       passing("a sign were turned", "-x", "return -x")])  # fmt: skip
    counted = row("exercise", found)
    assert counted["caught"] == 8
    assert counted["score"] == round(8 / 9, 4)
    assert counted["passing"][UNKNOWN] == ["form: as if a sign were turned (-x) in: return -x"]
    assert summary({"exercise": counted})["passing, not explained"] == 1
