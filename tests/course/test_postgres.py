"""A gradebook in PostgreSQL, with a real server: every command, several instructors, moving."""

import subprocess
import sys
import tarfile
from contextlib import ExitStack, closing
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import create_engine, text

from grader.authoring.sample_class import CLASS, submission
from grader.course.course import GradingCourse
from grader.errors import CourseError
from grader.gradebook.address import shown
from grader.gradebook.lock import only_writer
from grader.gradebook.rows import content, tables
from grader.gradebook.server import connection, open_gradebook
from grader.gradebook.snapshots import snapshot
from tests.browser.jupyterlab import free_port
from tests.course.clones import environment, make_clone, run
from tests.course.lesson_runs import all_lessons
from tests.course.postgres import server
from tests.forks import GRADER, NEEDED_BY_GRADER, Forks, Result, forks

LESSON = all_lessons()["00_start_here"]
PASSWORD = "50%-of p@ss"
ENDING = ExitStack()
QUOTED = "50%25-of p%40ss"  # in an address


class Server:
    """A running server; every database on it belongs to "boss"."""

    def __init__(self, home: Path, port: int) -> None:
        self.home, self.port = home, port
        self.do(f"CREATE ROLE ada LOGIN PASSWORD '{PASSWORD}'")

    def url(self, database: str) -> str:
        return f"postgresql://boss@/{database}?host={self.home}&port={self.port}"

    def tcp(self, name: str, database: str) -> str:
        return f"postgresql://{name}@127.0.0.1:{self.port}/{database}"

    def do(self, statement: str, database: str = "postgres") -> None:
        engine = create_engine(self.url(database), isolation_level="AUTOCOMMIT")
        with engine.connect() as at:
            at.exec_driver_sql(statement.replace("%", "%%"))
        engine.dispose()

    def database(self, name: str, owner: str = "boss") -> str:
        self.do(f"CREATE DATABASE {name} OWNER {owner}")
        return self.url(name)


@pytest.fixture(scope="module")
def postgres():
    port = free_port()
    with server(port) as home, ENDING:
        yield Server(home, port)


def is_wanted(name: str) -> bool:
    return LESSON.name in name or not name.startswith(("solutions/", "notebooks/"))


def clone(folder: Path, url: str = "") -> GradingCourse:
    """A clone with one lesson and what the class of six handed in; one setting says the rest."""
    root = make_clone(folder, is_wanted)
    if url:
        with (root / "nbgrader_config.py").open("a") as settings:
            settings.write(f"\nc.CourseDirectory.db_url = {url!r}\n")
    for student, edits in CLASS.items():
        path = root / "submitted" / student / LESSON.name / f"{LESSON.name}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(submission(LESSON, student, edits))
    return GradingCourse(root, root)


@cache
def warm(root: Path) -> Forks:
    """Give the process whose copies run the grader's commands in this clone."""
    return ENDING.enter_context(forks(NEEDED_BY_GRADER, root, environment(root)))


def grader(course: GradingCourse, *words: str) -> Result:
    return warm(course.root).run(GRADER, *words)


def done(course: GradingCourse, *words: str) -> str:
    ended = grader(course, *words)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def on_file(tmp_path_factory):
    course = clone(tmp_path_factory.mktemp("file") / "clone")
    done(course, "grade")
    return course


@pytest.fixture(scope="module")
def on_server(tmp_path_factory, postgres):
    course = clone(tmp_path_factory.mktemp("server") / "clone", postgres.database("class_of_six"))
    done(course, "grade")
    return course


def scores(course: GradingCourse) -> dict[str, dict[str, float]]:
    return {row.student: row.scores for row in course.book().of(course.lessons[0].name)}


def everything(url: str) -> dict[str, Any]:
    with connection(url) as at:
        return {table.name: content(at, table) for table in tables()}


def test_the_class_has_the_same_scores_in_a_file_and_on_a_server(on_file, on_server):
    assert scores(on_file) == scores(on_server)
    assert sum(scores(on_server)["ada"].values()) == LESSON.points
    assert scores(on_server).keys() == CLASS.keys()


def test_every_command_follows_the_one_setting(on_server):
    (on_server.root / "class.csv").write_text('student_id,name\nzoe,"Zed, Zoe"\n')
    (on_server.root / "due.csv").write_text(f"lesson,due\n{LESSON.name},2030-10-05 23:59\n")
    assert "zoe" in done(on_server, "roster", "class.csv")
    assert "2030-10-05" in done(on_server, "deadlines", "due.csv")
    assert "nothing new" in done(on_server, "autograde")
    done(on_server, "report")
    done(on_server, "predictions")
    done(on_server, "export", "csv", "--out", "all.csv")
    assert "zoe" in (on_server.root / "all.csv").read_text()
    assert "7 students" in done(on_server, "gradebook")
    assert not (on_server.root / "gradebook.db").exists()


def counted(url: str) -> int:
    """How many tables the server was asked to count: it does so on its own in another column."""
    with connection(url) as at:
        asked = "SELECT count(*) FROM pg_stat_user_tables WHERE last_analyze IS NOT NULL"
        return at.scalar(text(asked)) or 0


def test_after_rows_were_written_the_server_counts_them(on_server, on_file, postgres):
    assert counted(on_server.db_url) == len(tables())
    url = postgres.database("counted")
    done(on_file, "gradebook", "move", url)
    assert counted(url) == len(tables())


def test_formgraders_side_of_nbgrader_reads_the_server(on_server):
    config = on_server.converter_config(LESSON.name)
    api = NbGraderAPI(coursedir=CourseDirectory(config=config), config=config)
    found = {s["student"]: s["score"] for s in api.get_submissions(LESSON.name)}
    assert found == {student: sum(of.values()) for student, of in scores(on_server).items()}


def test_nbgraders_own_program_exports_from_the_server(on_server):
    words = [sys.executable, "-m", "nbgrader", "export", "--to", "own.csv"]
    ended = run(on_server.root, *words)
    assert ended.returncode == 0, ended.stderr
    assert f'"{LESSON.name}",' in (on_server.root / "own.csv").read_text()
    assert not (on_server.root / "gradebook.db").exists()


def test_the_archive_holds_the_gradebook_of_a_server(on_server, tmp_path):
    done(on_server, "archive")
    (path,) = on_server.root.glob("archive/*.tar.gz")
    with tarfile.open(path) as tar:
        (inside,) = [name for name in tar.getnames() if name.endswith("/gradebook.db")]
        (tmp_path / "copy.db").write_bytes(tar.extractfile(inside).read())
    assert everything(f"sqlite:///{tmp_path}/copy.db") == everything(on_server.db_url)


def test_a_run_that_writes_copies_the_servers_gradebook_before(on_server):
    before = everything(on_server.db_url)
    copies = set(on_server.root.glob("gradebook-backups/*.db"))
    done(on_server, "grade", "--regrade")
    (made,) = sorted(set(on_server.root.glob("gradebook-backups/*.db")) - copies)
    assert everything(f"sqlite:///{made}") == before


def test_of_two_graders_one_waits_and_says_for_whom(on_server):
    words = [sys.executable, "-m", "grader", "autograde", "--regrade", "--student", "ada"]
    with only_writer(on_server.db_url):
        waiting = subprocess.Popen(
            words,
            cwd=on_server.root,
            env=environment(on_server.root),
            stdout=subprocess.PIPE,
            text=True,
        )
        said = waiting.stdout.readline()
        assert waiting.poll() is None
    rest, _ = waiting.communicate()
    assert "Another grader writes into the gradebook postgresql://boss@/class_of_six" in said
    assert ", process " in said
    assert (waiting.returncode, rest) == (0, "1 submission: 1 graded.\n")


OPEN = "import sys; from grader.gradebook.server import open_gradebook; open_gradebook(sys.argv[1])"


def test_four_processes_open_an_empty_database_and_none_fails(on_file, postgres):
    url = postgres.database("empty")
    path = {"PATH": f"{Path(sys.executable).parent}:{environment(on_file.root)['PATH']}"}
    env = environment(on_file.root) | path
    words = [sys.executable, "-W", "ignore", "-c", OPEN, url]
    with only_writer(url):  # they need not wait for a grader
        at_once = [
            subprocess.Popen(words, cwd=on_file.root, env=env, stderr=subprocess.PIPE, text=True)
            for _ in range(4)
        ]
        said = [process.communicate()[1] for process in at_once]
    assert [process.returncode for process in at_once] == [0] * 4, said
    assert len(everything(url)["alembic_version"]) == 1


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's own relations warn
def test_a_gradebook_moves_to_a_server_and_back_with_every_row(on_file, postgres):
    url, before = postgres.database("moved"), everything(on_file.db_url)
    said = done(on_file, "gradebook", "move", url)
    assert f"grade                 {len(before['grade']):>8}" in said
    assert f"c.CourseDirectory.db_url = {shown(url)!r}" in said
    assert everything(url) == everything(on_file.db_url) == before
    with open_gradebook(url) as gradebook:  # the next rows go in
        gradebook.update_or_create_submission(LESSON.name, gradebook.add_student("new").id)
    after = everything(url)
    with (on_file.root / "nbgrader_config.json").open("w") as settings:
        settings.write(f'{{"CourseDirectory": {{"db_url": "{url}"}}}}')
    done(on_file, "gradebook", "move", "sqlite:///back.db")
    (on_file.root / "nbgrader_config.json").unlink()
    assert everything(f"sqlite:///{on_file.root}/back.db") == after
    assert len(after["submitted_assignment"]) == len(before["submitted_assignment"]) + 1


def test_nothing_is_moved_into_what_is_not_empty(on_file, on_server, postgres):
    before = everything(on_server.db_url)
    refused = grader(on_file, "gradebook", "move", on_server.db_url)
    assert refused.returncode == 1
    assert "is not empty (" in refused.stderr
    assert everything(on_server.db_url) == before
    others = postgres.database("others")
    postgres.do("CREATE TABLE recipes (name text)", "others")
    refused = grader(on_file, "gradebook", "move", others)
    assert "is not empty (recipes), so nothing was moved" in refused.stderr


def test_a_backup_made_while_others_write_is_of_one_moment(on_server, tmp_path):
    before = everything(on_server.db_url)
    with only_writer(on_server.db_url), on_server.transaction() as gradebook:
        gradebook.add_student("half")
        done(on_server, "gradebook", "backup", str(tmp_path / "copy.db"))
        gradebook.db.rollback()
    assert everything(f"sqlite:///{tmp_path}/copy.db") == before


def test_rows_that_come_while_a_copy_is_made_are_not_in_it(on_server, tmp_path, monkeypatch):
    before = everything(on_server.db_url)
    module = "grader.gradebook.snapshots.copy_rows"
    copy = snapshot.__globals__["_of_server"].__globals__["copy_rows"]

    def disturbed(source, target):
        source.scalar(text("SELECT count(*) FROM student"))
        with open_gradebook(on_server.db_url) as gradebook:
            gradebook.add_student("meanwhile")
        return copy(source, target)

    monkeypatch.setattr(module, disturbed)
    assert snapshot(on_server.db_url, tmp_path / "copy.db")
    assert everything(f"sqlite:///{tmp_path}/copy.db") == before
    with open_gradebook(on_server.db_url) as gradebook:
        gradebook.remove_student("meanwhile")


def test_a_password_with_a_percent_sign_works_and_is_never_shown(postgres, on_file):
    postgres.database("hers", "ada")
    url = postgres.tcp(f"ada:{QUOTED}", "hers")
    with closing(open_gradebook(url)) as gradebook:
        assert gradebook.students == []
    refused = grader(on_file, "gradebook", "move", url)
    assert refused.returncode == 2
    assert "postgresql://ada:***@" in refused.stderr
    assert "50%" not in refused.stdout + refused.stderr


def test_what_a_server_refuses_is_told_in_a_sentence(postgres):
    postgres.database("closed")
    postgres.do("REVOKE CREATE ON SCHEMA public FROM PUBLIC", "closed")
    cases = {
        f"postgresql://ada@127.0.0.1:{free_port()}/hers": "the server does not answer",
        postgres.tcp("ada:wrong%25", "hers"): "does not take the name or password",
        postgres.tcp("ada", "hers"): "the server asks for a password",
        postgres.url("nowhere"): "there is no such database",
        postgres.url("closed").replace("boss", "nobody"): "the server does not know this name",
        postgres.url("closed").replace("boss", "ada"): "this name may not do that there",
    }
    for url, sentence in cases.items():
        with pytest.raises(CourseError) as caught:
            open_gradebook(url)
        assert sentence in str(caught.value)
        assert "wrong" not in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_server_that_is_away_stops_a_command_with_a_sentence(on_file):
    settings = on_file.root / "nbgrader_config.json"
    url = f"postgresql://ada:secret@127.0.0.1:{free_port()}/grades"
    settings.write_text(f'{{"CourseDirectory": {{"db_url": "{url}"}}}}')
    for words in (["grade"], ["deadlines"], ["export", "csv", "--out", "x"], ["gradebook"]):
        ended = grader(on_file, *words)
        assert ended.returncode == 1
        assert "ada:***@127.0.0.1" in ended.stderr
        assert ended.stderr.count("\n") == 1
        assert "secret" not in ended.stdout + ended.stderr
    settings.unlink()
