"""Collection from the exchange: each hand-in touches its own student alone."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from grader.course.hand_in_files import unread
from grader.nbgrader_plugins import collect
from grader.nbgrader_plugins.collect import Collect

LESSON = "00_start_here"
FILE = f"{LESSON}.ipynb"
EARLY, LATE = "2025-12-01 10:00:00.000000 UTC", "2025-12-02 10:00:00.000000 UTC"


@pytest.fixture
def inbound(tmp_path: Path) -> Path:
    folder = tmp_path / "exchange" / "c" / "inbound"
    folder.mkdir(parents=True)
    hand_in(folder, "ada")
    return folder


def hand_in(inbound: Path, student: str, time: str = EARLY, text: str = "", key: str = "x") -> Path:
    folder = inbound / f"{student}+{LESSON}+{time}+{key}"
    folder.mkdir()
    (folder / FILE).write_text(text or student, encoding="utf-8")
    (folder / "timestamp.txt").write_text(time, encoding="utf-8")
    (folder / collect.SECRET).write_text("s", encoding="utf-8")
    return folder


def collected(inbound: Path, **settings) -> Collect:
    """Collect into the folder beside the exchange."""
    home = inbound.parents[2]
    config = Config(
        CourseDirectory={"root": str(home), "course_id": "c", "assignment_id": LESSON},
        Exchange={"root": str(home / "exchange")},
        ExchangeCollect={"update": True, **settings},
    )
    settings = {"coursedir": CourseDirectory(config=config), "config": config}
    collector = Collect(authenticator=Authenticator(config=config), **settings)
    collector.start()
    return collector


def told(collector: Collect) -> list[str]:
    return [str(item) for item in collector.left_out]


def handed_in(inbound: Path, student: str) -> dict[str, int]:
    """Name -> size of what was collected."""
    there = inbound.parents[2] / "submitted" / student / LESSON
    return {path.name: path.stat().st_size for path in there.iterdir()}


def work(inbound: Path, student: str) -> str:
    return (inbound.parents[2] / "submitted" / student / LESSON / FILE).read_text(encoding="utf-8")


def test_a_link_to_another_file_is_not_followed_and_stops_nobody(inbound: Path):
    secret = inbound.parents[2] / "solution.ipynb"
    secret.write_text("the solution", encoding="utf-8")
    folder = hand_in(inbound, "zed")
    (folder / FILE).unlink()
    (folder / FILE).symlink_to(secret)
    (folder / "dangling").symlink_to("nowhere")
    (folder / "folder").symlink_to(secret.parent)
    os.mkfifo(folder / "pipe")
    lines = told(collected(inbound))
    assert [text.partition(" in zed+")[0] for text in lines] == [FILE, "dangling", "folder", "pipe"]
    assert lines[0].endswith("it is no plain file")
    assert all(text.endswith("grading does not read it") for text in lines[1:])
    assert handed_in(inbound, "zed").keys() == {"timestamp.txt", collect.SECRET}
    assert work(inbound, "ada") == "ada"


ODD = {
    f"zed+{LESSON}+never+x": "no time",
    f"..+{LESSON}+{EARLY}+x": "no student's name",
    f"+{LESSON}+{EARLY}+x": "no student's name",
    f"a\x1bb+{LESSON}+{EARLY}+x": "no student's name",
    f"zed+{LESSON}+": "no time",
}


@pytest.mark.parametrize("name", ODD, ids=ascii)
def test_an_odd_folder_is_left_out_with_the_reason(inbound: Path, name: str):
    (inbound / name).mkdir()
    (text,) = told(collected(inbound))
    assert ODD[name] in text
    assert "\x1b" not in text
    assert work(inbound, "ada") == "ada"


def test_a_folder_that_is_a_link_is_left_out(inbound: Path):
    (inbound / f"zed+{LESSON}+{EARLY}+x").symlink_to(inbound / f"ada+{LESSON}+{EARLY}+x")
    (text,) = told(collected(inbound))
    assert "a link or no folder" in text
    assert not (inbound.parents[2] / "submitted" / "zed").exists()


def test_a_newer_hand_in_replaces_the_older_and_an_older_does_not(inbound: Path):
    hand_in(inbound, "ada", LATE, "newer")
    collected(inbound)
    assert work(inbound, "ada") == "newer"
    shutil.rmtree(inbound / f"ada+{LESSON}+{LATE}+x")
    collected(inbound)
    assert work(inbound, "ada") == "newer"


def test_a_hand_in_that_is_being_copied_is_left_for_the_next_run_and_told(
    inbound: Path, monkeypatch
):
    folder = hand_in(inbound, "zed", text="half of it")
    for name in ("timestamp.txt", collect.SECRET):  # nbgrader writes these last
        (folder / name).unlink()
    (text,) = told(collected(inbound))
    assert "it is being handed in right now" in text
    (folder / FILE).write_text("all of it", encoding="utf-8")
    monkeypatch.setattr(collect, "NEW_SECONDS", 0.0)  # a minute later, though it never had a secret
    assert told(collected(inbound)) == []
    assert work(inbound, "zed") == "all of it"


@pytest.mark.parametrize("is_there", [False, True], ids=["both new", "collected already"])
def test_a_hand_in_from_the_future_hides_none_that_came_after_the_clock_was_put_right(
    inbound: Path, is_there: bool
):
    wrong = hand_in(inbound, "ada", "2100-01-01 10:00:00.000000 UTC", "by a wrong clock")
    (inbound / f"ada+{LESSON}+{EARLY}+x").rename(inbound.parent / "later")
    if is_there:
        collected(inbound)
        assert work(inbound, "ada") == "by a wrong clock"
    hand_in(inbound, "ada", "2020-12-01 10:00:00.000000 UTC", "by a right clock")
    collected(inbound)
    assert work(inbound, "ada") == "by a right clock"
    assert wrong.is_dir()


def test_whoever_looks_while_a_newer_hand_in_takes_an_olders_place_finds_one_of_them_whole(
    inbound: Path, monkeypatch
):
    collected(inbound)
    hand_in(inbound, "ada", LATE, "newer")
    seen = []
    remove = shutil.rmtree

    def looking(path: Path, **options: bool) -> None:
        remove(path, **options)
        seen.append(work(inbound, "ada"))

    monkeypatch.setattr(shutil, "rmtree", looking)
    collected(inbound)
    assert seen == ["ada", "ada", "newer"]
    assert [path.name for path in (inbound.parents[2] / "submitted" / "ada").iterdir()] == [LESSON]


def owned_by_others(monkeypatch, owner: str) -> None:
    """Let each hand-in be of a user who is not the one who grades."""
    monkeypatch.setattr(collect, "_owner", lambda _: owner)
    monkeypatch.setattr(Collect, "_is_own", lambda *_: False)


def test_a_folder_in_anothers_name_is_left_out_and_the_owner_told(inbound: Path, monkeypatch):
    collected(inbound)
    hand_in(inbound, "ada", LATE, "mallory's")
    owned_by_others(monkeypatch, "mallory")
    assert any("mallory owns it" in text for text in told(collected(inbound)))
    assert work(inbound, "ada") == "ada"


@pytest.mark.parametrize(("owner", "check"), [("ada", True), ("mallory", False)])
def test_the_students_own_folder_is_taken_and_any_if_owners_are_not_asked(
    inbound: Path, monkeypatch, owner: str, check: bool
):
    owned_by_others(monkeypatch, owner)
    assert collected(inbound, check_owner=check).left_out == []
    assert work(inbound, "ada") == "ada"


def test_a_time_that_is_none_in_submitted_is_put_right(inbound: Path):
    collected(inbound)
    stamp = inbound.parents[2] / "submitted" / "ada" / LESSON / "timestamp.txt"
    stamp.write_text("1...h nan", encoding="utf-8")
    assert collected(inbound).left_out == []
    assert stamp.read_text(encoding="utf-8") == EARLY


@pytest.mark.parametrize("code", ["utf-8-sig", "utf-16"])
def test_a_time_written_by_hand_on_windows_is_a_time(inbound: Path, code: str):
    collected(inbound)
    stamp = inbound.parents[2] / "submitted" / "ada" / LESSON / "timestamp.txt"
    stamp.write_bytes(f"{LATE}\r\n".encode(code))
    hand_in(inbound, "ada", "2025-12-01 22:00:00.000000 UTC", "older than that")
    collected(inbound)
    assert work(inbound, "ada") == "ada"


def test_a_folder_that_became_a_link_is_owned_by_who_made_the_link(tmp_path: Path):
    link = tmp_path / f"victim+{LESSON}+{EARLY}+x"
    link.symlink_to("/")
    if os.geteuid() == 0:
        os.lchown(link, 65534, 65534)
    assert collect._owner(link) != "root"


def looked_at(monkeypatch: pytest.MonkeyPatch, step: str, then: Callable[[Path], object]) -> None:
    """Let a student do something to a hand-in right after a step of collecting has seen it."""
    real = getattr(collect, step)

    def seen(path: Path, *rest: object) -> object:
        result = real(path, *rest)
        if path.name.startswith("zed"):
            then(path)
        return result

    monkeypatch.setattr(collect, step, seen)


@pytest.mark.parametrize("step", ["_fault", "_owner"])
def test_a_hand_in_that_is_gone_meanwhile_stops_nobody(inbound: Path, monkeypatch, step: str):
    hand_in(inbound, "zed")
    monkeypatch.setattr(Collect, "_is_own", lambda _, path: path.name.startswith("ada"))
    looked_at(monkeypatch, step, shutil.rmtree)
    assert told(collected(inbound)) == []
    assert work(inbound, "ada") == "ada"


def test_a_hand_in_whose_owner_cannot_be_read_stops_nobody_and_is_told(inbound: Path, monkeypatch):
    hand_in(inbound, "zed")
    lstat = Path.lstat

    def refusing(path: Path) -> os.stat_result:
        if path.name.startswith("zed"):
            raise PermissionError(13, "Permission denied")
        return lstat(path)

    monkeypatch.setattr(Path, "lstat", refusing)
    (text,) = told(collected(inbound))
    assert "it cannot be read (Permission denied)" in text
    assert work(inbound, "ada") == "ada"


def test_what_grading_reads_is_taken_and_all_else_is_told_and_noted_for_the_student(inbound: Path):
    folder = hand_in(inbound, "zed")
    read = {FILE, "timestamp.txt", "submission_secret.txt", "predictions.txt"}
    others = ["ipykernel_launcher.py", "nbgrader_config.py", *(f"x{n:02}" for n in range(60))]
    for name in (*read, *others):
        (folder / name).write_text(name, encoding="utf-8")
    with (folder / "x00").open("wb") as file:
        file.truncate(30 << 30)
    lines = told(collected(inbound))
    assert lines == [f"{name} in {folder.name}: grading does not read it" for name in others]
    assert handed_in(inbound, "zed").keys() == read
    assert unread(inbound.parents[2], "zed", LESSON) == others
    assert unread(inbound.parents[2], "ada", LESSON) == []


def test_a_newer_hand_in_without_other_files_takes_back_what_was_noted(inbound: Path):
    (hand_in(inbound, "zed") / "data.csv").touch()
    collected(inbound)
    hand_in(inbound, "zed", LATE)
    collected(inbound)
    assert unread(inbound.parents[2], "zed", LESSON) == []


@pytest.mark.parametrize("name", [f"{LESSON} (1).ipynb", f"{LESSON}.ipynb.txt", "mine.json"])
def test_a_notebook_by_another_name_is_collected_under_the_lessons(inbound: Path, name: str):
    folder = hand_in(inbound, "zed", text='{"cells": []}')
    (folder / FILE).rename(folder / name)
    assert told(collected(inbound)) == []
    assert work(inbound, "zed") == '{"cells": []}'


def test_of_two_notebooks_by_other_names_none_is_guessed(inbound: Path):
    folder = hand_in(inbound, "zed", text='{"cells": []}')
    (folder / FILE).rename(folder / "one.ipynb")
    (folder / "two.ipynb").write_text('{"cells": []}')
    assert [text.partition(" ")[0] for text in told(collected(inbound))] == [
        "one.ipynb", "two.ipynb",
    ]  # fmt: skip
    assert FILE not in handed_in(inbound, "zed")


def test_a_file_that_is_too_large_is_told(inbound: Path):
    with (hand_in(inbound, "zed") / FILE).open("r+b") as file:
        file.truncate((32 << 20) + 1)
    (text,) = told(collected(inbound))
    assert text.startswith(f"{FILE} in zed+")
    assert text.endswith("it is larger than 32 MiB")


# --- Equal work that comes again ---------------------------------------------------------------


def stamp(inbound: Path, student: str = "ada") -> str:
    return (inbound.parents[2] / "submitted" / student / LESSON / "timestamp.txt").read_text()


def again(inbound: Path, time: str = LATE, text: str = "ada", secret: str = "t") -> Path:
    folder = hand_in(inbound, "ada", time, text)
    (folder / collect.SECRET).write_text(secret)
    return folder


@pytest.mark.parametrize("is_there", [False, True], ids=["both new", "collected already"])
def test_equal_work_that_is_handed_in_again_keeps_its_first_time_and_has_the_new_secret(
    inbound: Path, is_there: bool
):
    if is_there:
        collected(inbound)
    again(inbound)
    for _ in range(2):
        assert told(collected(inbound)) == []
        assert stamp(inbound) == EARLY
        there = inbound.parents[2] / "submitted" / "ada" / LESSON
        assert (there / collect.SECRET).read_text() == "t"


def test_work_that_is_given_up_and_handed_in_again_has_the_time_of_its_first(inbound: Path):
    again(inbound, "2025-12-02 09:00:00.000000 UTC", "other", "o")
    again(inbound)
    collected(inbound)
    assert stamp(inbound) == EARLY


def test_equal_notebooks_with_other_predictions_are_not_equal_work(inbound: Path):
    collected(inbound)
    (again(inbound) / "predictions.txt").write_text("NOUN")
    collected(inbound)
    assert stamp(inbound) == LATE


def by_hand(inbound: Path, time: str = "") -> Path:
    """Put Ada's work into submitted/ as an instructor does."""
    place = inbound.parents[2] / "submitted" / "ada" / LESSON
    place.mkdir(parents=True)
    (place / FILE).write_text("ada", encoding="utf-8")
    if time:
        (place / "timestamp.txt").write_text(time)
    return place


@pytest.mark.parametrize("time", ["2025-11-30 10:00+01:00", "2025-11-30 10:00:00 Europe/Berlin"])
def test_work_that_came_in_another_way_before_keeps_that_time(inbound: Path, time: str):
    by_hand(inbound, time)
    for _ in range(2):
        collected(inbound)
        assert stamp(inbound) == "2025-11-30 09:00:00.000000 UTC"


def test_work_that_was_put_there_without_a_time_gets_none_from_the_exchange(inbound: Path):
    place = by_hand(inbound)
    for _ in range(2):
        collected(inbound)
        assert not (place / "timestamp.txt").exists()
