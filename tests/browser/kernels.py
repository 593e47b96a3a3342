"""A kernel of a running JupyterLab, as opening a notebook starts it, and traps beside notebooks."""

import json
from pathlib import Path
from urllib.parse import quote
from urllib.request import Request, urlopen

import websocket

from tests.browser.jupyterlab import TOKEN

# `python -m` and imports look for these in the kernel's folder first, unless they are told not to.
TRAPS = ("ipykernel_launcher.py", "json.py", "torch.py", "IPython.py", "sitecustomize.py")
ASKED = "import os, json, torch; print(os.getcwd())"


def set_traps(folder: Path) -> None:
    for name in TRAPS:
        trap = f"open({str(folder / ('ran-' + name))!r}, 'w')\nraise SystemExit(1)\n"
        (folder / name).write_text(trap)


def sprung(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("ran-*"))


def kernels_folder(base: str, notebook: str) -> str:
    """Open a notebook's kernel, import in it, and give the folder in which it works."""
    headers = {"Authorization": f"token {TOKEN}", "Content-Type": "application/json"}
    body = {"path": notebook, "type": "notebook", "name": "", "kernel": {"name": "python3"}}
    asked = Request(f"{base}/api/sessions", json.dumps(body).encode(), headers, method="POST")
    with urlopen(asked) as answer:
        kernel = json.load(answer)["kernel"]["id"]
    try:
        return _output(base, kernel)
    finally:
        stop = Request(f"{base}/api/kernels/{kernel}", headers=headers, method="DELETE")
        urlopen(stop).close()


def _output(base: str, kernel: str) -> str:
    address = f"ws{base.removeprefix('http')}/api/kernels/{kernel}/channels?token={quote(TOKEN)}"
    socket = websocket.create_connection(address, timeout=600, suppress_origin=True)
    header = {"msg_id": "1", "msg_type": "execute_request", "session": "s", "username": "u"}
    content = {"code": ASKED, "silent": False, "store_history": False, "allow_stdin": False}
    message = {"header": {**header, "version": "5.3"}, "parent_header": {}, "metadata": {}}
    socket.send(json.dumps({**message, "content": content, "channel": "shell"}))
    try:
        while True:
            got = json.loads(socket.recv())
            if got["parent_header"].get("msg_id") != "1":
                continue
            assert got["msg_type"] != "error", got["content"]
            if got["msg_type"] == "stream":
                return str(got["content"]["text"]).strip()
    finally:
        socket.close()
