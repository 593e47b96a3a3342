from tests.unit.grader.pages.conftest import gradebook, made  # noqa: F401 (fixtures)
