"""The page in a real browser: silence, no request, figures as in the JSON, true areas, layout, accessibility."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from inspector.inspection import inspect
from inspector.model import Report
from inspector.render import render
from inspector.units import both
from tests.browser.conftest import Opener
from tests.loopback import LoopbackHub, load
from tests.render.fits import CROWDED, EMPTY, FIVE_HUNDRED, LONG, MALICE, PRECISIONS, WITH_FITS
from tests.render.samples import UNKNOWN, V41

PAGES: dict[str, tuple[Report, ...]] = {
    "plain": (V41,),
    "fits": (WITH_FITS,),
    "crowded": (CROWDED,),
    "unknown": (UNKNOWN,),
    "hostile": (MALICE,),
    "precisions": (PRECISIONS,),
    "empty": (EMPTY,),
    "long": (LONG,),
    "five hundred": (FIVE_HUNDRED,),
    "beside": (WITH_FITS, replace(UNKNOWN, fits=WITH_FITS.fits), replace(MALICE, fits=MALICE.fits * 3)),
    "two": (UNKNOWN, EMPTY),
    "none": (),
}


@pytest.fixture(scope="module")
def flash() -> Iterator[Report]:
    """V4.1-Flash as it is read, with the cluster that people ask about."""
    with LoopbackHub([load("deepseek-ai/DeepSeek-V4.1-Flash")]) as hub:
        yield inspect("deepseek-ai/DeepSeek-V4.1-Flash", endpoint=hub.endpoint, clusters=["2x dgx-spark"])


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_silent_asks_for_nothing_and_holds_at_every_width(name: str, opener: Opener) -> None:
    opened = opener(render("html", PAGES[name]))
    for width in (360, 800, 1600):
        opened.page.set_viewport_size({"width": width, "height": 900})
        assert opened.evaluate("document.documentElement.scrollWidth") <= width
        assert opened.evaluate(OVERLAPS) == [], width
        assert opened.evaluate(OUTSIDE) == [], width
    assert opened.evaluate("document.scripts.length") == 1
    assert opened.said == []
    assert opened.asked == []


def test_every_figure_is_the_one_of_the_json(flash: Report, opener: Opener) -> None:
    document = json.loads(render("json", (flash,)))["reports"][0]
    opened = opener(render("html", (flash,)))
    script = "[...document.querySelectorAll('data[data-json]')].map(d => [d.dataset.json, d.value, d.textContent])"
    figures = opened.evaluate(script)
    assert len(figures) > 70
    for path, value, text in figures:
        expected = found(document, path)
        assert value == ("" if expected is None else str(expected)), path
        exact = isinstance(expected, int)
        shown = (
            {f"{expected:,}", both(expected)} if exact else {f"{expected:.2f}" if expected is not None else "unknown"}
        )
        if not path.endswith(".parameters"):
            assert text in shown, path
    told = {path for path, _, _ in figures}
    assert {"file_bytes", "tensor_bytes", "parameters", "fits.0.budgets.server.max_context"} <= told
    assert {f"fits.0.devices.{i}.free" for i in range(2)} <= told
    for i, device in enumerate(document["fits"][0]["devices"]):
        paths = {f"fits.0.devices.{i}.components.{k}.bytes" for k in range(len(device["components"]))}
        assert len(paths) > 8 and paths <= told
    assert sum(p.endswith(".weight_bytes") for p in told) == sum(len(c["precisions"]) for c in document["components"])


def found(document: Any, path: str) -> Any:
    for key in path.split("."):
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document


@pytest.mark.parametrize("width", [360, 800, 1600])
def test_areas_are_proportional_to_bytes(flash: Report, width: int, opener: Opener) -> None:
    boxes = opener(render("html", (flash,)), width=width).evaluate(AREAS)
    assert len(boxes) == len(flash.cells)
    assert sum(b["bytes"] for b in boxes) == 510_286_023_000
    scale = sum(b["area"] for b in boxes) / 510_286_023_000
    for box in boxes:
        assert box["area"] == pytest.approx(box["bytes"] * scale, rel=0.005), box
        if box["drawn"][0] > 4 and box["drawn"][1] > 4:
            assert box["drawn"][0] * box["drawn"][1] == pytest.approx(box["area"] * box["unit"] ** 2, rel=0.005), box
    largest = sorted(boxes, key=lambda b: -b["area"])[:2]
    assert [b["component"] for b in largest] == ["routed_experts", "memory"]


AREAS = """() => {
  const map = [...document.querySelectorAll('svg .treemap')].find(g => g.getClientRects().length);
  const unit = map.getScreenCTM().a;
  return [...map.querySelectorAll('rect[data-bytes]')].map(r => {
    const b = r.getBBox(), old = r.getAttribute('class');
    r.setAttribute('class', old.replace('gap', ''));
    const seen = r.getBoundingClientRect();
    r.setAttribute('class', old);
    return {component: r.dataset.component, bytes: Number(r.dataset.bytes), area: b.width * b.height, unit: unit,
            drawn: [seen.width, seen.height]};
  });
}"""


def test_bars_of_devices_are_stacked_from_the_json(flash: Report, opener: Opener) -> None:
    (fit,) = json.loads(render("json", (flash,)))["reports"][0]["fits"]
    for form, suffix in (("html", ".html"), ("svg", ".svg")):
        bars = opener(render(form, (flash,)), suffix=suffix).evaluate(STACKS)
        for device, bar in zip(fit["devices"], bars[-2:], strict=True):
            parts = {c["component"]: c["bytes"] - c["replicated_bytes"] for c in device["components"]}
            expected = [n for n in parts.values() if n] + [device["replicated_bytes"], device["cache"]]
            assert [s["bytes"] for s in bar] == [n for n in expected if n]
            scale = sum(s["width"] for s in bar) / (device["weights"] + device["cache"])
            for share in bar:
                assert share["width"] == pytest.approx(share["bytes"] * scale, rel=0.005)
            assert [s["title"].partition(":")[0] for s in bar][: len(parts)][:2] == ["routed_experts", "memory"]


STACKS = """() => {
  const group = [...document.querySelectorAll('svg .bars')].filter(g => g.getClientRects().length).at(-1);
  const rows = new Map();
  for (const r of group.querySelectorAll('rect[data-bytes]')) {
    const y = r.getAttribute('y');
    rows.set(y, [...rows.get(y) || [], {bytes: Number(r.dataset.bytes), width: Number(r.getAttribute('width')),
                                        title: r.querySelector('title').textContent}]);
  }
  return [...rows.values()];
}"""


@pytest.mark.parametrize("width", [360, 800, 1600])
def test_no_figure_is_broken_over_two_lines(flash: Report, width: int, opener: Opener) -> None:
    opened = opener(render("html", (flash,)), width=width)
    assert opened.evaluate("document.querySelectorAll('data').length") > 100
    assert opened.evaluate(BROKEN) == []


BROKEN = """() => {
  const lines = e => new Set([...e.getClientRects()].map(r => Math.round(r.top))).size;
  const pieces = d => d.children.length ? [...d.children] : [d];
  return [...document.querySelectorAll('data')].flatMap(pieces).filter(e => lines(e) > 1).map(e => e.textContent);
}"""


def test_tables_of_flash_need_no_scrolling_on_a_wide_page(flash: Report, opener: Opener) -> None:
    opened = opener(render("html", (flash,)), width=1160)
    script = (
        "[...document.querySelectorAll('.scroll')].filter(s => s.scrollWidth > s.clientWidth).map(s => s.innerText)"
    )
    assert opened.evaluate(script) == []


def test_figures_of_devices_and_contexts_are_seen_on_a_phone(flash: Report, opener: Opener) -> None:
    opened = opener(render("html", (flash,)), width=360)
    script = "[...document.querySelectorAll('.scroll')].filter(s => s.scrollWidth > s.clientWidth)"
    cut = opened.evaluate(f"{script}.map(s => s.querySelector('caption').textContent)")
    shown = {"Weights on each device of 2x dgx-spark", "Context on 2x dgx-spark", "Cache of one sequence", "Ledger"}
    assert not shown & set(cut), cut


def test_lines_across_bars_are_seen_on_every_colour(opener: Opener) -> None:
    opened = opener(render("html", (WITH_FITS,)), color_scheme="dark")
    script = """[...document.querySelectorAll('.tick, .mark')].map(
        t => [t, t.previousElementSibling].map(l => getComputedStyle(l).stroke + l.getAttribute('x1')))"""
    lines = opened.evaluate(script)
    assert lines
    for line, rim in lines:
        # Light on dark at the same place, so that a light fill does not swallow it.
        assert line.partition(")")[0] == "rgb(233, 236, 240"
        assert rim.partition(")")[0] == "rgb(20, 23, 27"
        assert line.partition(")")[2] == rim.partition(")")[2]


@pytest.mark.parametrize("width", [718, 1040])
def test_the_page_holds_on_paper(flash: Report, width: int, opener: Opener) -> None:
    # A4 upright and across, 96 units to the inch and 10 mm of margin.
    opened = opener(render("html", (flash,)), width=width)
    opened.page.emulate_media(media="print")
    assert opened.evaluate(OVERLAPS) == []
    assert opened.evaluate(BROKEN) == []
    # Nothing can be scrolled on paper.
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    drawn = (
        "[...new Set([...document.querySelectorAll('figure > div')].filter(d => d.offsetParent).map(d => d.className))]"
    )
    assert opened.evaluate(drawn) == ["w-middle"]
    assert opened.evaluate("getComputedStyle(document.querySelector('.filter')).display") == "none"
    assert opened.page.pdf(format="A4").startswith(b"%PDF")


OVERLAPS = """() => {
  const found = [];
  for (const svg of document.querySelectorAll('svg')) {
    const texts = [...svg.querySelectorAll('text')].filter(t => t.getClientRects().length && t.textContent.trim());
    const places = texts.map(t => t.getBoundingClientRect());
    for (let i = 0; i < texts.length; i++) for (let j = 0; j < i; j++) {
      const a = places[i], b = places[j], slack = 1;
      if (a.left + slack < b.right && b.left + slack < a.right && a.top + 4 < b.bottom && b.top + 4 < a.bottom)
        found.push([texts[i].textContent, texts[j].textContent]);
    }
  }
  return found;
}"""

OUTSIDE = """() => {
  const found = [];
  for (const svg of document.querySelectorAll('svg')) {
    const frame = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll('text')) {
      const place = text.getBoundingClientRect();
      if (place.width && (place.left < frame.left - 1 || place.right > frame.right + 1)) found.push(text.textContent);
    }
    for (const group of svg.querySelectorAll('.treemap')) {
      const boxes = [...group.querySelectorAll('rect[data-bytes]')].map(r => r.getBoundingClientRect());
      for (const text of group.querySelectorAll('text')) {
        const t = text.getBoundingClientRect();
        const wide = b => t.left >= b.left - 1 && t.right <= b.right + 1;
        const inside = b => wide(b) && t.top >= b.top - 2 && t.bottom <= b.bottom + 2;
        if (t.width && !boxes.some(inside)) found.push(text.textContent);
      }
    }
  }
  return found;
}"""


@pytest.mark.parametrize(
    ("name", "scheme"),
    [("fits", "light"), ("fits", "dark"), ("unknown", "light"), ("hostile", "dark"), ("two", "light")],
)
def test_axe_finds_nothing_serious(name: str, scheme: str, axe: str, opener: Opener) -> None:
    opened = opener(render("html", PAGES[name]), color_scheme=scheme, bypass_csp=True)
    opened.page.add_script_tag(content=axe)
    result = opened.evaluate("axe.run(document, {resultTypes: ['violations']})")
    bad = [
        (v["id"], v["nodes"][0]["html"][:200]) for v in result["violations"] if v["impact"] in ("serious", "critical")
    ]
    assert bad == []


def test_headings_go_down_one_at_a_time(opener: Opener) -> None:
    for name in ("fits", "beside"):
        opened = opener(render("html", PAGES[name]))
        levels = opened.evaluate("[...document.querySelectorAll('h1,h2,h3,h4,h5')].map(h => Number(h.tagName[1]))")
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(b - a <= 1 for a, b in itertools.pairwise(levels)), levels


def test_the_script_sorts_and_filters_and_is_not_needed(opener: Opener) -> None:
    text = render("html", (WITH_FITS,))
    opened = opener(text)
    table = opened.page.locator("table:has(#r0-components)")
    first = table.locator("tbody tr").first
    assert first.locator("th").inner_text() == "routed_experts"
    table.get_by_role("button", name="overhead bytes").click()
    table.get_by_role("button", name="overhead bytes").click()
    assert table.locator("thead th[aria-sort=ascending]").inner_text() == "overhead bytes"
    order = table.locator("tbody td:nth-child(5) data").evaluate_all("cells => cells.map(c => Number(c.value))")
    assert order == sorted(order)
    opened.page.get_by_label("Only rows with").first.fill("fp4")
    assert table.locator("tbody tr:visible").count() == 2
    still = opener(text, java_script_enabled=False)
    assert still.page.locator("table:has(#r0-components) tbody tr").count() == 18
    assert still.page.locator("input").count() == 0


def test_a_picture_is_true_and_silent(flash: Report, opener: Opener) -> None:
    opened = opener(render("svg", (flash,)), suffix=".svg")
    assert (opened.said, opened.asked) == ([], [])
    boxes = opened.evaluate(AREAS)
    scale = sum(b["area"] for b in boxes) / 510_286_023_000
    assert all(b["area"] == pytest.approx(b["bytes"] * scale, rel=0.005) for b in boxes)
    assert opened.evaluate(OVERLAPS) == []


@pytest.mark.parametrize("name", PAGES)
def test_a_picture_keeps_its_labels_apart(name: str, opener: Opener) -> None:
    opened = opener(render("svg", PAGES[name]), suffix=".svg")
    assert (opened.said, opened.asked) == ([], [])
    assert opened.evaluate(OVERLAPS) == []
    assert opened.evaluate(OUTSIDE) == []
