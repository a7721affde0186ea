"""What holds for every test: no deadline on a busy machine, and no token, proxy or cache of its caller."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("everywhere", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("everywhere")

_FOREIGN = ("HF_", "HUGGING_FACE_", "HUGGINGFACE_", "TRANSFORMERS_OFFLINE", "INSPECT_")
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No Hub variable of the caller, no token file, no cache folder that outlives the test."""
    for name in list(os.environ):
        if name.startswith(_FOREIGN) or name.lower() in _PROXIES:
            monkeypatch.delenv(name)
    home = tmp_path_factory.getbasetemp() / "home"
    home.mkdir(exist_ok=True)
    monkeypatch.setenv("HF_HOME", str(Path(home, "huggingface")))
    monkeypatch.setenv("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")
    monkeypatch.setenv("INSPECT_CACHE", str(tmp_path_factory.mktemp("cache")))
