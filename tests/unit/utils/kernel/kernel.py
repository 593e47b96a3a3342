"""A real kernel, as JupyterLab talks to it: it says which cell it runs, and may interrupt."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.manager import AsyncKernelManager, start_new_async_kernel

COURSE = Path(__file__).resolve().parents[4]
SET_UP = "import torch\nfrom torch import Tensor\nfrom utils.checks import check\n"
FORGET = (
    "for _name in {names!r}: globals().pop(_name, None)",
    "from utils.kernel import runs as _runs\nfor _log in _runs._logs:\n"
    "    _log.runs.clear(), _log.maker.clear(), _log.deleted.clear(), _log._functions.clear()",
)


@dataclass
class Shown:
    """What a cell showed: its texts in order, errors, and how the kernel says it ended."""

    texts: list[str] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    status: str = ""

    @property
    def text(self) -> str:
        return "\n".join(self.texts)


class Kernel:
    """A kernel and how to run cells in it."""

    def __init__(
        self, loop: asyncio.Runner, manager: AsyncKernelManager, client: AsyncKernelClient
    ) -> None:
        self.loop, self.manager, self.client = loop, manager, client

    def run(self, code: str, cell: str = "") -> Shown:
        """Run a cell to its end; without an id as some front ends do."""
        return self.loop.run(self._run(code, cell))

    def interrupted(self, code: str, at: str) -> Shown:
        """Run a cell and interrupt it once it has shown some words."""
        return self.loop.run(self._run(code, "", at))

    def forget(self, *names: str) -> None:
        """Begin anew, without what some names meant and which cells ran."""
        for code in FORGET:
            self.run(code.format(names=names))

    async def _run(self, code: str, cell: str, stop_at: str | None = None) -> Shown:
        content = {"code": code, "silent": False, "store_history": True, "allow_stdin": True}
        content |= {"user_expressions": {}, "stop_on_error": False}
        about = {"cellId": cell} if cell else {}
        message = self.client.session.msg("execute_request", content, metadata=about)
        self.client.shell_channel.send(message)
        return await self._shown(message["header"]["msg_id"], stop_at)

    async def _shown(self, asked: str, stop_at: str | None) -> Shown:
        shown = Shown()
        while True:
            message = await self.client.get_iopub_msg(timeout=300)
            if message["parent_header"].get("msg_id") != asked:
                continue
            if message["content"].get("execution_state") == "idle":
                break
            _note(shown, message["msg_type"], message["content"])
            if stop_at is not None and stop_at in shown.text:
                await self.manager.interrupt_kernel()
                stop_at = None
        while not shown.status:
            reply = await self.client.get_shell_msg(timeout=300)
            if reply["parent_header"].get("msg_id") == asked:
                shown.status = reply["content"]["status"]
        if await self.client.stdin_channel.msg_ready():
            shown.asked.append((await self.client.get_stdin_msg())["content"]["prompt"])
        return shown


def _note(shown: Shown, kind: str, content: dict[str, Any]) -> None:
    if kind == "stream":
        shown.texts.append(content["text"])
    elif kind == "error":
        shown.errors.append("\n".join(content["traceback"]))
    elif "data" in content:
        shown.texts.append(content["data"].get("text/plain", ""))
        shown.pages.append(content["data"].get("text/html", ""))


@contextmanager
def running_kernel(folder: Path) -> Iterator[Kernel]:
    """Run a kernel in a folder; the course's packages can be imported in it."""
    environment = os.environ | {"PYTHONPATH": str(COURSE), "TQDM_DISABLE": "1"}
    with asyncio.Runner() as loop:
        manager, client = loop.run(start_new_async_kernel(cwd=str(folder), env=environment))
        try:
            yield Kernel(loop, manager, client)
        finally:
            client.stop_channels()
            loop.run(manager.shutdown_kernel(now=True))
