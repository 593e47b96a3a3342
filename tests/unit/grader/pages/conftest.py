import pytest

from tests.unit.grader.pages.graded_class import GradedClass, empty_gradebook


@pytest.fixture(scope="session")
def gradebook(tmp_path_factory):
    return empty_gradebook(tmp_path_factory.mktemp("gradebook"))


@pytest.fixture
def made(tmp_path, gradebook):
    """A course folder with a gradebook and no submission yet."""
    return GradedClass(tmp_path, gradebook)
