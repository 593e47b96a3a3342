"""`python -m hub`: serve the course to a class; `python -m hub demo`: look at a hub, alone.

`python -m hub password NAME`: a new first password for somebody who forgot theirs.
"""

import argparse
import os
import signal
import sys
from pathlib import Path
from typing import Final

from jupyterhub.app import JupyterHub
from traitlets.config import Config

from grader.authoring.files import find_root
from grader.errors import CourseError
from grader.usage import Parser
from hub.configuration import configuration
from hub.demo import demo_configuration, prepare_demo
from hub.machine import verify_machine, verify_ports
from hub.passwords import FILE as PASSWORDS
from hub.passwords import renew_password
from hub.prepare import steps
from hub.settings import HubSettings, read_settings
from hub.spawners import has_systemd


def main(words: list[str] | None = None) -> int:
    """Run one of the three, and return the exit code."""
    arguments = _parser().parse_args(words)
    os.umask(0o022)
    try:
        root = find_root(Path.cwd())
        return COMMANDS[arguments.what](root, arguments)
    except CourseError as error:
        print(error, file=sys.stderr)
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
    return 1


def _parser() -> Parser:
    parser = Parser(prog=".venv/bin/python -m hub", description="Serve the course with JupyterHub.")
    parser.add_argument(
        "what",
        nargs="?",
        choices=COMMANDS,
        default="class",
        help="class: for real, as root; demo: on this machine alone, as an ordinary user; "
        "password: give somebody a new one, as root",
    )
    parser.add_argument("name", nargs="?", default="", help="whose password")
    parser.add_argument("--yes", action="store_true", help="do not ask whether to go on")
    parser.add_argument(
        "--prepare", action="store_true", help="get everything ready, but do not start"
    )
    parser.add_argument("--port", type=int, default=8000, help="of the demo; 8000 if not given")
    return parser


def class_hub(root: Path, arguments: argparse.Namespace) -> int:
    """Get the clone ready for its class, then become JupyterHub."""
    verify_machine(root)
    settings = read_settings(root)
    if not arguments.prepare:
        verify_ports(settings)
    todo = steps(root, settings, starts=not arguments.prepare)
    print("As root, this will")
    print("\n".join(f"  {i}. {step.says}" for i, step in enumerate(todo, 1)))
    print("\n".join(_about(settings)))
    if not (arguments.yes or _agrees()):
        return 1
    for step in todo:
        step.do()
    if arguments.prepare:
        return 0
    return _become_hub(settings, configuration(settings, root / PASSWORDS))


def _agrees() -> bool:
    try:
        return input("Go on? [no] ").strip().lower() in ("y", "yes")
    except EOFError:
        raise CourseError("Nobody answers here: make hub ARGS=--yes asks nothing.") from None


def _about(settings: HubSettings) -> list[str]:
    """Return what the hub's limits and its address mean."""
    lines = [f"and serve {settings.address} until Ctrl-C stops it and all servers."]
    if has_systemd():
        lines.append(f"Each student's server gets {settings.memory} and {settings.cpus:g} CPUs.")
    else:
        lines += [
            f"systemd does not run this machine: {settings.memory} is the limit of each process of",
            "a student, not of all together, and processor time is shared, not limited.",
        ]
    if settings.address.startswith("http:") and "127.0.0.1" not in settings.address:
        lines.append("Passwords will cross the network unencrypted: docs/hub.md tells about https.")
    if not settings.subdomain_host:
        lines.append("All share one domain. docs/hub.md says what that means, and what ends it.")
    return lines


def demo(root: Path, arguments: argparse.Namespace) -> int:
    """Make a hub with made-up people, then become JupyterHub."""
    settings, word = prepare_demo(root, arguments.port)
    if arguments.prepare:
        return 0
    return _become_hub(settings, demo_configuration(settings, word))


def password(root: Path, arguments: argparse.Namespace) -> int:
    """Give somebody a new first password, and say it."""
    verify_machine(root)
    found = renew_password(root / PASSWORDS, read_settings(root).users, arguments.name)
    print(f"{arguments.name}: {found}  (from the next login on, whether or not the hub runs)")
    return 0


COMMANDS: Final = {"class": class_hub, "demo": demo, "password": password}


def _become_hub(settings: HubSettings, config: Config) -> int:
    os.chdir(settings.state)
    sys.stdout.flush()
    # Started in a shell's background it would ignore Ctrl-C's signal, and so would its parts, which
    # the hub stops by it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    JupyterHub.instance(config=config)
    JupyterHub.launch_instance([])
    return 0


if __name__ == "__main__":  # tests and tools import every module
    sys.exit(main())
