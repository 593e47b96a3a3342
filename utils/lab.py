"""Open the course in JupyterLab: `python -m utils.lab [JupyterLab's options]`."""

import json
import os
import sys
from pathlib import Path

from jupyterlab.labapp import LabApp
from nbgrader.exchange import ExchangeError

from utils.exchange import Course, exchange_settings, prepare

NOT_FOR_LEARNERS = (
    "@jupyter/nbgrader:course-list",
    "@jupyter/nbgrader:create-assignment",
    "@jupyter/nbgrader:formgrader",
    # Its button judges a check by whether it raises; the course's checks explain instead.
    "@jupyter/nbgrader:validate-assignment",
    "@jupyterlab/apputils-extension:announcements",  # asks about news on the first start
)


def write_settings(course: Course) -> Path:
    """Write the lab's settings into a folder of the course's own and return that folder.

    Jupyter reads it before the user's settings and leaves those as they are.
    """
    folder = course.private / "jupyter"
    (folder / "labconfig").mkdir(parents=True, exist_ok=True)
    lines = [
        f"c.{section}.{name} = {value!r}"
        for section, values in exchange_settings(course).items()
        for name, value in values.items()
    ]
    text = "\n".join(["# Written by utils/lab.py at every start.", "c = get_config()", *lines, ""])
    (folder / "nbgrader_config.py").write_text(text, encoding="utf-8")
    page = {"disabledExtensions": dict.fromkeys(NOT_FOR_LEARNERS, True)}
    (folder / "labconfig" / "page_config.json").write_text(json.dumps(page, indent=1))
    return folder


def lab_options(course: Course, options: list[str]) -> list[str]:
    """Give JupyterLab's options: the course's own, then the caller's."""
    workspaces = course.private / "workspaces"
    return [
        f"--ServerApp.root_dir={course.learn}",
        f"--LabApp.workspaces_dir={workspaces}",
        f"--LabApp.default_url={_first_page(course, workspaces)}",
        "--Application.log_level=ERROR",  # what is left is the address, and what goes wrong
        "--KernelManager.transport_encryption=auto",  # else every kernel warns that it has none
        # Neither of these may ask the network.
        "--LabApp.extension_manager=readonly",
        "--LabApp.check_for_updates_class=jupyterlab.handlers.announcements.NeverCheckForUpdate",
        *_as_root(),
        *options,
    ]


def _first_page(course: Course, workspaces: Path) -> str:
    """The first start opens the first lesson; later ones open what was open before."""
    notebooks = sorted(course.learn.glob("*/*.ipynb"))
    if not notebooks or list(workspaces.glob("*")):
        return "/lab"
    return f"/lab/tree/{notebooks[0].relative_to(course.learn).as_posix()}"


def _as_root() -> list[str]:
    """In a container everyone is root, and JupyterLab wants that said."""
    return ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []


def main(options: list[str]) -> None:
    """Give the learner what is missing, then run JupyterLab until it is closed."""
    course = Course(Path(__file__).resolve().parents[1])
    try:
        lines = prepare(course)
    except (ExchangeError, OSError) as error:
        sys.exit(
            f"The lessons could not be copied to {course.learn}: {error}\n"
            f"Check that you may write there and in {course.private}, then start again."
        )
    for line in lines:
        print(line)
    os.environ["JUPYTER_CONFIG_PATH"] = str(write_settings(course))
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # this environment's kernel, not the user's
    LabApp.launch_instance(lab_options(course, options))


if __name__ == "__main__":
    main(sys.argv[1:])
