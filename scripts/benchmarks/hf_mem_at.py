"""hf-mem against another address: its modules are read with the written-in one replaced, and nothing else.

`python hf_mem_at.py ENDPOINT REPO`, with a Python that has hf-mem installed.
"""

from __future__ import annotations

import importlib.machinery
import sys

WRITTEN_IN = b"https://huggingface.co"


class Readdressed(importlib.machinery.SourceFileLoader):
    """A loader that changes the address in what it reads."""

    endpoint = b""

    def get_code(self, fullname: str):  # type: ignore[no-untyped-def]
        """Compiled anew each time for modules that hold the address, from the cache for the others."""
        source = self.get_data(self.path)
        if WRITTEN_IN not in source:
            return super().get_code(fullname)
        return compile(source.replace(WRITTEN_IN, self.endpoint), self.path, "exec", dont_inherit=True)


def main(endpoint: str, repo: str) -> None:
    import importlib.util

    found = importlib.util.find_spec("hf_mem")
    assert found is not None and found.submodule_search_locations
    Readdressed.endpoint = endpoint.encode()
    hook = importlib.machinery.FileFinder.path_hook((Readdressed, [".py"]))
    folder = found.submodule_search_locations[0]
    sys.path_importer_cache[folder] = hook(folder)
    sys.argv = ["hf-mem", "--model-id", repo, "--json-output"]
    from hf_mem.cli import main as run  # type: ignore[import-not-found,import-untyped,unused-ignore]

    run()


if __name__ == "__main__":
    main(*sys.argv[1:3])
