"""Files of the repository as pages of the site."""

from pathlib import Path

import pytest

from grader.errors import CourseError
from grader.website.hosted import Host
from grader.website.repository_text import repository_page

GITHUB = Host("ada/course", "main")
README = """# Course

## Measured

See [figures](bench/results), [why](docs/grading.md#what), [it](https://x.org/a).
![A lesson](docs/lesson.png)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "bench" / "results").mkdir(parents=True)
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text(README)
    for name in ("grading.md", "lesson.png"):
        (tmp_path / "docs" / name).write_text("[back](../README.md) [gone](none.md)")
    return tmp_path


def test_links_lead_to_pages_to_the_repository_and_out(root: Path) -> None:
    page = repository_page(root, "README.md", GITHUB)
    assert "[why](grading.md#what)" in page
    assert "[figures](https://github.com/ada/course/tree/main/bench/results)" in page
    assert "[it](https://x.org/a)" in page
    assert "![A lesson](_static/lesson.png)" in page


def test_without_a_repository_a_link_into_it_is_its_words(root: Path) -> None:
    assert "See figures, [why]" in repository_page(root, "README.md", Host())


def test_a_link_that_leads_nowhere_is_told(root: Path) -> None:
    with pytest.raises(CourseError, match=r"links to none\.md"):
        repository_page(root, "docs/grading.md", GITHUB)
