"""A headless Chromium, driven through a pipe by its DevTools protocol, without another library."""

import base64
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find() -> str | None:
    """The program: HOPWAVE_CHROMIUM, or the first usual name that is installed."""
    return os.environ.get("HOPWAVE_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page of one browser. `problems` collects console messages and files that cannot be loaded."""

    def __init__(self, program: str, profile: Path) -> None:
        to_read, to_write = os.pipe(), os.pipe()  # the browser reads commands at descriptor 3 and answers at 4

        def handed_over() -> None:
            for source, target in ((os.dup(to_read[0]), 3), (os.dup(to_write[1]), 4)):
                os.dup2(source, target)

        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe"]
        self.process = subprocess.Popen(
            [program, *options, f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=handed_over,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read[0])
        os.close(to_write[1])
        self._in, self._out = to_read[1], os.fdopen(to_write[0], "rb")
        self._number, self._rest = 0, b""
        self.problems: list[str] = []
        self._loaded = 0
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for part in ("Page", "Runtime", "Log", "Network"):
            self._ask(f"{part}.enable")

    def _ask(self, method: str, **parameters: Any) -> Any:
        """Send a command and wait for its answer; handles events that arrive before it."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if getattr(self, "_session", None):
            message["sessionId"] = self._session
        os.write(self._in, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def _next(self) -> dict[str, Any]:
        """The next message from the browser."""
        while b"\0" not in self._rest:
            more = self._out.read1(1 << 16)
            if not more:
                raise RuntimeError("the browser has ended")
            self._rest += more
        text, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        about = message.get("params", {})
        match message.get("method"):
            case "Page.loadEventFired":
                self._loaded += 1
            case "Runtime.exceptionThrown":
                self.problems.append(f"exception: {about['exceptionDetails'].get('text')}")
            case "Runtime.consoleAPICalled" if about["type"] in ("error", "assert"):
                self.problems.append(f"console: {about['args']}")
            case "Log.entryAdded" if about["entry"]["level"] == "error":
                self.problems.append(f"log: {about['entry']['text']} {about['entry'].get('url')}")
            case "Network.loadingFailed" if not about.get("canceled"):
                self.problems.append(f"not loaded: {about['errorText']}")
        return message

    def open(self, address: str) -> None:
        """Open a page and wait until it is loaded."""
        before = self._loaded
        self._ask("Page.navigate", url=address)
        while self._loaded == before:
            self._next()

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression in the page."""
        found = self._ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(f"{script}: {found['exceptionDetails']['text']}")
        return found["result"].get("value")

    def wait_for(self, script: str, seconds: float = 20.0) -> Any:
        """Wait until an expression is true; returns its value."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if value := self.run(script):
                return value
            time.sleep(0.1)
        raise TimeoutError(f"{script} was not true within {seconds:g} seconds")

    def resize(self, width: int, height: int, dark: bool = False) -> None:
        """Give the window a size, and prefer light or dark colours."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self._ask("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._ask("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, file: Path) -> None:
        """Write what the window shows to a PNG file."""
        file.write_bytes(base64.b64decode(self._ask("Page.captureScreenshot", format="png")["data"]))

    def close(self) -> None:
        """End the browser."""
        self.process.terminate()
        self.process.wait(20)
        os.close(self._in)
        self._out.close()
