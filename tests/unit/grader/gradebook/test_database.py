"""One gradebook, wherever nbgrader's settings put it."""

import json

import pytest
from nbgrader.coursedir import CourseDirectory
from traitlets.config.loader import PyFileConfigLoader

from grader.course.course import GradingCourse
from grader.errors import CourseError
from grader.gradebook.database import db_url, elsewhere, sqlite_file
from tests.unit.course_files import make_course


@pytest.fixture(autouse=True)
def no_settings_of_this_machine(monkeypatch):
    monkeypatch.setattr("grader.gradebook.database.jupyter_config_path", list)


def configured(folder, url):
    (folder / "nbgrader_config.py").write_text(
        f"c = get_config()\nc.CourseDirectory.db_url = {url!r}\n"
    )


def test_without_a_setting_the_gradebook_is_in_the_courses_folder(tmp_path):
    assert db_url(tmp_path, tmp_path) == f"sqlite:///{tmp_path}/gradebook.db"


@pytest.mark.parametrize("name", ["per%20cent", "which?"])
def test_in_an_oddly_named_folder_nbgrader_and_we_have_the_same_gradebook(tmp_path, name):
    root = tmp_path / name
    root.mkdir()
    root = make_course(root)
    assert sqlite_file(db_url(root, root)) == root / "gradebook.db"
    theirs = nbgraders_own(root)
    assert sqlite_file(theirs) == root / "gradebook.db"


def nbgraders_own(root):
    """The address that nbgrader's own programs use there."""
    settings = PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()
    return CourseDirectory(config=settings).db_url


def test_the_setting_counts(tmp_path):
    configured(tmp_path, "postgresql://somebody@somewhere/grades")
    assert db_url(tmp_path, tmp_path) == "postgresql://somebody@somewhere/grades"


def test_a_setting_in_json_beside_it_counts_as_for_nbgrader(tmp_path):
    configured(tmp_path, "sqlite:////one.db")
    setting = {"CourseDirectory": {"db_url": "sqlite:////two.db"}}
    (tmp_path / "nbgrader_config.json").write_text(json.dumps(setting))
    assert db_url(tmp_path, tmp_path) == "sqlite:////two.db"


def test_a_setting_in_jupyters_folder_counts_where_the_course_has_none(tmp_path, monkeypatch):
    home = tmp_path / "jupyter"
    home.mkdir()
    configured(home, "sqlite:////one.db")
    monkeypatch.setattr("grader.gradebook.database.jupyter_config_path", lambda: [str(home)])
    assert db_url(tmp_path, tmp_path) == "sqlite:////one.db"
    configured(tmp_path, "sqlite:////two.db")
    assert db_url(tmp_path, tmp_path) == "sqlite:////two.db"


def test_a_relative_file_is_the_courses_from_wherever_a_command_is_run(tmp_path, monkeypatch):
    configured(tmp_path, "sqlite:///grades/book.db")
    (tmp_path / "solutions").mkdir()
    monkeypatch.chdir(tmp_path / "solutions")
    assert sqlite_file(db_url(tmp_path, tmp_path)) == tmp_path / "grades" / "book.db"


def test_the_demo_never_writes_into_the_courses_gradebook(tmp_path):
    configured(tmp_path, "sqlite:////real.db")
    assert sqlite_file(db_url(tmp_path, tmp_path / "demo")) == tmp_path / "demo" / "gradebook.db"


def test_what_is_no_address_is_told(tmp_path):
    configured(tmp_path, "my gradebook")
    with pytest.raises(CourseError, match="db_url"):
        db_url(tmp_path, tmp_path)


# --- Where it is, if not in the course's folder --------------------------------------------------


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The user's own settings, which the course does not name."""
    folder = tmp_path / "jupyter"
    folder.mkdir()
    monkeypatch.setattr("grader.gradebook.database.jupyter_config_path", lambda: [str(folder)])
    return folder


def test_a_gradebook_named_in_the_users_own_settings_is_told_once_with_the_file(home, capsys):
    (home.parent / "course").mkdir()
    root = make_course(home.parent / "course")
    configured(home, f"sqlite:///{home}/mine.db")
    course = GradingCourse(root, root)
    for _ in range(2):
        course.gradebook().close()
    told = capsys.readouterr().err.splitlines()
    assert told == [f"The gradebook is {home}/mine.db, as {home}/nbgrader_config.py says."]


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("postgresql://ada:secret@host/grades", "postgresql://ada:***@host/grades"),
        ("sqlite:////elsewhere/grades.db", "/elsewhere/grades.db"),
        ("sqlite:///../grades.db", "grades.db, as "),
    ],
)
def test_a_gradebook_that_the_course_names_elsewhere_is_told_without_its_password(
    tmp_path, url, says
):
    configured(tmp_path, url)
    told = elsewhere(tmp_path, tmp_path, db_url(tmp_path, tmp_path))
    assert says in told
    assert told.endswith(f"as {tmp_path}/nbgrader_config.py says.")
    assert "secret" not in told


@pytest.mark.parametrize("url", ["sqlite:///gradebook.db", "sqlite:///books/grades.db"])
def test_a_gradebook_in_the_courses_folder_needs_no_word(tmp_path, url):
    configured(tmp_path, url)
    assert elsewhere(tmp_path, tmp_path, db_url(tmp_path, tmp_path)) == ""
