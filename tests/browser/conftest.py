"""Headless Chromium from the system's packages; where there is none, tests say that they skip."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[2]
FLAGS = (
    *["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
    *["--disable-background-networking", "--disable-component-update", "--disable-sync"],
)


@dataclass
class Opened:
    """A page in the browser with what it said and asked for."""

    page: Page
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def evaluate(self, script: str, argument: object = None) -> Any:
        return self.page.evaluate(script, argument)


Opener = Callable[..., Opened]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: no page was looked at")
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no Chromium here (scripts/browser installs it): no page was looked at")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture
def opener(browser: Browser, tmp_path: Path) -> Iterator[Opener]:
    """Opens text as a file of this suffix, offline; everything that the page says or asks for is kept."""
    contexts: list[Any] = []

    def open_text(text: str, suffix: str = ".html", width: int = 1280, **options: Any) -> Opened:
        file = tmp_path / f"page{len(contexts)}{suffix}"
        file.write_text(text, encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 900}, offline=True, **options)
        contexts.append(context)
        opened = Opened(context.new_page())
        opened.page.on("console", lambda message: opened.said.append(message.text))
        opened.page.on("pageerror", lambda error: opened.said.append(str(error)))
        opened.page.on("dialog", lambda dialog: opened.said.append(dialog.message))
        opened.page.on("request", lambda request: opened.asked.append(request.url))
        opened.page.goto(file.as_uri())
        opened.asked.remove(file.as_uri())
        return opened

    yield open_text
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The text of axe-core, which scripts/browser fetches from npm."""
    named = os.environ.get("INSPECT_AXE")
    places = [Path(named)] if named else [ROOT / os.environ.get("INSPECT_VENV", ".venv") / "axe.min.js"]
    for place in places:
        if place.is_file():
            return place.read_text(encoding="utf-8")
    pytest.skip(f"no axe-core at {places[0]} (scripts/browser fetches it): accessibility was not checked")
