"""What of one inspection is kept, under which key: the finished report of a commit, by what was asked and by whom.

The key holds everything that the answer depends on: the repo's commit, the options, and this program's own files, so
that a new version never shows an old one's answer. It holds no token.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from inspector import __version__
from inspector.keep.store import Store, folder
from inspector.records import dataclass

if TYPE_CHECKING:
    from inspector.model import Report

COMMIT: Final = re.compile(r"[0-9a-f]{40}")


def open_store() -> Store | None:
    """The user's cache, None where there is no folder for it."""
    where = folder(os.environ)
    return None if where is None else Store(where)


@dataclass(frozen=True, slots=True)
class Kept:
    """The reports that `program` gives of one repo as it was asked about: `asked` is everything but the commit."""

    store: Store
    asked: object
    program: str

    def report(self, commit: str | None) -> Report | None:
        """The report of a commit, None where it is not kept."""
        if commit is None or not COMMIT.fullmatch(commit):
            return None
        form = self.store.get(self._key(commit))
        if form is None:
            return None
        from inspector.keep.report_form import NotKept, unpack
        from inspector.model import Report

        try:
            report = unpack(form)
        except NotKept:
            return None
        return report if isinstance(report, Report) else None

    def keep(self, report: Report) -> None:
        """Keep a report that is complete and of a commit."""
        if report.incomplete or report.revision is None or not COMMIT.fullmatch(report.revision):
            return
        from inspector.keep.report_form import NotKept, pack

        try:
            self.store.put(self._key(report.revision), pack(report))
        except NotKept:
            return

    def _key(self, commit: str) -> str:
        return repr(("report", self.program, commit, self.asked))


def this_program() -> str:
    """This program: its version, and for those who change it how many files it has, how large, how new."""
    package = Path(__file__).parents[1]
    count = size = newest = 0
    folders = [str(package)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir():
                    if not entry.name.startswith("__"):
                        folders.append(entry.path)
                    continue
                try:
                    about = entry.stat()
                except OSError:
                    # A link that leads nowhere, as editors leave beside an open file.
                    continue
                count, size, newest = count + 1, size + about.st_size, max(newest, about.st_mtime_ns)
    return repr((__version__, count, size, newest))
