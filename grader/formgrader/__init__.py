"""nbgrader's formgrader as `make teach` serves it: a server extension of JupyterLab."""

from typing import Any

from grader.formgrader.extension import Formgrader


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(app: Any) -> None:
    formgrader = Formgrader(parent=app)
    formgrader.root_dir = app.root_dir
    formgrader.log = app.log
    formgrader.initialize([])
    formgrader.init_tornado_settings(app.web_app)
    formgrader.init_handlers(app.web_app)
