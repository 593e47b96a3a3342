"""Run a script in several processes from a notebook, and show its output."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path

import torch

COURSE = Path(__file__).resolve().parents[2]
LINE = re.compile(r"\[default(\d+)\]:(.*)", re.DOTALL)  # torchrun's prefix holds the rank
DIED = re.compile(r"failed \(exitcode: (-?\d+)\) local_rank: (\d+)")  # torchrun's message
# Without this, restarted processes look for the dead ones (PyTorch issue 135712).
RESTARTS = {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
GRACE = 45.0  # seconds; torchrun itself gives its processes 30 to exit


def run_script(
    script: Path | str,
    n_processes: int | None = None,
    *,
    seconds: float = 600.0,
    restarts: int = 0,
) -> bool:
    """Run a script with torchrun and show what its first process prints.

    Args:
        script: a script written by `utils.notebook.export_script.write_script`.
        n_processes: number of processes; by default one for each GPU.
        seconds: time limit, after which everything is stopped.
        restarts: how many times all processes are restarted after one has died.

    Returns:
        Whether it ended well; a printed sentence says how it ended.

    """
    script = Path(script)
    if n_processes is None:
        n_processes = max(1, torch.cuda.device_count())
        if n_processes == 1:
            sys.stdout.write(f"{_one_device()}, so one process trains; with more GPUs, as many.\n")
    with tempfile.TemporaryDirectory(prefix="torchrun-") as logs:
        command = _command(script, n_processes, restarts, logs)
        ending = _followed(command, _environment(n_processes), seconds)
    sys.stdout.write(f"{script.name} {ending or 'is done'}\n")
    return not ending


def _one_device() -> str:
    return "There is one GPU" if torch.cuda.is_available() else "There is no NVIDIA GPU"


def _command(script: Path, n_processes: int, restarts: int, logs: str) -> list[str]:
    return [
        *(sys.executable, "-m", "torch.distributed.run", "--standalone", "--tee=3"),
        *(f"--nproc_per_node={n_processes}", f"--max_restarts={restarts}", f"--log_dir={logs}"),
        str(script),
    ]


def _environment(n_processes: int) -> dict[str, str]:
    threads = max(1, (os.cpu_count() or 1) // n_processes)
    path = os.pathsep.join(filter(None, [str(COURSE), os.environ.get("PYTHONPATH", "")]))
    changes = {"PYTHONPATH": path, "PYTHONUNBUFFERED": "1", "TQDM_DISABLE": "1"} | RESTARTS
    return {"OMP_NUM_THREADS": str(threads)} | os.environ | changes


def _followed(command: list[str], environment: dict[str, str], seconds: float) -> str:
    """Run a command and show its lines; return what went wrong, or "" if nothing did."""
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,  # we pass on an interrupt in the notebook ourselves
    )
    start, clock = time.monotonic(), threading.Timer(seconds, _stop, [process])
    clock.start()
    try:
        kept = _show(process)
        process.wait()
        late = time.monotonic() - start >= seconds
    finally:
        clock.cancel()
        _stop(process)
    if process.returncode == 0:
        return ""
    if late:
        return f"was stopped after {seconds:g} s"
    return _why(kept)


def _show(process: subprocess.Popen[str]) -> dict[str, list[str]]:
    """Show the first process's lines; return the others' by rank, and torchrun's own under ""."""
    kept: dict[str, list[str]] = defaultdict(list)
    assert process.stdout is not None
    with process.stdout as lines:
        for line in lines:
            found = LINE.match(line)
            rank, text = found.groups() if found else ("", line)
            if rank == "0":
                sys.stdout.write(text)
            else:
                kept[rank].append(text)
    return kept


def _why(kept: dict[str, list[str]]) -> str:
    """Say which process failed and show its lines, or all that torchrun said if it is unknown."""
    died = DIED.findall("".join(kept[""]))
    if not died:
        sys.stdout.writelines(kept[""])
        return "ended with an error; the lines above say where"
    code, rank = int(died[-1][0]), died[-1][1]
    sys.stdout.writelines(kept[rank])
    how = f"exit code {code}" if code > 0 else signal.Signals(-code).name
    return f"ended with an error: process {rank} failed ({how})"


def _stop(process: subprocess.Popen[str]) -> None:
    """Stop torchrun, which stops its processes."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
