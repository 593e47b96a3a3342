"""The start page tells what is on record and what is saved, and nothing that it cannot know."""

import asyncio
import base64
import datetime as dt
import json
import os
import re
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory
from nbgrader.utils import notebook_hash
from tornado.web import HTTPError

from tests.unit.utils.lab.conftest import LESSONS, STUB
from utils.lab.contents import CourseFiles
from utils.lab.exchange import COURSE_ID, Course, exchange_settings, prepare
from utils.lab.page import NAME, render, write_page
from utils.lab.settings import FILE
from utils.progress import guesses
from utils.progress.record import FOLDER, Record, checksum, write

BUTTON = '<a class="course-button"'
NOON = dt.datetime(2026, 11, 22, 12, 0, tzinfo=dt.UTC)
CHECKED = dt.datetime(2026, 11, 22, 11, 30, tzinfo=dt.UTC).timestamp()
ANSWER = "def double(x):\n    return 2 * x"
SECOND = LESSONS[1]


@pytest.fixture
def begun(with_exercises: Course) -> Course:
    """The course as a learner has it after the first start."""
    prepare(with_exercises)
    return with_exercises


def notebook(course: Course) -> Path:
    return course.learn / SECOND / f"{SECOND}.ipynb"


def answer(course: Course, source: str, saved: float) -> None:
    """Write an answer to `double` into the learner's notebook, saved at a moment."""
    found = json.loads(notebook(course).read_text())
    next(cell for cell in found["cells"] if cell["id"] == "double")["source"] = source
    notebook(course).write_text(json.dumps(found))
    os.utime(notebook(course), (saved, saved))


def record(course: Course, *, passed: bool = True, last: float | None = CHECKED) -> None:
    found = Record(CHECKED, passed, started=True, cell=checksum(ANSWER), last_passed=last)
    write(course.learn, SECOND, "double", found)


def line(course: Course, start: str) -> str:
    """The one line of the page that begins so."""
    (found,) = [row for row in render(course, NOON).splitlines() if row.startswith(start)]
    return found


def of_double(course: Course) -> str:
    (found,) = [r for r in render(course, NOON).splitlines() if "[`double`]" in r]
    return found


def test_before_the_first_check_nothing_counts_and_the_first_exercise_is_next(
    begun: Course,
) -> None:
    assert line(begun, "| [00").endswith("</progress> | 20 | 0 of 1 | 0 of 1 |  |  |")
    assert (
        line(begun, BUTTON) == f'{BUTTON} href="00_first/00_first.ipynb">Begin: 00 · Lesson 0</a>'
    )
    assert of_double(begun).startswith("| ○ |")
    assert of_double(begun).endswith("| 3 |  |")


def test_a_lesson_that_was_begun_goes_on_at_its_first_open_exercise(begun: Course) -> None:
    found = json.loads(notebook(begun).read_text())
    shutil.rmtree(begun.source(LESSONS[0]))
    assert ">Begin: 01" in line(begun, BUTTON)
    found["cells"][1]["execution_count"] = 1
    notebook(begun).write_text(json.dumps(found))
    assert line(begun, BUTTON) == (
        f'{BUTTON} href="01_second/01_second.ipynb#cell-id=double">Go on: double</a> '
        "01 · Lesson 1: write it (3 points)."
    )


def test_there_is_one_button(begun: Course) -> None:
    assert render(begun, NOON).count(BUTTON) == 1


def test_a_lessons_bar_and_minutes_follow_its_points(begun: Course) -> None:
    record(begun)
    answer(begun, ANSWER, saved=CHECKED + 60)
    bar = '<progress value="3" max="3.5">3 of 3.5</progress> | 3 | 1 of 2 |'  # of 21 minutes
    assert bar in line(begun, "| [01")


def test_a_lab_is_optional_and_comes_after_all_else(with_exercises: Course) -> None:
    lab = "00b_lab"
    source = with_exercises.source("00_first")
    text = (source / "00_first.ipynb").read_text().replace("half", "third")
    with_exercises.source(lab).mkdir()
    (with_exercises.source(lab) / f"{lab}.ipynb").write_text(text.replace("Lesson 0", "A lab"))
    prepare(with_exercises)
    found = Record(CHECKED, True, started=True, cell=None, last_passed=CHECKED)
    write(with_exercises.learn, "00_first", "half", found)
    assert line(with_exercises, "**So far").startswith("**So far:** 1 of 3 exercises, 1 of 4.5")
    assert line(with_exercises, BUTTON).startswith(f'{BUTTON} href="{SECOND}/')
    assert f"A lab]({lab}/{lab}.ipynb) (optional) |" in render(with_exercises, NOON)
    for exercise in ("double", "triple"):
        write(with_exercises.learn, SECOND, exercise, found)
    assert line(with_exercises, BUTTON).startswith(f'{BUTTON} href="{lab}/')
    write(with_exercises.learn, lab, "third", found)
    assert "nothing is left" in line(with_exercises, "**Next")


def encoder(course: Course) -> dict[str, str]:
    """Read the drawing on the page: how each part of the encoder stands."""
    (data,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', render(course, NOON))
    groups = ET.fromstring(base64.b64decode(data)).iter("{http://www.w3.org/2000/svg}g")
    return {group.attrib["data-part"]: group.attrib["data-state"] for group in groups}


def test_a_part_of_the_encoder_has_colour_while_its_exercise_passes(with_exercises: Course) -> None:
    path = with_exercises.source(SECOND) / f"{SECOND}.ipynb"
    path.write_text(path.read_text().replace("double", "LayerNorm"))
    prepare(with_exercises)
    assert set(encoder(with_exercises).values()) == {"to come"}
    found = Record(CHECKED, True, started=True, cell=None, last_passed=CHECKED)
    write(with_exercises.learn, SECOND, "LayerNorm", found)
    shown = encoder(with_exercises)
    assert shown.pop("LayerNorm") == "your check passes"
    assert set(shown.values()) == {"to come"}
    write(with_exercises.learn, SECOND, "LayerNorm", Record(CHECKED, False, True, None, CHECKED))
    assert encoder(with_exercises)["LayerNorm"] == "to come"


def test_the_encoder_stands_below_the_button_and_the_table_and_is_told_in_words(
    begun: Course,
) -> None:
    page = render(begun, NOON)
    assert page.index(BUTTON) < page.index("| [01") < page.index("<img")
    assert 'alt="A sentence becomes word ids' in line(begun, "<img")


def test_a_notebook_under_another_name_is_told_with_how_to_undo_it(begun: Course) -> None:
    assert "no notebook where it should be" not in render(begun, NOON)
    notebook(begun).rename(notebook(begun).with_name("mine.ipynb"))
    told = "Rename mine.ipynb to 01_second.ipynb: right-click it in the list of files, then Rename."
    assert line(begun, "**01").endswith(told)
    notebook(begun).with_name("mine.ipynb").unlink()
    assert "Put your notebook back into the folder 01_second" in line(begun, "**01")


def test_a_lesson_keeps_its_name_and_a_copy_of_it_may_be_renamed(begun: Course) -> None:
    files = CourseFiles(root_dir=str(begun.learn))
    with pytest.raises(HTTPError, match=r"01_second\.ipynb keeps its name"):
        asyncio.run(files.rename_file(f"{SECOND}/{SECOND}.ipynb", f"{SECOND}/mine.ipynb"))
    assert notebook(begun).is_file()
    shutil.copy(notebook(begun), notebook(begun).with_name("copy.ipynb"))
    asyncio.run(files.rename_file(f"{SECOND}/copy.ipynb", f"{SECOND}/mine.ipynb"))
    asyncio.run(files.rename_file(SECOND, "before"))  # to start over
    assert (begun.learn / "before" / "mine.ipynb").is_file()


def test_a_passed_check_of_the_saved_cell_counts_with_its_time(begun: Course) -> None:
    record(begun)
    answer(begun, ANSWER, saved=CHECKED + 60)
    assert line(begun, "| [01").endswith("| 3 | 1 of 2 | 3 of 3.5 |  |  |")
    assert of_double(begun).startswith("| ✓ |")
    assert of_double(begun).endswith("| passed 22 Nov, 11:30 |")


def test_guesses_made_in_all_lessons_are_counted_and_open_ones_are_not(begun: Course) -> None:
    assert "guess" not in line(begun, "**So far:**")
    for lesson, kept in zip(LESSONS, ({"steps": 6, "rate": None}, {"share": 0.5}), strict=False):
        file = begun.learn / FOLDER / lesson / guesses.FILE
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(kept))
    assert line(begun, "**So far:**").endswith("points, 2 guesses.")
    file.unlink()
    assert line(begun, "**So far:**").endswith("points, 1 guess.")


def test_a_cell_that_was_changed_and_saved_since_no_longer_counts(begun: Course) -> None:
    record(begun)
    answer(begun, STUB, saved=CHECKED + 60)
    assert "| 0 of 2 |" in line(begun, "| [01")
    assert of_double(begun).startswith("| ↻ |")
    assert "changed since: run its check again" in of_double(begun)


def test_a_notebook_that_was_not_saved_since_the_check_is_not_called_changed(
    begun: Course,
) -> None:
    record(begun)
    answer(begun, STUB, saved=CHECKED - 60)
    assert of_double(begun).startswith("| ✓ |")
    assert of_double(begun).endswith("the notebook was not saved since |")


def test_a_check_that_failed_later_tells_when_it_passed_before(begun: Course) -> None:
    record(begun, passed=False, last=CHECKED - 3600)
    assert of_double(begun).startswith("| ✗ |")
    assert of_double(begun).endswith("not passed 22 Nov, 11:30; passed before, 22 Nov, 10:30 |")


def test_what_is_next_says_what_to_do_with_it(begun: Course) -> None:
    shutil.rmtree(begun.source(LESSONS[0]))
    record(begun, passed=False, last=None)
    assert line(begun, BUTTON).endswith(": fix it (3 points).")
    record(begun)
    assert line(begun, BUTTON).endswith(": run its check again (3 points).")
    answer(begun, ANSWER, saved=CHECKED + 60)
    assert "Go on: triple" in line(begun, BUTTON)
    write(begun.learn, SECOND, "triple", Record(CHECKED, True, True, None, CHECKED))
    assert line(begun, "**Next:**") == (
        "**Next:** nothing is left: every exercise passes its check."
    )
    assert line(begun, "| ✓ [01")


@pytest.mark.parametrize("damage", ["", "{}", "[]", '{"cells": 5}', '{"cells": [5]}'])
def test_a_damaged_notebook_of_the_learner_stops_nothing(begun: Course, damage: str) -> None:
    record(begun)
    notebook(begun).write_text(damage)
    assert of_double(begun).startswith("| ✓ |")


def test_a_deleted_notebook_stops_nothing(begun: Course) -> None:
    record(begun)
    shutil.rmtree(begun.learn / SECOND)
    assert "passed 22 Nov, 11:30" in of_double(begun)


def test_due_dates_are_shown_if_the_class_has_any(begun: Course) -> None:
    assert "| due |" not in render(begun, NOON)
    text = "[due]\n00_first = 2026-11-21T09:00:00Z\n01_second = 2027-01-02T09:00:00Z"
    (begun.root / FILE).write_text(text)
    fresh = Course(begun.root)
    assert "| 21 Nov, 09:00 (over) |" in line(fresh, "| [00")
    assert "| 2 Jan 2027, 09:00 |" in line(fresh, "| [01")
    assert line(fresh, BUTTON).endswith("</a> The lesson was due 21 Nov, 09:00.")
    write(begun.learn, LESSONS[0], "half", Record(CHECKED, True, True, None, CHECKED))
    assert line(fresh, BUTTON).endswith("</a> The lesson is due 2 Jan 2027, 09:00.")


def test_what_passes_of_the_whole_course_is_summed_up(begun: Course) -> None:
    assert line(begun, "**So far:**") == "**So far:** 0 of 3 exercises, 0 of 4.5 points."
    write(begun.learn, LESSONS[0], "half", Record(CHECKED, True, True, None, CHECKED))
    write(begun.learn, SECOND, "triple", Record(CHECKED, True, True, None, CHECKED))
    assert line(begun, "**So far:**") == "**So far:** 2 of 3 exercises, 1.5 of 4.5 points."


def submit(course: Course) -> Path:
    """Submit the second lesson as JupyterLab does, and return the copy that nbgrader keeps."""
    config = exchange_settings(course)
    config.CourseDirectory.assignment_id = SECOND
    ExchangeFactory(config=config).Submit(
        coursedir=CourseDirectory(config=config),
        authenticator=Authenticator(config=config),
        config=config,
    ).start()
    (copy,) = (course.private / "submitted" / COURSE_ID).iterdir()
    return copy


def test_a_submission_is_shown_with_its_time_and_whether_the_notebook_changed_since(
    begun: Course,
) -> None:
    sent = submit(begun)
    utc = dt.datetime.fromisoformat(sent.name.split("+")[2].removesuffix(" UTC"))
    at = f"{utc.day} {utc:%b}, {utc:%H:%M}"
    now = utc.replace(tzinfo=dt.UTC)
    assert f"| {at} | not yet |" in render(begun, now)
    answer(begun, ANSWER, saved=CHECKED)
    assert f"| {at}; changed since | not yet |" in render(begun, now)


# nbgrader leaves the pages that it compares open.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_feedback_is_announced_when_it_waits_and_linked_when_it_was_fetched(
    begun: Course,
) -> None:
    sent = submit(begun)
    secret = (sent / "submission_secret.txt").read_text()
    released = begun.exchange / COURSE_ID / "feedback"
    released.mkdir(exist_ok=True)
    page = released / f"{notebook_hash(secret=secret, notebook_id=SECOND)}.html"
    page.write_text("well done")
    assert line(begun, "| [01").endswith("| ready: Fetch Feedback |")
    stamp = sent.name.split("+")[2]
    fetched = begun.learn / SECOND / "feedback" / stamp / f"{SECOND}.html"
    fetched.parent.mkdir(parents=True)
    shutil.copy(page, fetched)
    link = f"{SECOND}/feedback/{stamp.replace(' ', '%20').replace(':', '%3A')}/{SECOND}.html"
    assert line(begun, "| [01").endswith(f"| [read it]({link}) |")
    page.write_text("even better")
    assert f"| ready: Fetch Feedback, [read it]({link}) |" in line(begun, "| [01")


def test_where_work_is_submitted_the_page_says_that_the_last_one_counts_even_late(
    begun: Course,
) -> None:
    assert "the last submission counts, even if it is late." in line(begun, "2. **Submit**")


def test_where_work_is_uploaded_the_page_says_what_and_where(begun: Course) -> None:
    (begun.root / FILE).write_text('submit = "Moodle, <below> Lesson 1"')
    page = render(Course(begun.root), NOON)
    assert "uploading the lesson's notebook to: **Moodle, &lt;below&gt; Lesson 1**" in page
    assert str(begun.learn) in page
    assert "Assignment List" not in page
    assert "| submitted |" not in page


def test_where_a_class_shares_an_exchange_the_page_names_it_and_says_if_it_is_away(
    begun: Course, tmp_path: Path
) -> None:
    shared = tmp_path / "exchange of the class"
    (begun.root / FILE).write_text(f'submit = "{shared}"')
    page = render(Course(begun.root), NOON)
    assert f"It goes to your class's exchange, `{shared}`" in page
    assert "cannot be reached from here" in page
    shared.mkdir()
    assert "cannot be reached from here" not in render(Course(begun.root), NOON)


def model(files: CourseFiles, path: str, *, content: bool = True) -> dict[str, str]:
    found: dict[str, str] = asyncio.run(files.get(path, content=content))
    return found


def test_jupyterlab_reads_the_page_as_it_is_at_that_moment(begun: Course) -> None:
    files = CourseFiles(root_dir=str(begun.learn))
    assert "0 of 2" in model(files, NAME)["content"]
    record(begun)
    answer(begun, ANSWER, saved=CHECKED + 60)
    assert "1 of 2" in model(files, NAME)["content"]


def test_a_page_that_cannot_be_renewed_is_shown_as_it_was(
    begun: Course, caplog: pytest.LogCaptureFixture
) -> None:
    write_page(begun)
    before = (begun.learn / NAME).read_text()
    (begun.root / FILE).write_text("submit = 5")
    files = CourseFiles(root_dir=str(begun.learn))
    assert model(files, NAME)["content"] == before
    assert "submit must be" in caplog.text


def test_other_files_are_read_as_they_are(begun: Course) -> None:
    files = CourseFiles(root_dir=str(begun.learn))
    assert model(files, "")["type"] == "directory"
    assert not (begun.learn / NAME).exists()
    assert model(files, f"{SECOND}/{SECOND}.ipynb")["type"] == "notebook"
    files.notary.store.close()  # else its database is open when later tests run
