"""Tables of known mistakes: each patch fits the right source once, and is compiled when tried."""

import re
import tomllib
from pathlib import Path

import pytest
import torch

from utils.checks import check
from utils.checks.bank.patched import Patched, PatchError, patched
from utils.checks.bank.source import Source, sources_in
from utils.checks.bank.table import (
    FAMILIES,
    TableError,
    mistakes_of,
    parsed,
    read_table,
    verify_patches,
)
from utils.checks.combining import both, made
from utils.checks.registry import exercises, with_mistakes

CELL = '''\
def double(x, how=1):
    """Return x * 2 + how."""
    # BEGIN SOLUTION
    twice = x * 2
    # END SOLUTION
    del how
    # BEGIN SOLUTION
    return helped(twice) + 1
    # END SOLUTION
'''
SOURCE = Source("double", CELL, "import copy\n", Path("solutions.packed"))
HELP = {"helped": lambda x: x}
TOLD = 'message = "It is wrong."\nhint = "Look again."\n'


def of(text: str):
    return mistakes_of(tomllib.loads(text), SOURCE, HELP)


def test_a_patch_is_the_right_answer_with_one_text_replaced():
    (mistake,) = of(f"[squared]\npatch = ['* 2', '** 2']\n{TOLD}")
    assert (mistake.name, mistake.message, mistake.hint) == (
        "squared",
        "It is wrong.",
        "Look again.",
    )
    assert made(mistake.answer)(3) == 10


def test_patches_apply_to_the_right_source_in_whatever_order_they_are_written():
    lines = "[odd]\npatch = ['+ 1', '+ 5',\n  'x * 2', 'x * 10']\n"
    assert made(of(lines + TOLD)[0].answer)(1) == 15


def test_a_new_text_of_several_lines_keeps_its_indentation():
    lines = "[odd]\npatch = ['return', '''\ntwice = -twice\n    return''']\n"
    assert made(of(lines + TOLD)[0].answer)(3) == -5


def test_stand_ins_stand_for_earlier_exercises():
    answer = patched(SOURCE, ["+ 1", ""], {"helped": "math.sqrt"})
    assert answer.made()(2) == 2.0


@pytest.mark.parametrize(
    ("old", "times"),
    [
        ("* 3", 0),
        ("twice", 2),  # once in each region
        ("how", 0),  # outside of the regions, though it stands in the cell
        ("Return x", 0),
        ("", 0),
    ],
)
def test_a_patch_that_does_not_match_once_is_refused_with_exercise_name_and_count(old, times):
    with pytest.raises(TableError, match=rf"^double: odd: .* {times} times in the solution"):
        of(f"[odd]\npatch = ['{old}', 'x']\n{TOLD}")


def test_every_fault_of_a_table_is_told():
    lines = f"[one]\npatch = ['?', 'x']\n{TOLD}[two]\npatch = ['twice', 'x']\n{TOLD}"
    with pytest.raises(TableError) as caught:
        of(lines)
    assert [line.split(":")[1] for line in str(caught.value).splitlines()] == [" one", " two"]


def test_texts_that_overlap_are_refused():
    with pytest.raises(PatchError, match="overlap"):
        patched(SOURCE, ["x * 2", "x", "* 2", ""], HELP)


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ("[odd]\n" + TOLD, "lacks patch"),
        ("[odd]\npatch = ['* 2', '']\n", "lacks message and hint"),
        ("[odd]\npatch = ['* 2']\n" + TOLD, "old and new text in turn"),
        ("[odd]\npatch = '* 2'\n" + TOLD, "a list of texts"),
        ("[odd]\npatch = ['* 2', 3]\n" + TOLD, "a list of texts"),
        ("[odd]\npatch = ['* 2', '']\nhints = 'x'\n" + TOLD, "what hints is for"),
        ("[odd]\nfamily = 'no'\npatch = ['* 2', '']\n" + TOLD, r"no \[family.no\]"),
        ("odd = 3\n", "must be a table"),
        (
            "[family.f]\nmessage = '{a} {b}'\nhint = 'h'\n[odd]\nfamily = 'f'\na = 'x'\n"
            "patch = ['* 2', '']\n",
            r"nothing fills \{b\}",
        ),
    ],
)
def test_what_is_missing_or_in_the_wrong_form_is_told(lines, why):
    with pytest.raises(TableError, match=f"^double: odd: .*{why}"):
        of(lines)


def test_a_family_says_once_what_its_mistakes_share():
    one, other = of(
        "[family.f]\nmessage = 'It is {what}.'\nhint = 'Look.'\npatch = ['2', '{number}']\n"
        "[three]\nfamily = 'f'\nwhat = 'three'\nnumber = '3'\n"
        "[four]\nfamily = 'f'\nwhat = 'four'\nnumber = '4'\nhint = 'Count.'\n"
    )
    assert (one.message, one.hint) == ("It is three.", "Look.")
    assert (other.message, other.hint) == ("It is four.", "Count.")
    assert [made(m.answer)(1) for m in (one, other)] == [4, 5]


def test_a_mistakes_own_sentence_may_show_code_in_braces():
    (mistake,) = of(
        "[odd]\nmessage = 'It is odd.'\nhint = 'f\"{x} is odd\"'\npatch = ['* 2', '']\n"
    )
    assert mistake.hint == 'f"{x} is odd"'


def test_a_mistake_that_names_no_family_is_of_the_one_with_its_name():
    shared = "[family.odd]\nmessage = 'It is odd.'\nhint = 'Look.'\n"
    (mistake,) = of(f"{shared}[odd]\nhint = 'Count.'\npatch = ['* 2', '']\n")
    assert (mistake.message, mistake.hint) == ("It is odd.", "Count.")


def test_what_a_named_family_leaves_out_comes_from_the_one_with_the_mistakes_name():
    lines = (
        "[family.odd]\nmessage = 'It is odd.'\nhint = 'Look.'\npatch = ['* 2', '']\n"
        "[family.scaled]\npatch = ['* 2', '* {by}']\nhint = 'Count to {by}.'\n"
        "[odd]\nfamily = 'scaled'\nby = '3'\n"
    )
    (mistake,) = of(lines)
    assert (mistake.message, mistake.hint) == ("It is odd.", "Count to 3.")
    assert made(mistake.answer)(1) == 4


def test_exercises_of_a_lesson_share_families_and_may_have_their_own(tmp_path):
    (tmp_path / FAMILIES).write_text("[a]\nhint = 'shared'\n[b]\nhint = 'shared'\n")
    (tmp_path / "double.toml").write_text("[family.b]\nhint = 'own'\n")
    assert read_table(tmp_path / "double.toml")["family"] == {
        "a": {"hint": "shared"}, "b": {"hint": "own"},
    }  # fmt: skip


@pytest.mark.parametrize("lines", ["[odd]\npatch = [", "[odd]\npatch = [1 2]\n", "\n[odd\n"])
def test_a_broken_file_is_told_with_its_line(lines):
    with pytest.raises(TableError, match=r"mistakes\.toml is not TOML: .*line 2"):
        parsed(lines, "mistakes.toml")


def test_a_patch_that_leaves_no_python_is_told():
    (mistake,) = of(f"[odd]\npatch = ['* 2', '* (']\n{TOLD}")
    with pytest.raises(TableError, match=r"double: odd: .*SyntaxError"):
        verify_patches("double", [mistake])


def test_two_mistakes_at_once_are_the_patches_of_both():
    one, other = (patched(SOURCE, patch, HELP) for patch in (["* 2", "* 3"], ["+ 1", "- 1"]))
    assert both(one, other).made()(1) == 2


@pytest.mark.parametrize("patch", [["* 2", "* 3"], ["x * 2", "x"], ["* 2", "* 3", "+ 1", ""]])
def test_mistakes_in_the_same_place_do_not_go_together(patch):
    assert both(patched(SOURCE, ["* 2", "* 3"], HELP), patched(SOURCE, patch, HELP)) is None


def test_nothing_is_compiled_when_a_table_is_read(monkeypatch):
    def refuse(*_args):
        raise AssertionError("compiled")

    monkeypatch.setattr(Source, "defined", refuse)
    assert len(of(f"[odd]\npatch = ['* 2', '']\n{TOLD}")) == 1


def test_a_check_compiles_only_what_the_kept_numbers_do_not_rule_out(monkeypatch):
    bank = exercises()["alibi_bias"].mistakes
    fresh = [Patched(m.answer.source, m.answer.edits, m.answer.stand_ins) for m in bank]
    for mistake, answer in zip(bank, fresh, strict=True):
        monkeypatch.setitem(vars(mistake), "answer", answer)
    wrong = Patched(bank[4].answer.source, bank[4].answer.edits, {}).made()
    assert check.alibi_bias.verdict(wrong).mistake is bank[4]
    assert sum("_made" in vars(answer) for answer in fresh) <= 4


@pytest.mark.parametrize("exercise", sorted(exercises()))
def test_each_patch_of_an_exercise_can_be_run(exercise):
    verify_patches(exercise, exercises()[exercise].mistakes)


@pytest.mark.parametrize(
    "exercise", [name for name, known in exercises().items() if known.probe.is_lendable]
)
def test_the_right_source_passes_the_check(exercise):
    known = exercises()[exercise]
    source = sources_in(known.fingerprints.parent)[exercise]
    right = Patched(source, (), known.probe.stand_ins).made()
    assert getattr(check, exercise).verdict(right).passed


def test_a_class_adds_to_the_mistakes_of_the_course():
    known = exercises()["alibi_bias"]
    table = tomllib.loads(f"[thirded]\npatch = ['.abs()', '.abs() / 3']\n{TOLD}")
    added = with_mistakes(known, table)
    assert [m.name for m in added.mistakes[-2:]] == [known.mistakes[-1].name, "thirded"]
    wrong = made(added.mistakes[-1].answer)(2, 3)
    assert torch.allclose(wrong, known.oracle(2, 3) / 3)


def test_a_class_cannot_use_a_name_of_the_course():
    known = exercises()["alibi_bias"]
    name = known.mistakes[0].name
    table = tomllib.loads(f"[{name}]\npatch = ['-slopes', 'slopes']\n{TOLD}")
    with pytest.raises(TableError, match=re.escape(f"alibi_bias: {name}: ")):
        with_mistakes(known, table)
