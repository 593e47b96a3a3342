"""Chromium without a driver: its DevTools protocol over a websocket, as much as a test needs."""

import base64
import json
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import websocket

from grader.website.printing import sandbox_options

QUIET = [
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
    "--window-size=1400,900",
]

# Keys besides letters, and their codes.
KEYS = {"Backspace": 8, "Enter": 13, "Escape": 27, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38}


def wait_for(condition: Any, what: str, seconds: float = 240) -> Any:
    """Call `condition` until it gives something true, and give that; else say what did not come."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.2)
    raise TimeoutError(f"{what}: not within {seconds} s")


class Chrome:
    """One headless browser with one page."""

    def __init__(self, program: str, profile: Path) -> None:
        self.profile = profile
        profile.mkdir(parents=True, exist_ok=True)
        self.process = subprocess.Popen(
            [program, *QUIET, *sandbox_options(), f"--user-data-dir={profile}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            self.socket = self._connect(profile / "DevToolsActivePort")
        except BaseException:
            self.process.kill()
            self.process.wait()
            raise
        self.calls = 0
        self.call("Page.enable")

    def _connect(self, told: Path) -> websocket.WebSocket:
        """Connect to the first page; Chromium writes its port into the profile once it listens."""
        wait_for(lambda: told.exists() and told.read_text().count("\n"), "Chromium's port")
        port, path = told.read_text().split()
        browser = f"ws://127.0.0.1:{port}"
        self.socket = websocket.create_connection(browser + path, suppress_origin=True, timeout=180)
        self.calls = 0
        pages = self.call("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in pages if target["type"] == "page")
        self.socket.close()
        return websocket.create_connection(
            f"{browser}/devtools/page/{page}", suppress_origin=True, timeout=180
        )

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Call one method of the protocol and give its result; events on the way are dropped."""
        self.calls += 1
        self.socket.send(json.dumps({"id": self.calls, "method": method, "params": params}))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("id") == self.calls:
                break
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        result: dict[str, Any] = answer["result"]
        return result

    def open(self, url: str) -> None:
        """Go to a page; it may still be loading when this returns."""
        self.call("Page.navigate", url=url)

    def show(self, address: str, width: int = 1400, theme: str = "light") -> None:
        """Go to a page at a width in CSS pixels, in the system's light or dark theme, and wait."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        self.turn(theme)
        self.open("about:blank")
        self.wait("location.href === 'about:blank'")
        self.open(address)
        self.wait(f"location.href === {json.dumps(address)} && document.readyState === 'complete'")

    def turn(self, theme: str) -> None:
        """Turn the system's theme light or dark, for the page that is shown too."""
        feature = {"name": "prefers-color-scheme", "value": theme}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def run(self, script: str) -> Any:
        """Evaluate JavaScript in the page and give its value."""
        result = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in result:
            raise RuntimeError(f"{script}: {result['exceptionDetails']['text']}")
        return result["result"].get("value")

    def wait(self, script: str, seconds: float = 240) -> Any:
        """Wait until a JavaScript expression is true in the page, and give its value."""

        def value() -> Any:
            try:
                return self.run(script)
            except RuntimeError as error:  # a page that is just left has no value
                if "navigated" not in str(error):
                    raise
            return None

        try:
            return wait_for(value, script, seconds)
        except TimeoutError as error:
            self.screenshot(self.profile / "timed-out.png")
            error.add_note(f"The page at that moment: {self.profile / 'timed-out.png'}")
            raise

    def click(self, script: str, times: int = 1) -> None:
        """Click, with the mouse, in the middle of the element that an expression gives.

        Scrolls there, and waits until a click reaches the element and it has stopped moving.
        """
        middle = (
            f"(() => {{ const e = {script}; if (!e) return null;"
            " const r = e.getBoundingClientRect();"
            " const x = r.x + r.width / 2, y = r.y + r.height / 2;"
            " if (e.contains(document.elementFromPoint(x, y))) return [x, y];"
            " e.scrollIntoViewIfNeeded(); return null; })()"
        )

        def settled() -> list[float] | None:
            before = self.run(middle)
            time.sleep(0.1)
            return before if before and before == self.run(middle) else None

        x, y = wait_for(settled, f"a place to click on {script}")
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for count in range(1, times + 1):
            where = {"x": x, "y": y, "button": "left", "clickCount": count}
            self.call("Input.dispatchMouseEvent", type="mousePressed", **where)
            self.call("Input.dispatchMouseEvent", type="mouseReleased", **where)

    def press(self, key: str, *, shift: bool = False, control: bool = False) -> None:
        """Press a letter or a key of KEYS, with shift or control (on a Mac its command key)."""
        control_bit = 4 if sys.platform == "darwin" else 2
        code = KEYS.get(key) or ord(key.upper())
        event = {
            "key": key,
            "code": key if key in KEYS else f"Key{key.upper()}",
            "windowsVirtualKeyCode": code,
            "modifiers": 8 * shift + control_bit * control,
        }
        self.call("Input.dispatchKeyEvent", type="rawKeyDown", **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def insert(self, text: str) -> None:
        """Insert text where the cursor is."""
        self.call("Input.insertText", text=text)

    def screenshot(self, path: Path) -> None:
        """Save what the page shows, as PNG."""
        path.write_bytes(self.picture())

    def picture(self) -> bytes:
        """Give what the page shows, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot")["data"])

    def settle(self) -> None:
        """Wait until what the page shows stays the same for a second."""

        def settled() -> bool:
            before = self.picture()
            time.sleep(1)
            return before == self.picture()

        wait_for(settled, "a page that stays the same")

    def resize(self, width: int, height: int) -> None:
        """Give the page a size, in CSS pixels."""
        size = {"width": width, "height": height}
        self.call("Emulation.setDeviceMetricsOverride", **size, deviceScaleFactor=1, mobile=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.socket.close()
        self.process.terminate()
        self.process.wait(timeout=600)
