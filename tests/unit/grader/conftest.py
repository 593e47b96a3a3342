"""A class without submissions, for what is recorded."""

import pytest

from tests.unit.grader.pages.graded_class import GradedClass, empty_gradebook


@pytest.fixture
def made(tmp_path_factory):
    return GradedClass(
        tmp_path_factory.mktemp("class"), empty_gradebook(tmp_path_factory.mktemp("g"))
    )
