"""A notebook in a browser, as a test acts on it, and a saved page."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat

VIEW = ".tfs-view"


class Page:
    """What notebooks and saved pages share."""

    def __init__(self, context: Any, screenshots: Path) -> None:
        self.page = context.new_page()
        self.screenshots = screenshots
        self.errors: list[str] = []
        self.page.on("pageerror", self._hear)

    def _hear(self, error: Any) -> None:
        """Keep what goes wrong in the views; front ends have errors of their own."""
        text = f"{error.message}\n{error.stack}"
        if "tfsandbox" in text or "file:" in text:
            self.errors.append(text)

    def view(self, place: int = -1) -> Any:
        """A view of the page as a locator: the last, or another by its number."""
        found = self.page.locator(VIEW)
        found.first.wait_for()
        return found.nth(found.count() + place if place < 0 else place)

    def screenshot(self, name: str, whole: bool = False) -> Path:
        """Keep a picture of the last view, or of the whole page."""
        path = self.screenshots / f"{name}.png"
        self.page.wait_for_timeout(350)
        if whole:
            self.page.screenshot(path=path)
        else:
            self.view().screenshot(path=path)
        return path

    def contrast_faults(self) -> list[Any]:
        """Texts of the views that are hard to read on their ground."""
        return self.page.evaluate((Path(__file__).parent / "contrast.js").read_text(encoding="utf-8"))

    def until(self, true: Callable[[], Any], seconds: float = 15.0, what: str = "") -> Any:
        """Wait for something to be true, and give it."""
        end = time.monotonic() + seconds
        while True:
            found = true()
            if found:
                return found
            if time.monotonic() > end:
                raise AssertionError(f"after {seconds} s still not true: {what or true}")
            self.page.wait_for_timeout(50)


class SavedPage(Page):
    """A page that `view.save` wrote, opened from the disk."""

    def __init__(self, context: Any, path: Path, screenshots: Path) -> None:
        super().__init__(context, screenshots)
        self.requests: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())
        self.page.locator(VIEW).first.wait_for()


class NotebookPage(Page):
    """A notebook in JupyterLab or Notebook 7."""

    def __init__(self, server: Any, frontend: str, context: Any, cells: list[str] | Path, screenshots: Path) -> None:
        super().__init__(context, screenshots)
        self.server, self.frontend = server, frontend
        if isinstance(cells, Path):
            self.name = cells.name
        else:
            self.name = f"{uuid.uuid4().hex[:8]}.ipynb"
            notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
            notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
            nbformat.write(notebook, self.path)
        self.client: Any = None
        self.open()

    @property
    def path(self) -> Path:
        return Path(self.server.work) / self.name

    def open(self) -> None:
        """Open the notebook's own address."""
        place = f"doc/tree/{self.name}" if self.frontend == "lab" else f"notebooks/{self.name}"
        token = self.server_token()
        self.page.goto(f"{self.server.url}/{place}?token={token}")
        self.page.locator(".jp-Notebook .jp-Cell").first.wait_for()

    @staticmethod
    def server_token() -> str:
        from tests.browser.conftest import TOKEN
        return TOKEN

    # Running

    def session(self) -> dict[str, Any] | None:
        """The server's record of the notebook's kernel."""
        found = [entry for entry in self.server.get("api/sessions") if entry["path"] == self.name]
        return found[0] if found else None

    def run_all(self, seconds: float = 60.0) -> None:
        """Run all cells from the menu and wait for the end. A click before the kernel is ready runs nothing: again."""
        self.until(lambda: (self.session() or {}).get("kernel", {}).get("execution_state") == "idle", 40, "kernel")
        count = self.page.locator(".jp-CodeCell").count()
        end = time.monotonic() + seconds
        started = False
        while not started:
            self.page.get_by_role("menuitem", name="Run", exact=True).first.click()
            self.page.locator(".lm-Menu-item", has_text="Run All Cells").first.click()
            try:
                self.until(self.prompts, 4, "a cell that has begun")
                started = True
            except AssertionError:
                assert time.monotonic() < end, "Run All Cells runs nothing"
        self.until(lambda: len([text for text in self.prompts() if text.strip("[]: ").isdigit()]) >= count, seconds,
                   "all cells to have run")
        assert not self.page.locator('.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.error"]').count(), \
            self.page.locator(".jp-OutputArea-output").last.inner_text()

    def prompts(self) -> list[str]:
        """The execution counts that are shown."""
        texts = self.page.locator(".jp-InputPrompt").all_inner_texts()
        return [text for text in texts if text.strip("[]: \n")]

    def python(self, expression: str) -> Any:
        """The value of an expression in the notebook's kernel, through JSON."""
        if self.client is None:
            from jupyter_client.blocking import BlockingKernelClient

            session = self.session()
            assert session is not None
            self.client = BlockingKernelClient()
            self.client.load_connection_file(str(Path(self.server.runtime) / f"kernel-{session['kernel']['id']}.json"))
            self.client.start_channels()
            self.client.wait_for_ready(timeout=30)
        wrapped = {"value": f"__import__('json').dumps({expression})"}
        self.client.execute("", silent=True, user_expressions=wrapped)
        while True:
            reply = self.client.get_shell_msg(timeout=30)
            if reply["msg_type"] == "execute_reply" and reply["content"].get("user_expressions"):
                break
        found = reply["content"]["user_expressions"]["value"]
        assert found["status"] == "ok", found
        import ast
        return json.loads(ast.literal_eval(found["data"]["text/plain"]))

    def save(self) -> None:
        """Save the notebook."""
        before = self.path.stat().st_mtime_ns
        self.page.keyboard.press("Escape")
        self.page.get_by_role("menuitem", name="File", exact=True).first.click()
        self.page.locator(".lm-Menu-item", has_text="Save Notebook").first.click()
        self.until(lambda: self.path.stat().st_mtime_ns > before, 10, "the notebook to be saved")

    def shut_down(self) -> None:
        """End the kernel."""
        session = self.session()
        if session is not None:
            self.server.request(f"api/sessions/{session['id']}", "DELETE")

    def close(self) -> None:
        if self.client is not None:
            self.client.stop_channels()
        self.shut_down()
        self.page.close()
