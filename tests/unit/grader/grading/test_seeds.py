import pytest

from grader.errors import CourseError
from grader.grading.seeds import kept_seed, seed_of

OF = ("ada", "02_attention", "d1")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / ".course").mkdir()
    return tmp_path


def test_a_folder_keeps_its_seed_closed_to_others(folder):
    made = kept_seed(folder)
    assert kept_seed(folder) == made
    assert (folder / ".course" / "seed").stat().st_mode & 0o077 == 0
    assert list((folder / ".course").iterdir()) == [folder / ".course" / "seed"]


def test_two_folders_have_two_seeds(folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    (other / ".course").mkdir()
    assert kept_seed(other) != kept_seed(folder)


def test_the_same_submission_has_the_same_seed_again():
    assert seed_of(b"kept", *OF) == seed_of(b"kept", *OF)


@pytest.mark.parametrize(
    "other",
    [("ben", *OF[1:]), ("ada", "03", "d1"), (*OF[:2], "d2"), ("ada\x0002", "attention", "d1")],
)
def test_another_student_lesson_or_notebook_has_another_seed(other):
    assert seed_of(b"kept", *other) != seed_of(b"kept", *OF)
    assert seed_of(b"another", *OF) != seed_of(b"kept", *OF)


def test_a_damaged_seed_is_told_with_what_to_do(folder):
    (folder / ".course" / "seed").write_bytes(b"short")
    with pytest.raises(CourseError, match="Remove it"):
        kept_seed(folder)
    (folder / ".course" / "seed").unlink()
    (folder / ".course" / "seed").mkdir()
    with pytest.raises(CourseError, match="cannot be used"):
        kept_seed(folder)
