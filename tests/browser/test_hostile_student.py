"""One hostile student, whose name, texts, files and outputs an instructor meets in `make teach`.

What grading made is looked at first; then what a copy holds that other software left there.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import Request, urlopen

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from grader.authoring.sample_class import submission
from grader.cli import main
from grader.course.course import GradingCourse
from grader.recording.sanitize import StudentTexts
from tests.browser.chrome import Chrome
from tests.browser.foreign_site import ATTACK, attacks, foreign_site, visit
from tests.browser.jupyterlab import TOKEN, copy_for_instructor, running_lab
from tests.browser.kernels import kernels_folder, set_traps, sprung
from tests.browser.test_other_sites import TRAP, take_terminals
from tests.course.lesson_runs import all_lessons
from utils.lab.exchange import Course

LESSON = all_lessons()["00_start_here"]
NAME = LESSON.name
SCRIPT = f"<script>{ATTACK}</script>"
LOADED = f"<img src=x onerror='{ATTACK}'>"
TITLED = "document.title=`ran`"  # ids are names of folders, which hold no slash
LOADED_ID, STRING = f"<img src=x onerror={TITLED}>", f'";{TITLED};"'
# Students by id, first and last name.
STUDENTS = {
    "mallory": (SCRIPT, LOADED),
    'O\'Neill & <b>"x"': ("Pat", 'O\'Neill & <i>"Co"</i>'),
    LOADED_ID: (None, None),
    STRING: (STRING, "'-alert(1)-'"),
}


def texts(site: str) -> list[str]:
    """What the students' text cells hold."""
    return [
        f"[prize]({site}?link) ![a]({site}?picture.png) <img src={site}?tag.png>",
        f"[mine](/formgrader?path=submitted/mallory/{NAME})",
        f"![b](/formgrader?path=submitted/mallory/{NAME}) ![c](evil.html)",
        f"{SCRIPT}\n\n{LOADED}\n\n<iframe src=evil.html></iframe><object data=evil.html></object>",
        f"<style>* {{ background: url({site}?style.png) }}</style><base href={site}>",
        f"<meta http-equiv=refresh content='0; url={site}?meta'>",
    ]


def hand_in(site: str, student: str) -> str:
    """A notebook with right answers and hostile texts."""
    found: dict[str, Any] = json.loads(submission(LESSON, student, ()))
    for number, text in enumerate(texts(site)):
        cell = {"cell_type": "markdown", "id": f"mine-{number}", "metadata": {}, "source": text}
        found["cells"].append(cell)
    return json.dumps(found)


def fill(folder: Path) -> None:
    """Put files beside a notebook that run if anything looks for its own there."""
    set_traps(folder)
    (folder / "nbgrader_config.py").write_text(TRAP)
    (folder / ".jupytext.py").write_text(TRAP)
    (folder / "evil.html").write_text(SCRIPT)


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with foreign_site() as address:
        yield address


@pytest.fixture(scope="module")
def clone(chromium: str, site: str, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A clone in which the students' work was graded."""
    course = copy_for_instructor(tmp_path_factory.mktemp("clone").resolve())
    for student in STUDENTS:
        sent = course.root / "submitted" / student / NAME / f"{NAME}.ipynb"
        sent.parent.mkdir(parents=True)
        sent.write_text(hand_in(site, student))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(course.root)
        assert main(["grade", NAME, "--jobs", "1"]) == 0
    with GradingCourse(course.root, course.root).gradebook() as gradebook:
        for student, (first, last) in STUDENTS.items():
            gradebook.update_or_create_student(student, first_name=first, last_name=last)
    for student in STUDENTS:
        for step in ("submitted", "autograded"):
            fill(course.root / step / student / NAME)
    return course


@pytest.fixture(scope="module")
def base(clone: Course) -> Iterator[str]:
    with running_lab(clone, "grader", "teach") as address:
        yield address.partition("/?")[0]


@pytest.fixture(scope="module")
def page(chromium: str, base: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """The instructor's browser, which has JupyterLab's cookie."""
    with Chrome(chromium, tmp_path_factory.mktemp("instructor")) as browser:
        browser.open(f"{base}/lab?token={TOKEN}")
        browser.wait("location.pathname === '/lab' && !!document.querySelector('#jp-top-panel')")
        yield browser


def asked(base: str, road: str) -> Any:
    headers = {"Authorization": f"token {TOKEN}"}
    with urlopen(Request(base + road, headers=headers)) as answer:
        return json.load(answer)


def submissions(base: str) -> dict[str, str]:
    """The students' submission pages."""
    found = asked(base, f"/formgrader/api/submitted_notebooks/{NAME}/{NAME}")
    return {one["student"]: f"/formgrader/submissions/{one['id']}/" for one in found}


def roads(base: str) -> list[str]:
    of_student = [f"/formgrader/manage_students/{quote(name, safe='')}" for name in STUDENTS]
    return [
        "/formgrader/manage_assignments", f"/formgrader/manage_submissions/{NAME}",
        "/formgrader/gradebook", f"/formgrader/gradebook/{NAME}",
        f"/formgrader/gradebook/{NAME}/{NAME}", "/formgrader/manage_students",
        *of_student, *(f"{road}/{NAME}" for road in of_student), *submissions(base).values(),
    ]  # fmt: skip


def show(page: Chrome, address: str) -> None:
    """Open one of formgrader's pages and wait for what its script puts into it."""
    page.open("about:blank")
    page.wait("location.href === 'about:blank'")
    page.open(address)
    page.wait(
        "document.readyState === 'complete' && !!window.jQuery && jQuery.active === 0 &&"
        " !document.body.textContent.includes('Loading, please wait')"
    )
    # Names shown, a table searched, a dialogue opened.
    page.run("document.querySelector('#toggle_names, .glyphicon-eye-open')?.click()")
    page.run("$('input[type=search]').val('O').trigger('keyup').val('').trigger('keyup')")
    page.run("document.querySelector('.edit a')?.click()")
    page.run("new Promise(done => setTimeout(done, 300))")


def loaded(page: Chrome) -> list[str]:
    """The addresses that a page loaded, besides formgrader's own."""
    names: list[str] = page.run("performance.getEntriesByType('resource').map(one => one.name)")
    own = ("/formgrader/static/", "/formgrader/api/", "/formgrader/fonts/")
    return [name for name in names if not any(part in name for part in own)]


def assert_nothing_ran(page: Chrome, base: str, clone: Course) -> None:
    sprung_files = sorted(clone.root.rglob("ran*"))
    for file in sprung_files:  # each test looks for its own
        file.unlink()
    title = page.run("document.title")
    assert (title == "ran", take_terminals(base), sprung_files) == (False, [], [])


def test_no_name_text_or_file_acts_on_a_page_of_formgrader(
    page: Chrome, base: str, clone: Course, site: str
) -> None:
    found = roads(base)
    assert len(found) == 6 + 3 * len(STUDENTS)
    for road in found:
        show(page, base + road)
        assert_nothing_ran(page, base, clone)
        assert [x for x in loaded(page) if x.startswith((site, base))] == [], road
        assert page.run("location.pathname") == road


def test_names_are_told_as_they_are(page: Chrome, base: str) -> None:
    told = f"{base}/formgrader/manage_students"
    show(page, told)
    names = page.run("[...document.querySelectorAll('td.name')].map(one => one.textContent)")
    ids = page.run("[...document.querySelectorAll('td.id')].map(one => one.textContent)")
    assert sorted(ids) == sorted(STUDENTS)
    assert sorted(names) == sorted(f"{last}, {first}" for first, last in STUDENTS.values())


@pytest.mark.parametrize("student", STUDENTS)
def test_a_students_pages_find_the_students_work(page: Chrome, base: str, student: str) -> None:
    show(page, f"{base}/formgrader/manage_students/{quote(student, safe='')}")
    page.wait(f"document.querySelector('td.name a')?.textContent === '{NAME}'")
    show(page, f"{base}/formgrader/manage_students/{quote(student, safe='')}/{NAME}")
    page.wait(f"document.querySelector('td.name a')?.textContent === '{NAME}'")
    page.run("document.querySelector('td.name a').click()")
    page.wait(f"location.pathname === '{submissions(base)[student]}'")
    first, last = STUDENTS[student]
    name = page.wait("document.querySelector('a.name-shown')?.textContent.trim()")
    assert name == (f"{last}, {first}" if first else student)


def test_a_link_in_a_text_keeps_its_words_and_leads_nowhere(
    page: Chrome, base: str, site: str
) -> None:
    show(page, base + submissions(base)["mallory"])
    text = page.run("document.querySelector('#notebook-container').textContent")
    assert "[prize]" in text
    assert "[mine]" in text
    assert site not in text
    assert page.run("document.querySelectorAll('#notebook-container a').length") == 0


def test_the_files_of_a_hand_in_are_no_pages_of_formgrader(
    page: Chrome, base: str, clone: Course
) -> None:
    for road in submissions(base).values():
        page.open(f"{base}{road}evil.html")
        page.wait(f"location.pathname === '{road}evil.html' && document.readyState === 'complete'")
        assert_nothing_ran(page, base, clone)


def test_a_folder_that_an_address_names_configures_nothing(
    page: Chrome, base: str, clone: Course
) -> None:
    show(page, f"{base}/formgrader/manage_assignments")
    folder = quote(f"{clone.root}/submitted/mallory/{NAME}")
    for road in (f"submitted/mallory/{NAME}", folder):
        page.run(f"fetch('/formgrader?path={road}').then(answer => answer.text())")
        page.run(f"fetch('/formgrader/?path={road}').then(answer => answer.text())")
    assert_nothing_ran(page, base, clone)
    names = [one["name"] for one in asked(base, "/formgrader/api/assignments")]
    assert NAME in names


def test_formgraders_own_grading_runs_no_hand_in_and_says_what_does(
    page: Chrome, base: str, clone: Course
) -> None:
    show(page, f"{base}/formgrader/manage_submissions/{NAME}")
    page.run("document.querySelector('td.autograde a').click()")
    said = page.wait("document.querySelector('.modal pre')?.textContent")
    assert "run make grade" in said
    assert_nothing_ran(page, base, clone)


BUTTON = "<button data-commandlinker-command='terminal:create-new'>go</button>"


def open_notebook(page: Chrome, base: str, clone: Course, path: str, texts: list[str]) -> None:
    """Open a notebook with nothing but some texts in JupyterLab."""
    cells = [new_markdown_cell(f"begin {number} {text}") for number, text in enumerate(texts)]
    nbformat.write(new_notebook(cells=[*cells, new_markdown_cell("the end")]), clone.root / path)
    page.open("about:blank")
    page.wait("location.href === 'about:blank'")
    page.open(f"{base}/lab/tree/{quote(path)}?reset")
    page.wait(
        "[...document.querySelectorAll('.jp-RenderedMarkdown')]"
        ".some(cell => cell.textContent.startsWith('the end'))"
    )
    page.run("new Promise(done => setTimeout(done, 500))")


def test_a_graded_copy_leads_nowhere_and_loads_nothing_in_jupyterlab(
    page: Chrome, base: str, clone: Course, site: str
) -> None:
    kept = StudentTexts(())
    shown = [kept.shown(text, None)[0] for text in [*texts(site), site, BUTTON]]
    open_notebook(page, base, clone, f"autograded/mallory/{NAME}/texts.ipynb", shown)
    assert page.run("document.querySelector('.jp-Notebook').textContent.includes('[prize]')")
    links = "[...document.querySelectorAll('.jp-RenderedMarkdown a[href]')].map(a => a.href)"
    assert page.run(links) == []
    found = page.run("document.querySelectorAll('.jp-RenderedMarkdown :is(img, button)').length")
    assert found == 0
    assert [name for name in loaded(page) if name.startswith(site) or "path=" in name] == []
    assert_nothing_ran(page, base, clone)


def test_a_button_in_a_hand_in_runs_no_command_of_jupyterlab(
    page: Chrome, base: str, clone: Course
) -> None:
    open_notebook(page, base, clone, f"submitted/mallory/{NAME}/button.ipynb", [BUTTON])
    button = "document.querySelector('.jp-RenderedMarkdown button')"
    assert page.run(f"{button}.dataset.commandlinkerCommand ?? null") is None
    page.run(f"{button}.click()")
    assert_nothing_ran(page, base, clone)


@pytest.mark.parametrize("step", ["submitted", "autograded"])
def test_a_hand_in_that_is_opened_starts_no_kernel_among_its_files(
    base: str, clone: Course, step: str
) -> None:
    opened = f"{step}/mallory/{NAME}/{NAME}.ipynb"
    asked(base, f"/api/contents/{opened}")
    assert kernels_folder(base, opened) == str(clone.root)
    assert sprung(clone.root / step / "mallory" / NAME) == []
    assert sorted(clone.root.rglob("ran*")) == []


def test_an_instructors_own_notebook_keeps_its_folder(base: str, clone: Course) -> None:
    own = f"solutions/{NAME}/{NAME}.ipynb"
    assert kernels_folder(base, own) == str((clone.root / own).parent)


@pytest.mark.parametrize("number", range(len(attacks(""))))
def test_a_page_of_another_site_runs_nothing_in_make_teach(
    page: Chrome, base: str, clone: Course, site: str, number: int
) -> None:
    folder = f"submitted/mallory/{NAME}"
    title = visit(page, site, "go", base + attacks(folder)[number])
    assert title != "ran"
    assert_nothing_ran(page, base, clone)


@pytest.mark.parametrize(
    "road", [f"assignment/{NAME}/collect", f"assignment/{NAME}/unrelease", "students"]
)
def test_a_page_of_another_site_posts_nothing_to_formgrader(
    page: Chrome, base: str, site: str, road: str
) -> None:
    visit(page, site, "post", f"{base}/formgrader/api/{road}")
    assert "success" not in page.run("document.body.textContent")


def test_a_page_of_another_site_sees_no_page_of_formgrader(
    page: Chrome, base: str, site: str
) -> None:
    visit(page, site, "go", f"{base}/formgrader/manage_students")
    assert "mallory" not in page.run("document.documentElement.outerHTML")
    assert "not authorized" in page.run("document.body.textContent")


def test_a_copy_that_nbgrader_made_does_nothing_either(
    page: Chrome, base: str, clone: Course, site: str
) -> None:
    """nbgrader's own autograde keeps a student's texts and outputs as they were."""
    output = {"output_type": "display_data", "metadata": {}, "data": {"text/html": SCRIPT + LOADED}}
    found = json.loads(hand_in(site, "mallory"))
    found["cells"].append(
        {
            "cell_type": "code", "id": "mine", "metadata": {}, "source": "1",
            "outputs": [output, output | {"data": {"application/javascript": ATTACK}}],
            "execution_count": 1,
        }
    )  # fmt: skip
    copy = clone.root / "autograded" / "mallory" / NAME / f"{NAME}.ipynb"
    kept = copy.read_bytes()
    copy.write_text(json.dumps(found))
    try:
        show(page, base + submissions(base)["mallory"])
        assert "prize" in page.run("document.querySelector('#notebook-container').textContent")
        assert_nothing_ran(page, base, clone)
        assert [x for x in loaded(page) if x.startswith((site, base))] == []
        assert page.run("document.querySelectorAll('#notebook-container a').length") == 0
    finally:
        copy.write_bytes(kept)
