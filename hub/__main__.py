"""`python -m hub`: serve the course to a class; `python -m hub demo`: look at a hub, alone."""

import argparse
import os
import signal
import sys
from pathlib import Path

from grader.authoring.files import find_root
from grader.errors import CourseError
from grader.usage import Parser
from hub.demo import prepare_demo
from hub.machine import verify_machine, verify_ports
from hub.prepare import steps
from hub.questions import agrees, settings_of
from hub.settings import HubSettings
from hub.spawners import has_systemd

CONFIGS = Path(__file__).resolve().parent


def main(words: list[str] | None = None) -> int:
    """Run one of the two, and return the exit code."""
    arguments = _parser().parse_args(words)
    os.umask(0o022)
    try:
        root = find_root(Path.cwd())
        return demo(root, arguments) if arguments.what == "demo" else class_hub(root, arguments)
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
        choices=("class", "demo"),
        default="class",
        help="class: for real, as root; demo: on this machine alone, as an ordinary user",
    )
    parser.add_argument("--yes", action="store_true", help="ask nothing: hub.toml says it all")
    parser.add_argument(
        "--prepare", action="store_true", help="get everything ready, but do not start"
    )
    parser.add_argument("--port", type=int, default=8000, help="of the demo; 8000 if not given")
    return parser


def class_hub(root: Path, arguments: argparse.Namespace) -> int:
    """Get the clone ready for its class, then become JupyterHub."""
    verify_machine(root)
    settings = settings_of(root, may_ask=not arguments.yes)
    if not arguments.prepare:
        verify_ports(settings)
    todo = steps(root, settings)
    print("As root, this will")
    print("\n".join(f"  {i}. {step.says}" for i, step in enumerate(todo, 1)))
    print("\n".join(_about(settings)))
    if not (arguments.yes or agrees("Go on")):
        return 1
    for step in todo:
        step.do()
    return 0 if arguments.prepare else _become_hub(root, settings, "class_config.py")


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
    return lines


def demo(root: Path, arguments: argparse.Namespace) -> int:
    """Make a hub with made-up people, then become JupyterHub."""
    settings = prepare_demo(root, arguments.port)
    return 0 if arguments.prepare else _become_hub(root, settings, "demo_config.py")


def _become_hub(root: Path, settings: HubSettings, config: str) -> int:
    os.chdir(settings.state)
    os.environ["PYTHONPATH"] = str(root)
    words = [sys.executable, "-m", "jupyterhub", "-f", str(CONFIGS / config)]
    sys.stdout.flush()
    # Started in a shell's background it would ignore Ctrl-C's signal, and so would its parts, which
    # the hub stops by it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.execv(sys.executable, words)


if __name__ == "__main__":  # tests and tools import every module
    sys.exit(main())
