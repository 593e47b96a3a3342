from pathlib import Path

import pytest

from tests.unit.course_files import make_course


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small course that nothing was built in, as the working folder."""
    monkeypatch.chdir(make_course(tmp_path))
    return tmp_path
