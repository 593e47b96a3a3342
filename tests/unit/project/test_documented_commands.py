"""Commands that the pages name exist, and take the options that the pages give them."""

import re
import shlex

import pytest

from grader import cli
from tests.unit.course_files import ROOT

DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = ["CONTRIBUTING.md", "README.md", *(f"docs/{p.name}" for p in DOCS)]
GRADER = re.compile(r"\.venv/bin/python -m grader +(?P<words>[^`\x22\n|#]+)")
SHORT = re.compile(rf"`(?P<words>(?:{'|'.join(cli.COMMANDS)}) [^`]*--[^`]+)`")
MAKE = re.compile(r"(?:^|`)make (?P<target>[a-z-]+)", re.MULTILINE)
TARGETS = re.compile(r"^([a-z][a-z-]*(?: [a-z-]+)*):", re.MULTILINE)


def targets() -> set[str]:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return {name for names in TARGETS.findall(makefile) for name in names.split()}


def named(page: str) -> set[str]:
    """The commands of the grader that a page names, with their options."""
    text = re.sub(r"\n +", " ", (ROOT / page).read_text(encoding="utf-8"))
    return {found["words"].strip() for shape in (GRADER, SHORT) for found in shape.finditer(text)}


@pytest.mark.parametrize("page", PAGES)
def test_a_pages_commands_of_the_grader_can_be_read(page):
    for words in named(page):
        try:
            cli._arguments(shlex.split(words))
        except (SystemExit, cli.CourseError) as error:
            pytest.fail(f"{page}: {words}: {error}")


@pytest.mark.parametrize("page", PAGES)
def test_a_pages_make_targets_are_in_the_makefile(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert {found["target"] for found in MAKE.finditer(text)} <= targets()


def test_commands_with_and_without_the_whole_line_are_found():
    found = named("docs/instructors.md")
    assert {"unnamed 02_attention", "roster --rename CLEO=cleo", "deadlines due.csv"} <= found


def test_a_command_that_does_not_exist_is_refused():
    for words in (["unamed", "02_attention"], ["roster", "--remove", "cleo"]):
        with pytest.raises((SystemExit, cli.CourseError)):
            cli._arguments(words)


def test_make_help_tells_every_target():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    told = re.findall(r'@echo "make ([a-z-]+)', makefile)
    assert {*told, "help"} == targets()
