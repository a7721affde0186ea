"""A repo on the Hub: one request lists it, ranged requests read headers, every URL names the commit."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from urllib.parse import quote

from inspector.address import Address
from inspector.errors import SourceError, UsageError
from inspector.escape import terminal
from inspector.model import Cost, File, Json, Listing, Note, Ref
from inspector.net import environment, hub_listing
from inspector.net.credentials import find_token
from inspector.net.exchange import SMALL, Answer, HttpStatus
from inspector.net.failures import namesake, shown
from inspector.net.hub_errors import Asked, cdn, explain
from inspector.net.retrying import Patience
from inspector.net.transport import Transport
from inspector.tasks import Task, finish, start

JOBS = 64
"""Files read at once: reading is waiting, and 48 shards at 40 ms take 0.25 s at once and 0.63 s eight at a time."""
_PAGES = 10_000
"""Pages of 1,000 files, after which a tree is taken for endless."""


class HubSource:
    """The `Source` of a model, dataset or space. Environment variables are those of huggingface_hub.

    `timeout` seconds are for everything together, `trace` gets a line per request.
    """

    def __init__(
        self,
        address: Address,
        *,
        token: str | None = None,
        endpoint: str | None = None,
        timeout: float | None = None,
        jobs: int | None = None,
        trace: Callable[[str], None] | None = None,
        env: Mapping[str, str] | None = None,
        patience: Patience | None = None,
    ) -> None:
        env = os.environ if env is None else env
        self._address = address
        self._kind = address.kind if address.kind in ("dataset", "space") else "model"
        self._name, self._revision = address.name, address.revision or "main"
        self._endpoint = environment.endpoint(env, endpoint)
        self._jobs = JOBS if jobs is None else jobs
        if self._jobs < 1:
            raise UsageError("--jobs", f"{jobs} is not a number of files above 0")
        key = find_token(env, token)
        self._with_token = key is not None
        self._http = Transport(
            self._endpoint, token=key, timeout=timeout, jobs=self._jobs, trace=trace, env=env, patience=patience
        )
        self._asked: Task[Listing] | None = None
        self._sizes: dict[str, int | None] = {}
        self._signed: dict[str, str] = {}
        self._learned: dict[str, int] = {}
        self._packed: dict[str, bytes] = {}

    @property
    def jobs(self) -> int:
        """How many files are worth reading at once."""
        return self._jobs

    async def listing(self) -> Listing:
        """All files at the commit that the revision names now; the same value however often it is asked."""
        if self._asked is None:
            self._asked = await start(self._listed())
        return await finish(self._asked)

    async def stream(self, path: str, start: int, length: int, feed: Callable[[bytes], bool]) -> int:
        """Hand bytes `start..start+length` to `feed` by range requests; the signed URL is used again.

        A refusal by the storage host may mean that its URL has expired: it is asked for anew, once.
        """
        url, size = await self._file(path)
        handed = 0

        def count(chunk: bytes) -> bool:
            nonlocal handed
            handed += len(chunk)
            return feed(chunk)

        remembered = self._signed.get(path)
        for last in (False, True):
            try:
                target = remembered or url
                reading = await self._http.stream(target, start + handed, length - handed, count, size=size)
                if size is None and reading.size is not None:
                    self._learned[path] = reading.size
                if self._http.away(reading.url):
                    self._signed[path] = reading.url
                break
            except HttpStatus as e:
                away = self._http.away(e.answer.url)
                if away and e.answer.status in (401, 403, 404, 410) and not last:
                    self._signed.pop(path, None)
                    remembered = None
                    continue
                raise self._said(e.answer, path) from None
        return handed

    def size_of(self, path: str) -> int | None:
        """What an answer said of a file's size that the listing left out; None where none did."""
        return self._learned.get(path)

    async def small(self, path: str) -> bytes:
        """The whole of a small text file (at most 100 MB), packed on its way."""
        url, size = await self._file(path)
        if size is not None and size > SMALL:
            raise SourceError(terminal(path, 200), f"has {size:,} bytes; at most {SMALL:,} are read whole")
        try:
            answer = await self._http.get(url, accept="*/*")
        except HttpStatus as e:
            raise self._said(e.answer, path) from None
        if size is not None and len(answer.body) != size:
            message = f"the listing says {size:,} bytes, and {len(answer.body):,} came"
            raise SourceError(terminal(path, 200), message, "Try again.")
        if answer.packed is not None:
            self._packed[path] = answer.packed
        return answer.body

    def packed(self, path: str) -> bytes | None:
        """The gzip form in which a small file came, handed out once; None where it came as it is."""
        return self._packed.pop(path, None)

    def cost(self) -> Cost:
        """Requests (redirects and retries counted) and body bytes so far."""
        meter = self._http.meter
        return Cost(requests=meter.requests, bytes_fetched=meter.bytes, retried=meter.retried)

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    async def _file(self, path: str) -> tuple[str, int | None]:
        """The file's URL at the commit, and its size."""
        ref = (await self.listing()).ref
        if path not in self._sizes:
            advice = f"{self._page()}/tree/{quote(ref.revision or '', safe='')} lists what is there."
            raise SourceError(terminal(f"{self._name}/{path}", 200), "no such file in the repo", advice)
        if hub_listing.unsafe(path):
            raise hub_listing.refuse(path, self._name)
        where = quote(path, safe="/", errors="surrogatepass")
        return f"{self._page()}/resolve/{ref.revision}/{where}", self._sizes[path]

    async def _listed(self) -> Listing:
        try:
            listing = await self._list()
        except SourceError as e:
            raise namesake(e, self._address.name) if self._address.beside else e from None
        self._name = listing.ref.repo
        self._sizes = {f.path: f.size for f in listing.files}
        return listing

    async def _list(self) -> Listing:
        answer, value = await self._json(f"{self._api()}/revision/{quote(self._revision, safe='')}?blobs=true")
        info = hub_listing.info(value, shown(answer.url))
        sha = info.sha or self._revision
        if info.sha is None and len(self._revision) != 40:
            advice = "Check that HF_ENDPOINT is a Hub, or name the commit with --revision."
            raise SourceError(shown(answer.url), f"the answer names no commit for {terminal(self._revision)}", advice)
        notes: list[Note] = []
        asked, name = self._name, info.name or self._name
        if name.lower() != asked.lower():
            if not answer.moved:
                name = asked
            else:
                notes.append(Note("renamed", f"{terminal(asked)} is now called {terminal(name)}", asked))
        self._name = name
        files = info.files
        if not info.sized:
            files = await self._tree(sha) or files
            unknown = sum(f.size is None for f in files)
            if unknown:
                message = f"the server gives no size for {unknown:,} of {len(files):,} files; their bytes are unknown"
                notes.append(Note("sizes_unknown", message, shown(self._endpoint)))
        ordered = tuple(sorted(files, key=lambda f: f.path))
        return Listing(Ref(name, sha, self._kind), ordered, info.parameters, info.total, tuple(notes))

    async def _tree(self, sha: str) -> tuple[File, ...]:
        """All pages of the tree at a commit; nothing where the server has no such route."""
        files: list[File] = []
        query: str | None = "recursive=true"
        seen: set[str] = set()
        while query is not None:
            if query in seen or len(seen) == _PAGES:
                raise SourceError(self._name, f"the list of files does not end after {len(seen):,} pages")
            seen.add(query)
            try:
                answer, value = await self._json(f"{self._api()}/tree/{sha}?{query}", tolerant=not files)
            except HttpStatus:
                return ()
            files += hub_listing.tree(value, shown(answer.url))
            query = hub_listing.next_query(answer.headers.get("link", ""))
        return tuple(files)

    async def _json(self, url: str, *, tolerant: bool = False) -> tuple[Answer, Json]:
        try:
            answer = await self._http.get(url)
        except HttpStatus as e:
            if tolerant and e.answer.status in (400, 404, 405, 501):
                raise
            raise self._said(e.answer, None) from None
        try:
            return answer, json.loads(answer.body)
        except (ValueError, RecursionError):
            begins = terminal(answer.body[:40].decode("utf-8", "replace"))
            message = f"the answer is not JSON; it begins with {begins!r}"
            raise SourceError(shown(answer.url), message, "Check that HF_ENDPOINT is a Hub.") from None

    def _api(self) -> str:
        return f"{self._endpoint}/api/{self._kind}s/{self._name}"

    def _page(self) -> str:
        prefix = "" if self._kind == "model" else f"{self._kind}s/"
        return f"{self._endpoint}/{prefix}{self._name}"

    def _said(self, answer: Answer, path: str | None) -> SourceError:
        below = self._address.path or self._address.folder if path is None else None
        asked = Asked(self._name, self._revision, self._page(), self._endpoint, self._with_token, path, below)
        return cdn(answer, asked) if self._http.away(answer.url) else explain(answer, asked)
