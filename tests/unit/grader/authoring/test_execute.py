import json
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from grader.authoring import lessons
from grader.authoring.files import stale, write_if_changed
from grader.authoring.notebook import RUN, as_text, digest_of_outputs, source_notebook
from grader.authoring.release import released
from grader.cli import main
from tests.unit.course_files import LESSON, PLOT

SOLUTION = "solutions/01_doubling/01_doubling.ipynb"
RELEASE = "notebooks/01_doubling/01_doubling.ipynb"


def built(course: Path) -> dict[str, bytes]:
    return {name: (course / name).read_bytes() for name in (SOLUTION, RELEASE)}


def change(course: Path, old: str, new: str) -> None:
    assert old in LESSON
    (course / "solutions" / "01_doubling.py").write_text(LESSON.replace(old, new, 1))


def fake_build(course: Path) -> None:
    """Make the built files without running anything: cells count as run, without outputs."""
    (lesson,) = lessons(course)
    notebook = source_notebook(lesson)
    for number, cell in enumerate((c for c in notebook.cells if c.cell_type == "code"), 1):
        cell.execution_count = number
    write_if_changed(lesson.solution_path, as_text(notebook))
    write_if_changed(lesson.release_path, released(lesson, course))


def test_two_forced_builds_with_a_plot_are_byte_identical(course, capsys):
    assert main(["build"]) == 0
    first = built(course)
    assert main(["build", "--force"]) == 0
    assert built(course) == first
    assert "image/png" in first[SOLUTION].decode()
    assert [line.split()[:2] for line in capsys.readouterr().out.splitlines()] == [
        ["01_doubling", "built"],
        ["01_doubling", "built"],
    ]


def test_a_built_solution_was_run_and_holds_no_times_and_no_patch_version(course):
    main(["build"])
    text = (course / SOLUTION).read_text()
    notebook = json.loads(text)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, 8))
    assert all("execution" not in cell["metadata"] for cell in code)
    assert "version" not in notebook["metadata"]["language_info"]
    assert "jupytext" not in text
    assert text.endswith("}\n")
    assert "double: 2 of 2 right" in text
    assert not [p for p in course.rglob("*") if p.suffix == ".db" or p.name.startswith(".0")]


def test_an_unchanged_lesson_is_not_run_again(course, capsys):
    fake_build(course)
    before = built(course)
    assert main(["build", "01_doubling"]) == 0
    assert "up to date" in capsys.readouterr().out
    assert built(course) == before


def test_a_changed_release_is_written_again_without_running(course, capsys):
    fake_build(course)
    before = built(course)
    (course / RELEASE).write_text("{}")
    assert main(["build", "solutions/01_doubling.py"]) == 0
    assert "up to date" in capsys.readouterr().out
    assert built(course) == before


def test_a_changed_text_cell_is_written_and_what_the_code_gave_is_kept(course, capsys, monkeypatch):
    assert main(["build"]) == 0
    before = nbformat.read(course / SOLUTION, as_version=4)
    monkeypatch.setattr(NotebookClient, "execute", None)  # nothing may be run
    change(course, "# What is twice a number?", "# ## What is twice a number?")
    assert main(["build"]) == 0
    after = nbformat.read(course / SOLUTION, as_version=4)
    assert after.metadata == before.metadata
    assert [c for c in after.cells if c.cell_type == "code"] == [
        c for c in before.cells if c.cell_type == "code"
    ]
    assert [c.id for c in after.cells][:3] == ["cell-01", "cell-01-2", "cell-02"]
    assert "cell-01-2" in (course / RELEASE).read_text()
    assert capsys.readouterr().out.splitlines()[-1].split()[1] == "built"
    assert main(["build", "--check"]) == 0


@pytest.mark.parametrize(
    ("old", "new"), [("19 + 22", "22 + 19"), ('["skip-grading", "measured"]', '["skip-grading"]')]
)
def test_changed_code_or_tags_are_run_again(course, old, new, monkeypatch):
    fake_build(course)
    change(course, old, new)
    runs = []
    monkeypatch.setattr(NotebookClient, "execute", lambda *args, **kwargs: runs.append(args))
    main(["build"])
    assert len(runs) == 1


def test_what_a_run_left_is_signed_and_another_output_does_not_fit(course):
    main(["build"])
    notebook = nbformat.read(course / SOLUTION, as_version=4)
    assert notebook.metadata[RUN] == digest_of_outputs(notebook)
    merged = as_text(notebook).replace("double: 2 of 2 right", "double: 1 of 2 right")
    assert notebook.metadata[RUN] != digest_of_outputs(nbformat.reads(merged, as_version=4))


def test_a_failing_cell_stops_the_build_and_changes_nothing(course, capsys):
    fake_build(course)
    before = built(course)
    (course / "solutions" / "02_later.py").write_text("# %%\nprint(1)\n")
    change(course, PLOT, "np.zeros(3) @ np.zeros(4)")
    assert main(["build"]) == 1
    told = capsys.readouterr()
    assert "01_doubling: cell cell-03 failed" in told.err
    assert "    np.zeros(3) @ np.zeros(4)\n" in told.err
    assert "ValueError: matmul" in told.err
    assert "\x1b" not in told.err
    assert "02_later" not in told.out
    assert built(course) == before


class NoKernel(NotebookClient):
    """A client whose first kernels do not come up."""

    failures = 0

    def execute(self, *args, **kwargs):
        if NoKernel.failures:
            NoKernel.failures -= 1
            raise RuntimeError("Kernel died before replying to kernel_info")
        for number, cell in enumerate(self.nb.cells):
            cell.execution_count = number + 1
        return self.nb


@pytest.mark.parametrize(("failures", "code"), [(1, 0), (2, 1)])
def test_a_kernel_that_does_not_start_is_tried_twice(course, capsys, monkeypatch, failures, code):
    monkeypatch.setattr("grader.authoring.execute.NotebookClient", NoKernel)
    monkeypatch.setattr(NoKernel, "failures", failures)
    (course / "solutions" / "01_doubling.py").write_text("# %%\nx = 1\n")
    assert main(["build"]) == code
    assert ("no kernel started, twice" in capsys.readouterr().err) == (code == 1)


def test_outputs_name_no_folder_of_the_machine_that_builds(course, tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "data"))
    text = f'# %%\nprint("from {tmp_path}/data/ewt, {tmp_path}/data; not {tmp_path}/database")\n'
    (course / "solutions" / "01_doubling.py").write_text(text)
    assert main(["build"]) == 0
    (cell,) = json.loads((course / SOLUTION).read_text())["cells"]
    printed = f"from $COURSE_DATA/ewt, $COURSE_DATA; not {tmp_path}/database\n"
    assert cell["outputs"][0]["text"] == [printed]


@pytest.mark.parametrize("line", ["print(object())", "import warnings; warnings.warn('old')"])
def test_an_output_that_changes_at_every_run_is_refused(course, capsys, line):
    (course / "solutions" / "01_doubling.py").write_text(f"# %%\n{line}\n")
    assert main(["build"]) == 1
    assert "changes at every run" in capsys.readouterr().err
    assert not (course / SOLUTION).exists()


def test_check_says_nothing_differs_after_a_build(course, capsys):
    fake_build(course)
    assert main(["build", "--check"]) == 0
    assert "Nothing differs" in capsys.readouterr().out


def test_check_names_missing_files_and_how_to_fix(course, capsys):
    assert main(["build", "--check"]) == 1
    told = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[0] for line in told] == [
        f"{SOLUTION} is missing",
        f"{RELEASE} is missing",
    ]
    assert all("make build" in line for line in told)


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("secret_answer = x + x", "secret_answer = 2 * x", [SOLUTION]),
        ("want=42", "want=43", [SOLUTION]),
        ("What is twice", "What is three times", [SOLUTION, RELEASE]),
    ],
)
def test_check_names_what_a_changed_text_would_change(course, capsys, old, new, names):
    fake_build(course)
    change(course, old, new)
    assert main(["build", "--check"]) == 1
    told = capsys.readouterr().out
    assert [name for name in (SOLUTION, RELEASE) if f"{name} differs" in told] == names


def test_check_ignores_outputs_but_not_a_cell_that_never_ran(course, capsys):
    fake_build(course)
    notebook = json.loads((course / SOLUTION).read_text())
    notebook["cells"][3]["outputs"] = [{"name": "stdout", "output_type": "stream", "text": ["x"]}]
    (course / SOLUTION).write_text(json.dumps(notebook))
    assert main(["build", "--check"]) == 0
    notebook["cells"][3]["execution_count"] = None
    (course / SOLUTION).write_text(json.dumps(notebook))
    assert main(["build", "--check"]) == 1
    assert "never run" in capsys.readouterr().out


@pytest.mark.parametrize("damage", ["", "[]", "{}", "<<<<<<< HEAD"])
def test_check_names_a_file_that_is_no_notebook(course, capsys, damage):
    fake_build(course)
    for name in (SOLUTION, RELEASE):
        (course / name).write_text(damage)
    assert main(["build", "--check"]) == 1
    told = capsys.readouterr()
    assert SOLUTION in told.out
    assert RELEASE in told.out


def test_check_names_stale_notebooks_unless_one_lesson_is_chosen(course, capsys):
    fake_build(course)
    for name in ("solutions/09_old/09_old.ipynb", "notebooks/01_doubling/copy.ipynb"):
        (course / name).parent.mkdir(exist_ok=True)
        (course / name).write_text("{}")
    (course / "solutions" / "02_later.py").write_text("# %%\nprint(1)\n")
    assert len(stale(course, lessons(course))) == 2
    assert main(["build", "--check"]) == 1
    told = capsys.readouterr().out
    assert "solutions/09_old/09_old.ipynb is stale" in told
    assert "notebooks/01_doubling/copy.ipynb is stale" in told
    assert main(["build", "--check", "01_doubling"]) == 0


def test_an_unknown_lesson_is_answered_with_the_known_ones(course, capsys):
    assert main(["build", "02_xyz"]) == 2
    assert "no lesson '02_xyz'. There are: 01_doubling" in capsys.readouterr().err


def test_a_named_lesson_is_built_whatever_the_texts_of_others_hold(course):
    fake_build(course)
    (course / "solutions" / "02_unfinished.py").write_text("# %%\n\n# %%\nx = 1\n")
    assert main(["build", "--check", "01_doubling"]) == 0
    assert main(["build", "--check"]) == 1


def test_a_fault_in_a_text_is_a_message_and_not_a_traceback(course, capsys):
    change(course, "points=0.5\n", "points=-1\n")
    assert main(["build"]) == 1
    line = LESSON.splitlines().index('# %% test="predict_sum" points=0.5') + 1
    start = f"solutions/01_doubling.py:{line}: points=-1 is not valid"
    assert capsys.readouterr().err.startswith(start)


def test_outside_a_course_the_command_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["build"]) == 1
    assert "not in a course" in capsys.readouterr().err


def test_the_course_is_found_from_a_folder_in_it(course, monkeypatch):
    fake_build(course)
    monkeypatch.chdir(course / "solutions" / "01_doubling")
    assert main(["build", "--check"]) == 0


def test_a_write_that_fails_leaves_the_old_file_whole_and_no_other(tmp_path):
    path = tmp_path / "a.ipynb"
    write_if_changed(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_if_changed(path, "new \ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
