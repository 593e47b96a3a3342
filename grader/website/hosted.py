"""Where readers run a lesson: a hosted notebook, Binder or a class's hub, all from one setting."""

import html
import re
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from nbformat.v4 import new_code_cell

BESIDE: Final = re.compile(r"\[([^\]]*)\]\(\.\./\w+/\w+\.ipynb\)")
START: Final = "[Start page](../Start.md)"
SET_UP_ID: Final = "set-up"
SET_UP: Final = """\
# This fetches the course where it is not installed yet, as on a hosted notebook.
import importlib.util
import os
import subprocess
import sys

found = importlib.util.find_spec("utils")
places = (found.submodule_search_locations or ()) if found else ()
if not any(os.path.isdir(os.path.join(place, "checks")) for place in places):
    if not os.path.isdir("course/utils/checks"):
        command = ["git", "clone", "--quiet", "--depth", "1", "--branch", {branch!r}, {clone!r}]
        try:
            subprocess.run([*command, "course"], check=True, capture_output=True, text=True)
        except (OSError, subprocess.CalledProcessError) as error:
            said = (getattr(error, "stderr", "") or str(error)).strip().splitlines()[-1]
            sys.exit(
                "The course could not be fetched, so nothing below will run. Is this notebook "
                f"allowed to use the network? Then run this cell again. (git: {{said}})"
            )
    if found:
        print(f"Here `utils` is the course's from now on, not {{found.origin or 'your folder'}}.")
    for name in [name for name in sys.modules if name.split(".")[0] == "utils"]:
        del sys.modules[name]
    sys.path.insert(0, os.path.abspath("course"))
import torch

version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
if version < (2, 11):
    sys.exit(f"The course needs torch 2.11 or later, not {{torch.__version__}}.")"""


@dataclass(frozen=True)
class Host:
    """Where the course's repository is.

    Attributes:
        repository: "owner/name" on GitHub, or "" where there is none: nothing is launched then.
        branch: the branch that holds the course.
        hub: the address of a class's JupyterHub with nbgitpuller, or "".
        pages: the branch that holds the site as published.

    """

    repository: str = ""
    branch: str = "main"
    hub: str = ""
    pages: str = "gh-pages"

    @property
    def clone(self) -> str:
        """The address that git clones."""
        return f"https://github.com/{self.repository}"

    def file(self, path: str) -> str:
        """Return where a file or folder of the repository is read."""
        return f"{self.clone}/tree/{self.branch}/{path}"

    def launches(self, lesson: str) -> dict[str, str]:
        """Return the addresses that open a lesson in a running notebook, by what they are."""
        if not self.repository:
            return {}
        notebook = f"lab/tree/notebooks/{lesson}/{lesson}.ipynb"
        found = {
            "Colab": f"https://colab.research.google.com/github/{self.repository}/blob/"
            f"{self.pages}/_static/hosted/{lesson}.ipynb",
            "Binder": f"https://mybinder.org/v2/gh/{self.repository}/{self.branch}"
            f"?urlpath={quote(notebook, safe='')}",
        }
        if self.hub:
            name = self.repository.split("/")[-1]
            path = quote(f"lab/tree/{name}/notebooks/{lesson}/{lesson}.ipynb", safe="")
            found["the class's hub"] = (
                f"{self.hub.rstrip('/')}/hub/user-redirect/git-pull"
                f"?repo={quote(self.clone, safe='')}&branch={self.branch}&urlpath={path}"
            )
        return found


def hosted_notebook(release: Any, host: Host) -> Any:
    """Return a copy of a release with a cell at its top that fetches the course where it runs.

    It stands alone there: links to the other lessons and to the start page become words, or go.
    """
    notebook = type(release)(release)
    notebook.cells = [
        type(cell)(cell, source=BESIDE.sub(r"\1", cell.source.replace(START, "")))
        for cell in release.cells
    ]
    if host.repository:
        source = SET_UP.format(branch=host.branch, clone=host.clone)
        notebook.cells.insert(0, new_code_cell(source, id=SET_UP_ID))
    return notebook


def launch_bar(text: str, lesson: str, host: Host) -> str:
    """Return a lesson's first text with links below its title that open it where it runs."""
    links = [
        f'<a href="{html.escape(address)}">{name}</a>'
        for name, address in host.launches(lesson).items()
    ]
    links.append(f'<a href="../_static/hosted/{lesson}.ipynb" download>download</a>')
    title, _, rest = text.partition("\n")
    return f'{title}\n\n<p class="launch">Work on it: {" · ".join(links)}</p>\n{rest}'
