"""The other programs that read headers, in virtualenvs and folders of their own; what cannot be had is left out."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

_HUB_LIBRARY = "import sys; from huggingface_hub import get_safetensors_metadata as g; g(sys.argv[1])"


def commands(where: Path) -> dict[str, list[str]]:
    """Command lines by name, to be completed by `ENDPOINT REPO`; tools are installed below `where`."""
    found = {"floor": [sys.executable, str(HERE / "floor.py")]}
    found["get_safetensors_metadata"] = [sys.executable, "-c", _HUB_LIBRARY]
    for name, command in (("hf-mem", _hf_mem(where)), ("@huggingface/hub", _node(where))):
        if command is None:
            print(f"{name} could not be installed: left out", flush=True)
        else:
            found[name] = command
    return found


def versions(where: Path) -> dict[str, str]:
    """Versions of what is measured against, where they are known."""
    from importlib.metadata import version

    found = {name: version(name) for name in ("huggingface_hub", "urllib3", "click")}
    for line in _output([str(where / "hf-mem/bin/pip"), "list", "--format=freeze"]).splitlines():
        if line.startswith("hf-mem=="):
            found["hf-mem"] = line.partition("==")[2]
    package = where / "node/node_modules/@huggingface/hub/package.json"
    if package.is_file():
        import json

        found["@huggingface/hub"] = json.loads(package.read_text())["version"]
        found["node"] = _output(["node", "--version"]).strip()
    return found


def _hf_mem(where: Path) -> list[str] | None:
    home = where / "hf-mem"
    if not (home / "bin/hf-mem").is_file():
        _output([sys.executable, "-m", "venv", str(home)])
        _output([str(home / "bin/pip"), "install", "--quiet", "hf-mem"])
    there = (home / "bin/hf-mem").is_file()
    return [str(home / "bin/python"), str(HERE / "hf_mem_at.py")] if there else None


def _node(where: Path) -> list[str] | None:
    node, npm, home = shutil.which("node"), shutil.which("npm"), where / "node"
    if node is None or npm is None:
        return None
    package = home / "node_modules/@huggingface/hub"
    if not package.is_dir():
        home.mkdir(parents=True, exist_ok=True)
        _output([npm, "install", "--silent", "--prefix", str(home), "@huggingface/hub"])
    if not package.is_dir():
        return None
    # It looks the library up from its own working folder.
    return [node, str(HERE / "peer.mjs"), str(home)]


def _output(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
