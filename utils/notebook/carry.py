"""Carry your own work forward: use a block that you wrote in one lesson in a later one.

`carry("03_multi_head_attention", "MultiHeadAttention")` looks for your notebook of that lesson
next to the current one. If your block passes its visible checks, you get it; if not, you get the
stand-in from `utils.reference.modules`, so that an unfinished lesson never blocks the next one. A
printed line says which.

Your notebook is first tried in another process, under a time limit. Only a block that passes there
is imported here, without the rest of its notebook.
"""

import contextlib
import gc
import hashlib
import importlib
import io
import json
import linecache
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from utils.kernel.runs import is_grading
from utils.kernel.say import said_meanwhile, say
from utils.kernel.time_limit import time_limit
from utils.notebook.exchange import fault_of_exchanging
from utils.notebook.source import NotFoundInNotebook, source_of
from utils.reference import BLOCKS, HOMES
from utils.words import listed

COURSE = Path(__file__).resolve().parents[2]
DEPTH = "COURSE_CARRY_DEPTH"  # a carried block may itself build on a carried one
SECONDS = (45.0, 30.0, 15.0)  # of computing, to try a notebook, by depth
PATIENCE = 4  # times as long on the clock, where a busy machine gives a notebook a share of itself
# To look for garbage among torch's parts while they are loaded takes a quarter of their time.
TRY = (
    "import gc; gc.set_threshold(50_000, 100); "
    "from utils.notebook.carry import try_block; try_block()"
)
MOST_MEMORY = 6 * 2**30  # bytes for a process that tries a notebook, if the system can limit it

TOO_LONG = "takes too long to try; run this cell again when the computer has less to do"

_verdicts: dict[str, str] = {}  # what was tried -> why it cannot be used, "" if it can


def carry(lesson: str, name: str, *, exchanged: bool = False) -> Any:
    """Return your own block of an earlier lesson if it passes its visible checks, else a stand-in.

    A printed line says which. In grading it is always the stand-in, so that an early error costs
    its points only once. The course's own solutions/ always get the stand-in too.

    Args:
        lesson: the earlier lesson's name, such as "03_multi_head_attention".
        name: the block's name, such as "MultiHeadAttention".
        exchanged: whether it must also use parts that are put into it later.

    Raises:
        ValueError: the course has no such block.

    """
    if name not in BLOCKS:
        raise ValueError(f"no block is called {name!r}; there are {', '.join(BLOCKS)}")
    notebook = Path.cwd().parent / lesson / f"{lesson}.ipynb"
    block, said = _own_or_stand_in(notebook, name, exchanged=exchanged)
    say(f"{name}: {said}")
    return block


def _own_or_stand_in(notebook: Path, name: str, *, exchanged: bool) -> tuple[Any, str]:
    shown = f"../{notebook.parent.name}/{notebook.name}"
    try:
        why = _why_not(notebook, name)
        if not why:
            block = load(notebook, name)
            fault = fault_of_exchanging(block) if exchanged else ""
            if not fault:
                return block, f"your own, from {shown}"
            why = f"yours, in {shown}, {fault}"
    except NotFoundInNotebook as error:
        why = f"{shown}: {error}"
    except Exception as error:  # the notebook behaves differently the second time
        why = f"{shown} could not be imported: {type(error).__name__}"
    stand_in = getattr(importlib.import_module(f"utils.reference.{HOMES[name]}"), name)
    return stand_in, f"the course's stand-in ({why})"


def _why_not(notebook: Path, name: str) -> str:
    """Return why the notebook's block cannot be used, or "" if it can."""
    shown = f"../{notebook.parent.name}/{notebook.name}"
    if is_grading():
        return "as always while grading"
    if _depth() >= len(SECONDS):
        return "notebooks carry from each other in a circle"
    if not notebook.is_file() or notebook.resolve().parents[1] == COURSE / "solutions":
        return f"no notebook of yours is at {shown}"
    source_of(notebook, name)  # a notebook without the block needs no process
    why = _tried(notebook, name)
    return f"yours, in {shown}, {why}" if why else ""


def _tried(notebook: Path, name: str) -> str:
    """Try a block in a separate process, once for each state of its notebook."""
    tried = _key(notebook, name)
    if tried not in _verdicts:
        waiting = f"{name}: trying yours, which can take some seconds ..."
        with said_meanwhile(waiting), tempfile.TemporaryDirectory(prefix="carry-") as folder:
            answer = Path(folder) / "answer.json"
            in_time = _run_child(notebook, name, answer)
            _verdicts.update(_read(answer) if in_time else {tried: TOO_LONG})
    return _verdicts.setdefault(tried, "ended its process without an answer")


def _key(notebook: Path, name: str) -> str:
    content = hashlib.sha256(notebook.read_bytes()).hexdigest()
    return f"{name} {notebook.resolve()} {content}"


def _read(answer: Path) -> dict[str, str]:
    try:
        found = json.loads(answer.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(key): str(why) for key, why in found.items()} if isinstance(found, dict) else {}


def _run_child(notebook: Path, name: str, answer: Path) -> bool:
    """Run `try_block` in another process, clean up, and return whether it ended in time."""
    depth = _depth()
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", TRY, str(notebook), name, str(answer)],
        env=_child_environment(depth),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=depth == 0,  # one group for everything it starts
    )
    try:
        return process.wait(PATIENCE * SECONDS[depth]) != -getattr(signal, "SIGXCPU", 0)
    except subprocess.TimeoutExpired:
        return False
    finally:
        _end(process, whole_group=depth == 0)


def _child_environment(depth: int) -> dict[str, str]:
    path = os.pathsep.join(filter(None, [str(COURSE), os.environ.get("PYTHONPATH", "")]))
    changes = {"PYTHONPATH": path, DEPTH: str(depth + 1), "MPLBACKEND": "agg"}
    return os.environ | changes | {"OMP_NUM_THREADS": "1"}


def _end(process: subprocess.Popen[bytes], *, whole_group: bool) -> None:
    if whole_group and hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    if process.poll() is None:
        process.kill()
    process.wait()


def _depth() -> int:
    depth = os.environ.get(DEPTH, "0")
    return int(depth) if depth.isdigit() else len(SECONDS)


def try_block() -> None:
    """Try a block in this process; sys.argv holds the notebook, the name and the answer's path."""
    notebook, name, answer = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    _limit_memory()
    _limit_time()
    try:
        why = _fault(name, load(notebook, name))
    except BaseException as error:
        why = f"stops with {type(error).__name__}"
    answer.write_text(json.dumps(_verdicts | {_key(notebook, name): why}), encoding="utf-8")
    gc.freeze()  # nor at the end


def _fault(name: str, block: Any) -> str:
    """Return what is wrong with a block according to its check, or "" if it can be used."""
    from utils.checks.api import ExerciseCheck  # noqa: PLC0415 (only here, and not cheap)
    from utils.checks.registry import find_exercise  # noqa: PLC0415

    exercise = find_exercise(name)
    verdict = ExerciseCheck(exercise).results(block)
    if verdict.is_stub:
        return "is not written yet"
    if not verdict.passed:
        passed = [result.passed for result in verdict.results]
        return f"passes {sum(passed)} of {len(passed)} cases of its check"
    # The check used stand-ins for earlier exercises. Here the block needs its own parts.
    on_its_own = replace(exercise, probe=replace(exercise.probe, stand_ins={}))
    if ExerciseCheck(on_its_own).results(block).idea_is_right:
        return ""
    names = vars(sys.modules[block.__module__])
    wrong = [
        part
        for part in exercise.probe.stand_ins
        if part in names and not ExerciseCheck(find_exercise(part)).results(names[part]).passed
    ]
    if not wrong:
        return "is right, but not together with the parts that it uses"
    return f"is right, but uses {listed(wrong)}: not right yet"


def _limit_time() -> None:
    """Count the seconds of computing: a busy machine makes no notebook slow."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 (not on Windows)

        seconds = int(SECONDS[max(0, _depth() - 1)])
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))


def _limit_memory() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 (not on Windows)

        resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))


def load(notebook: Path, name: str) -> Any:
    """Run the definition of a name and of what it needs, and return the object.

    Raises:
        NotFoundInNotebook: the notebook or the name is not there.
        Exception: whatever the notebook's code raises; TimeoutError if it does not end.

    """
    source, title = source_of(notebook, name), f"<{notebook.name}>"
    module = ModuleType(f"carried_{notebook.stem}_{name}")
    # These two let tracebacks show source lines, and a class know its module.
    linecache.cache[title] = (len(source), None, source.splitlines(keepends=True), title)
    sys.modules[module.__name__] = module
    try:
        with time_limit(SECONDS[0], of_computing=True), contextlib.redirect_stdout(io.StringIO()):
            exec(compile(source, title, "exec"), vars(module))
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException:  # exit(), and exceptions meant not to be caught
        raise RuntimeError("it exits") from None
    return vars(module)[name]
