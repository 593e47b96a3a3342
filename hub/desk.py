"""The grading desk: JupyterLab on the instructor's clone, for every instructor of the hub.

The hub runs it as the clone's owner. Formgrader opens in a tab of its own: JupyterHub forbids its
pages to stand inside others.
"""

import os
from pathlib import Path

from jupyterhub.singleuser.extension import JupyterHubSingleUser

from grader.authoring.files import find_root
from grader.commands import teach
from hub.settings import DESK_PREFIX
from utils.lab.exchange import Course
from utils.lab.start import common_options, launch, top_bar, write_appearance

FORMGRADER = "@jupyter/nbgrader:formgrader"  # it opens inside JupyterLab


def write_settings(course: Course) -> Path:
    """Write JupyterLab's settings for the desk into a folder of their own; return it."""
    folder = course.private / "desk"
    button = top_bar(
        "grade-by-hand",
        teach.BUTTON,
        "nbgrader's formgrader, in a tab of its own: change scores and write comments",
        "help:open",
        url=f"{DESK_PREFIX}formgrader",
        text="Formgrader",
        newBrowserTab=True,
    )
    reading = {
        "@jupyterlab/docmanager-extension:plugin": {
            "defaultViewers": {"markdown": "Markdown Preview"}
        }
    }
    write_appearance(folder, (*teach.NOT_FOR_INSTRUCTORS, FORMGRADER), button | reading)
    return folder


def main() -> None:
    """Serve the course in this folder until the hub stops it."""
    course = Course(find_root(Path.cwd()))
    os.chdir(course.root)  # nbgrader reads the settings of the folder that it runs in
    options = [
        f"--ServerApp.root_dir={course.root}",
        f"--LabApp.workspaces_dir={course.private / 'desk' / 'workspaces'}",
        *common_options(),
    ]
    launch(course, write_settings(course), options, JupyterHubSingleUser)


if __name__ == "__main__":  # tests and tools import every module
    main()
