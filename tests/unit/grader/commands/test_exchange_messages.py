"""What `grade` says of hand-ins in the exchange that were not collected."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from traitlets.config import Config

from grader.commands.grade import collect

LESSON = "00_start_here"
EXCHANGE = {"collect": "grader.nbgrader_plugins.collect.Collect"}


def test_thousands_of_odd_folders_give_a_few_lines_and_a_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(2000):
        (tmp_path / f"exchange/c/inbound/zed{number:04}+{LESSON}+never+x").mkdir(parents=True)
    config = Config(
        CourseDirectory={"root": str(tmp_path), "course_id": "c", "assignment_id": LESSON},
        Exchange={"root": str(tmp_path / "exchange")},
        ExchangeFactory=EXCHANGE,
    )
    course = SimpleNamespace(config=config, converter_config=lambda _: config)
    collect(course, [LESSON])  # type: ignore[arg-type]
    lines = capsys.readouterr().out.splitlines()
    first = f"Not collected from the exchange: zed0000+{LESSON}+never+x: its name holds no time."
    assert (lines[0], lines[3:]) == (first, ["... and 1,997 more like this"])
