"""Open the course in JupyterLab, with the settings that learners need."""

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from jupyterlab.labapp import LabApp
from nbgrader.exchange import ExchangeError
from traitlets.config import Config

from utils import offline
from utils.lab import guide
from utils.lab.exchange import Course, exchange_settings, prepare
from utils.lab.page import NAME, write_page
from utils.lab.settings import SettingsError

NOT_FOR_LEARNERS = (
    "@jupyter/nbgrader:course-list",
    "@jupyter/nbgrader:create-assignment",
    "@jupyter/nbgrader:formgrader",
    # Its button judges a check by whether it raises; the course's checks explain instead.
    "@jupyter/nbgrader:validate-assignment",
)
CELL_EXECUTOR = "@jupyterlab/notebook-extension:cell-executor"  # the course brings its own
NEWS = "@jupyterlab/apputils-extension:announcements"  # asks about news on the first start

EXTENSIONS = Path(__file__).resolve().parent / "extension"  # a folder for each change of JupyterLab
# Which of the server's extensions are on. nbgrader's wheel switches its own on wherever it is
# installed: they run what a web page or a folder with a configuration asks for.
SERVER_EXTENSIONS = Path(__file__).resolve().parent / "server_extensions.json"
# Jupyter reads such files by their names, and the last one counts: this comes after nbgrader's.
SWITCHED = Path("jupyter_server_config.d", "transformer-encoder-course.json")

# Its Submit would claim success where nothing arrives.
WITHOUT_SUBMIT = ("@jupyter/nbgrader:assignment-list", "@jupyter/nbgrader:menu")


def write_settings(course: Course, more: Config | None = None) -> Path:
    """Write the lab's settings into a folder inside the course, and return that folder.

    Jupyter reads it before the user's settings and leaves those as they are.

    Args:
        course: whose settings to write.
        more: nbgrader's settings besides those of the course's exchange.

    """
    folder = course.private / "jupyter"
    switch_extensions(folder)
    without = (*NOT_FOR_LEARNERS, CELL_EXECUTOR) + (() if course.has_submit else WITHOUT_SUBMIT)
    write_appearance(folder, without, _defaults())
    settings = exchange_settings(course)
    settings.merge(more or Config())
    lines = [
        f"c.{section}.{name} = {value!r}"
        for section, values in settings.items()
        for name, value in values.items()
    ]
    text = "\n".join(["# Written by utils/lab at every start.", "c = get_config()", *lines, ""])
    (folder / "nbgrader_config.py").write_text(text, encoding="utf-8")
    return folder


def write_appearance(folder: Path, without: tuple[str, ...], defaults: dict[str, Any]) -> None:
    """Write which of JupyterLab's extensions are off and how its settings begin."""
    (folder / "labconfig").mkdir(parents=True, exist_ok=True)
    page = {"disabledExtensions": dict.fromkeys((*without, NEWS), True)}
    for name, found in (("page_config", page), ("default_setting_overrides", defaults)):
        (folder / "labconfig" / f"{name}.json").write_text(json.dumps(found, indent=1))


def switch_extensions(folder: Path, more: dict[str, bool] | None = None) -> None:
    """Write which of the server's extensions are on, into a folder of Jupyter's settings.

    Args:
        folder: which folder.
        more: what is on or off besides, or other than for learners.

    """
    found = json.loads(SERVER_EXTENSIONS.read_text(encoding="utf-8"))
    found["ServerApp"]["jpserver_extensions"] |= more or {}
    (folder / SWITCHED).parent.mkdir(parents=True, exist_ok=True)
    (folder / SWITCHED).write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def switch_in_environment() -> None:
    """Switch nbgrader's server extensions off wherever this environment's JupyterLab is started.

    `setup.sh` does it too; conda runs nothing of ours before the course is started.
    """
    folder = Path(sys.prefix, "etc", "jupyter")
    if (folder / SWITCHED).with_name("nbgrader.json").is_file():
        with suppress(OSError):  # what is started here is safe by its own folder
            switch_extensions(folder)


def top_bar(name: str, label: str, caption: str, command: str, **args: Any) -> dict[str, Any]:
    """Return JupyterLab's setting for a button at the top right that runs one of its commands."""
    button = {"name": name, "label": label, "caption": caption, "command": command, "args": args}
    return {"@jupyterlab/application-extension:top-bar": {"toolbar": [button]}}


def _defaults() -> dict[str, Any]:
    """Return JupyterLab's settings unless a learner changes them: the start page and its button."""
    return top_bar(
        "start-page",
        guide.BUTTON,
        "The lessons and your progress, up to date",
        "apputils:run-all-enabled",
        # A page that is open is only shown by the first command; the second one reads it again.
        commands=["filebrowser:open-path", "docmanager:reload"],
        args={"path": NAME},
    ) | {
        "@jupyterlab/docmanager-extension:plugin": {
            "defaultViewers": {"markdown": "Markdown Preview"}
        },
    }


def lab_options(course: Course, options: list[str]) -> list[str]:
    """Return JupyterLab's options: the course's own, then the caller's."""
    return [
        f"--ServerApp.root_dir={course.learn}",
        "--ServerApp.contents_manager_class=utils.lab.contents.CourseFiles",
        f"--LabApp.workspaces_dir={course.private / 'workspaces'}",
        f"--LabApp.default_url=/lab/tree/{NAME}",
        f"--LabApp.extra_labextensions_path={EXTENSIONS}",
        # The same server's Notebook 7, which lacks the part that is off, too.
        f"--JupyterNotebookApp.extra_labextensions_path={EXTENSIONS}",
        *common_options(),
        *options,
    ]


def common_options() -> list[str]:
    """Return the options that learners and instructors share."""
    return [
        "--Application.log_level=ERROR",  # only the address and errors are left
        "--KernelManager.transport_encryption=auto",  # or every kernel warns that it has none
        # Neither of these may use the network.
        "--LabApp.extension_manager=readonly",
        "--LabApp.check_for_updates_class=jupyterlab.handlers.announcements.NeverCheckForUpdate",
        *_as_root(),
    ]


def _as_root() -> list[str]:
    """Return the option that JupyterLab needs if run by root, as it is in a container."""
    return ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []


def main(options: list[str]) -> None:
    """Open the course that this module belongs to."""
    switch_in_environment()
    open_course(Course(Path(__file__).resolve().parents[2]), options)


def open_course(
    course: Course,
    options: list[str],
    *,
    application: Any = LabApp,
    settings: Config | None = None,
) -> None:
    """Copy what the learner lacks, then run JupyterLab until it is closed.

    Args:
        course: the learner's.
        options: of JupyterLab, besides the course's own.
        application: what serves JupyterLab: its own application, or a hub's.
        settings: of nbgrader, besides those of the course's exchange.

    """
    try:
        lines = prepare(course)
        write_page(course)
    except SettingsError as error:
        sys.exit(str(error))
    except (ExchangeError, OSError) as error:
        sys.exit(
            f"The lessons could not be copied to {course.learn}: {error}\n"
            f"Check that you may write there and in {course.private}, then start again."
        )
    offer = offline.offer() if lines else ""  # once: when there are new copies
    for line in filter(None, [*lines, offer, guide.where_to_upload(course)]):
        print(line)
    folder = write_settings(course, settings)
    launch(course, folder, lab_options(course, options), application)


def launch(course: Course, settings: Path, options: list[str], application: Any = LabApp) -> None:
    """Run JupyterLab with a folder of settings until it is closed."""
    os.environ["JUPYTER_CONFIG_PATH"] = str(settings)
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # this environment's kernel, not the user's
    os.environ["PYTHONSAFEPATH"] = "1"  # no file beside a notebook stands in for a kernel's module
    # Kernels import this course's modules, whichever clone or bundle is installed.
    path = [str(course.root), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, path))
    application.launch_instance(options)
