"""A real JupyterLab 4 and Notebook 7 in a real Chromium, one server and one browser a session.

`lab` and `notebook7` open a notebook made of cells; `page_of` opens a saved page. What the tests photograph is kept in
the folder `screenshots` of pytest's temporary folder, or in $TFSANDBOX_SCREENSHOTS.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.notebook_page import NotebookPage, SavedPage

ROOT = Path(__file__).parent.parent.parent
FLAGS = ("--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
         "--disable-component-update --disable-sync").split()
TOKEN = "only-for-tests"


def chromium() -> str | None:
    """Where Debian has its browser, or wherever PATH says."""
    return next((path for name in ("chromium", "chromium-browser", "google-chrome")
                 for path in [shutil.which(name)] if path), None)


@pytest.fixture(scope="session")
def screenshots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pictures of the page go."""
    folder = Path(os.environ.get("TFSANDBOX_SCREENSHOTS") or tmp_path_factory.getbasetemp() / "screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, driven by playwright."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = chromium()
    if path is None:
        pytest.skip("no Chromium on PATH")
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield running
        running.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def install_extension(target: Path) -> None:
    """Put the lab extension where the wheel would put it: pyproject.toml says which folder goes where."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    table = text.partition("[tool.hatch.build.targets.wheel.shared-data]\n")[2].partition("\n\n")[0]
    for source, place in re.findall(r'^"(.+)" = "share/jupyter/(.+)"$', table, re.M):
        shutil.copytree(ROOT / source, target / place, dirs_exist_ok=True)


class Server:
    """A running Jupyter server with JupyterLab and Notebook 7."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.work = folder / "work"
        self.runtime = folder / "runtime"
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        settings = folder / "settings" / "@jupyterlab"
        quiet = {"notification": {"fetchNews": "false", "checkForUpdates": False}}
        for name, values in quiet.items():
            file = settings / "apputils-extension" / f"{name}.jupyterlab-settings"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(values))
        for path in (self.work, self.runtime):
            path.mkdir()
        install_extension(folder / "share")
        environment = {
            **os.environ, "JUPYTER_CONFIG_DIR": str(folder / "config"), "JUPYTER_DATA_DIR": str(folder / "data"),
            "JUPYTER_RUNTIME_DIR": str(self.runtime), "JUPYTER_PATH": str(folder / "share"),
            "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
            "IPYTHONDIR": str(folder / "ipython"), "JUPYTER_PLATFORM_DIRS": "1"}
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}",
                   f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={self.work}",
                   "--ServerApp.port_retries=0", "--LabApp.news_url=None",
                   "--LabApp.check_for_updates_class=jupyterlab.handlers.announcements.NeverCheckForUpdate"]
        self.log = open(folder / "server.log", "wb")
        self.process = subprocess.Popen(command, cwd=self.work, env=environment, stdout=self.log, stderr=self.log)
        self._wait()

    def _wait(self) -> None:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if self.process.poll() is not None:
                break
            try:
                self.get("api/status")
                return
            except OSError:
                time.sleep(0.2)
        self.stop()
        raise RuntimeError((self.folder / "server.log").read_text(errors="replace")[-3000:])

    def request(self, path: str, method: str = "GET", body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/{path}", data, {"Authorization": f"token {TOKEN}"}, method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def get(self, path: str) -> Any:
        return self.request(path)

    def theme(self, dark: bool) -> None:
        """The theme of pages that are opened from now on."""
        raw = json.dumps({"theme": "JupyterLab Dark" if dark else "JupyterLab Light"})
        self.request("lab/api/settings/@jupyterlab/apputils-extension:themes", "PUT", {"raw": raw})

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.close()


@pytest.fixture(scope="session")
def server(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The Jupyter server."""
    pytest.importorskip("jupyterlab", reason="JupyterLab is not installed")
    running = Server(tmp_path_factory.mktemp("jupyter"))
    yield running
    running.stop()


@pytest.fixture
def contexts(browser: Any) -> Iterator[Callable[..., Any]]:
    """Makes a fresh browser window, of a width, light or dark; offline if asked."""
    made = []

    def make(width: int = 1280, dark: bool = False, offline: bool = False) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, accept_downloads=True,
                                      color_scheme="dark" if dark else "light", offline=offline)
        context.set_default_timeout(20_000)
        made.append(context)
        return context

    yield make
    for context in made:
        context.close()


def _opener(frontend: str, server: Server, contexts: Callable[..., Any], screenshots: Path) -> Iterator[Any]:
    opened: list[NotebookPage] = []

    def open_notebook(cells: list[str] | Path, width: int = 1280, dark: bool = False) -> NotebookPage:
        server.theme(dark)
        page = NotebookPage(server, frontend, contexts(width, dark), cells, screenshots)
        opened.append(page)
        return page

    yield open_notebook
    for page in opened:
        page.close()


@pytest.fixture
def lab(server: Server, contexts: Callable[..., Any], screenshots: Path) -> Iterator[Callable[..., NotebookPage]]:
    """Opens a notebook with these cells in JupyterLab; a path is that of a notebook to open as it is."""
    yield from _opener("lab", server, contexts, screenshots)


@pytest.fixture
def notebook7(server: Server, contexts: Callable[..., Any], screenshots: Path) -> Iterator[Callable[..., NotebookPage]]:
    """The same in Notebook 7."""
    yield from _opener("notebook", server, contexts, screenshots)


@pytest.fixture
def page_of(contexts: Callable[..., Any], screenshots: Path, tmp_path: Path) -> Callable[..., SavedPage]:
    """Saves a view as a page and opens the file, without a network."""

    def open_page(view: Any, width: int = 1280, dark: bool = False) -> SavedPage:
        path = view.save(tmp_path / f"{len(list(tmp_path.iterdir()))}.html")
        return SavedPage(contexts(width, dark, offline=True), path, screenshots)

    return open_page
