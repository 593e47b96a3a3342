"""`python -m grader teach`: open the course in JupyterLab, with formgrader for grading by hand."""

import argparse
import os
from pathlib import Path

from grader.authoring.files import find_root
from grader.course.course import GradingCourse
from grader.errors import CourseError
from grader.usage import whole_number
from utils.lab.exchange import Course
from utils.lab.start import (
    common_options,
    launch,
    switch_extensions,
    top_bar,
    write_appearance,
)

BUTTON = "Grade by hand"
LAST_PORT = (1 << 16) - 1
FAR_PORT = 8888  # where a tunnel to the socket ends
LONGEST_SOCKET = 107  # bytes of its path, on Linux
# Lessons are written as text, handed in by students, and judged by the course's own checks.
NOT_FOR_INSTRUCTORS = (
    "@jupyter/nbgrader:assignment-list",
    "@jupyter/nbgrader:course-list",
    "@jupyter/nbgrader:create-assignment",
    "@jupyter/nbgrader:validate-assignment",
)
# A hand-in that is opened as it came has links and buttons: none acts for JupyterLab.
HAND_INS = {
    "@jupyterlab/apputils-extension:sanitizer": {"allowCommandLinker": False, "autolink": False}
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--no-browser", action="store_true", help="print the address, open nothing")
    parser.add_argument(
        "--port", type=port, metavar="N", help="where JupyterLab listens; 8888 or the next free"
    )
    parser.add_argument(
        "--socket",
        type=socket_file,
        metavar="FILE",
        help="listen at this file in place of a port, for `ssh -L` from another machine",
    )
    parser.epilog = (
        "Scores and comments are saved as you type them. The next make grade keeps them and writes "
        "those students' pages anew."
    )


def port(text: str) -> int:
    """Read the number of a port, as the type of an option."""
    number = whole_number(text)
    if number > LAST_PORT:
        raise argparse.ArgumentTypeError(f"ports end at {LAST_PORT}; 8888 is usual")
    return number


def socket_file(text: str) -> Path:
    """Read where a socket is to be, as the type of an option."""
    path = Path(text).resolve()
    if len(os.fsencode(path)) > LONGEST_SOCKET:
        raise argparse.ArgumentTypeError(f"{path} is too long for a socket; choose a shorter path")
    return path


def run(arguments: argparse.Namespace) -> int:
    """Say where to click, then run JupyterLab until it is closed."""
    root = find_root(Path.cwd())
    grading = GradingCourse(root, root)
    with grading.gradebook():  # it is made if it is missing, and a faulty one is told here
        graded = list((root / "autograded").glob("*/*"))
    if arguments.socket is not None:
        print(f"On your own computer: ssh -N -L {FAR_PORT}:{arguments.socket} ACCOUNT@MACHINE")
        print("Then open the address that is shown below, with its token, in a browser there.")
    for line in where_to_click(with_work=bool(graded)):
        print(line, flush=True)
    os.chdir(root)  # nbgrader reads the settings of the folder that it runs in
    course = Course(root)
    try:
        settings = write_settings(course)
    except OSError as error:
        raise CourseError(
            f"JupyterLab's settings could not be written: {error}. Check that you may write in "
            f"{course.private}, then run the same command."
        ) from None
    launch(course, settings, options(course, arguments))
    return 0


def where_to_click(*, with_work: bool) -> list[str]:
    """Return what an instructor has to know before the browser opens."""
    if not with_work:
        return [
            "Nothing is graded yet, so there is nothing to grade by hand: close JupyterLab with "
            "Ctrl-C,",
            "run make grade, then make teach again.",
        ]
    return [
        f"In JupyterLab, click {BUTTON} at the top right (or Nbgrader, then Formgrader). Then",
        "Manual Grading, a lesson, its notebook, a submission: change a score, write a comment.",
        "They are saved as you type. Afterwards, make grade writes those students' pages anew.",
    ]


def write_settings(course: Course) -> Path:
    """Write JupyterLab's settings for an instructor into a folder of their own; return it.

    nbgrader's own settings are in the course's nbgrader_config.py, which it reads by itself.
    """
    folder = course.private / "teach"
    caption = "nbgrader's formgrader: change scores and write comments"
    button = top_bar("grade-by-hand", BUTTON, caption, "nbgrader:open-formgrader")
    write_appearance(folder, NOT_FOR_INSTRUCTORS, button | HAND_INS)
    switch_extensions(folder, {"grader.formgrader": True, "utils.lab.assignments": False})
    return folder


def options(course: Course, arguments: argparse.Namespace) -> list[str]:
    """Return JupyterLab's options: the whole course is what an instructor sees."""
    return [
        f"--ServerApp.root_dir={course.root}",
        "--ServerApp.kernel_manager_class=grader.formgrader.kernels.Kernels",
        f"--LabApp.workspaces_dir={course.private / 'teach' / 'workspaces'}",
        *common_options(),
        *(["--no-browser"] if arguments.no_browser else []),
        *([f"--ServerApp.port={arguments.port}"] if arguments.port is not None else []),
        *(_socket_options(arguments.socket) if arguments.socket is not None else []),
    ]


def _socket_options(socket: Path) -> list[str]:
    far = f"http://127.0.0.1:{FAR_PORT}/lab"
    return [f"--ServerApp.sock={socket}", f"--ServerApp.custom_display_url={far}"]
