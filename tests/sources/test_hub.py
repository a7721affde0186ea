"""Reading through the Hub's source; the loopback Hub counts and remembers every request."""

from __future__ import annotations

import pytest

from inspector.errors import SourceError
from inspector.tasks import Tasks, run
from tests.loopback import Fault, LoopbackHub, Repo, Virtual
from tests.sources.hub_cases import CONFIG, HEADER, REPO, SHARD, arrived, forget, read, source


def test_a_range_is_read_exactly_and_clipped_at_the_end() -> None:
    with LoopbackHub([REPO]) as hub:
        src = source(hub)
        assert read(src, "model.safetensors", 8, 64) == HEADER
        assert read(src, "model.safetensors", SHARD.size - 3, 100) == b"\0\0\0"
        before = src.cost().requests
        assert read(src, "model.safetensors", SHARD.size, 100) == b""
        assert read(src, "model.safetensors", 5, 0) == b""
        assert src.cost().requests == before


def test_a_second_read_goes_straight_to_the_signed_url() -> None:
    with LoopbackHub([REPO]) as hub:
        src = source(hub)
        read(src, "model.safetensors", 0, 10)
        read(src, "model.safetensors", 10, 10)
        assert [(r.request.route, r.request.range) for r in arrived(hub)] == [
            ("info", None),
            ("resolve", "bytes=0-9"),
            ("cdn", "bytes=0-9"),
            ("cdn", "bytes=10-19"),
        ]


def test_reading_stops_when_feed_is_satisfied() -> None:
    with LoopbackHub([REPO]) as hub:
        src = source(hub)
        got = src.stream("model.safetensors", 0, 50_000_000, lambda chunk: True)
        assert 0 < got <= 65_536
        # The whole of the 302's short body, one chunk, the listing: nothing like the 50 MB asked for.
        assert src.cost().bytes_fetched < 100_000


def test_an_error_of_feed_passes_through_and_the_source_goes_on() -> None:
    def broken(chunk: bytes) -> bool:
        raise ValueError("mine")

    with LoopbackHub([REPO]) as hub:
        src = source(hub)
        with pytest.raises(ValueError, match="mine"):
            src.stream("model.safetensors", 0, 1_000_000, broken)
        assert read(src, "model.safetensors", 8, 64) == HEADER


def test_small_files_are_whole_and_counted_as_packed() -> None:
    with LoopbackHub([REPO]) as hub:
        src = source(hub)
        src.listing()
        before = src.cost().bytes_fetched
        assert src.small("config.json") == CONFIG
        assert src.cost().bytes_fetched - before < len(CONFIG) / 10
        assert all(r.request.range is None for r in hub.requests)
        assert src.cost().bytes_fetched == hub.totals()["sent"]
        assert src.cost().requests == hub.totals()["requests"] == 3


def test_the_token_is_seen_by_the_hub_and_by_nobody_else() -> None:
    with LoopbackHub([REPO]) as hub:
        src = source(hub, token="hf_secret")
        read(src, "model.safetensors", 0, 100)
        src.small("config.json")
        seen = {(r.request.server, r.authorization) for r in hub.requests}
    assert seen == {("hub", "Bearer hf_secret"), ("cdn", None)}


def test_the_token_stays_behind_when_a_chain_comes_back_from_another_host() -> None:
    with LoopbackHub([REPO]) as hub:
        back = f"{hub.endpoint}/org/name/resolve/{REPO.head}/deep/er/notes.txt"
        hub.faults = lambda r: Fault(status=302, headers={"Location": back}) if r.server == "cdn" else None
        src = source(hub, token="hf_secret")
        src.listing()
        forget(hub)
        with pytest.raises(SourceError):
            read(src, "model.safetensors", 0, 5)
        records = arrived(hub)
    assert [r.request.server for r in records[:3]] == ["hub", "cdn", "hub"]
    assert [r.authorization for r in records[:3]] == ["Bearer hf_secret", None, None]


def test_many_tasks_share_one_listing_and_one_count() -> None:
    files = {f"{i:02}.safetensors": Virtual(bytes([i]) * 100, 10_000_000) for i in range(20)}
    with LoopbackHub([Repo.build("org/name", files)]) as hub:
        src = source(hub)
        got: dict[str, bytes] = {}

        async def work(name: str) -> None:
            parts: list[bytes] = []

            def keep(chunk: bytes) -> bool:
                parts.append(chunk)
                return False

            await src.inner.stream(name, 0, 100, keep)
            got[name] = b"".join(parts)

        async def everything() -> None:
            reading = Tasks([(n, work(n)) for n in files], 64)
            while ended := await reading.some():
                for _, task in ended:
                    task.result()

        run(everything())
        assert got == {n: v.header for n, v in files.items()}
        assert src.cost().requests == len(hub.requests) == 1 + 2 * 20
        assert src.cost().bytes_fetched == hub.totals()["sent"]


def test_the_trace_tells_each_request_and_no_secret() -> None:
    lines: list[str] = []
    with LoopbackHub([REPO]) as hub:
        src = source(hub, token="hf_secret", trace=lines.append)
        read(src, "model.safetensors", 0, 8)
    assert len(lines) == 3
    assert "bytes=0-7 -> 206, 8 B," in lines[2]
    assert not any(word in line for line in lines for word in ("hf_secret", "Signature", "Policy", "?"))
