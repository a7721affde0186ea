"""A checked table's page in the browser: silent, filtered by verdict, accessible, at every width."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from inspector.claim.claim_verdict import Verdicts
from inspector.verdict_render import render
from tests.browser.conftest import Opener
from tests.claims.test_verdict_render import ALL, HOSTILE, one

PAGES = {
    "all": ALL,
    "none": Verdicts(()),
    "hostile": Verdicts((one("wrong", HOSTILE, reason=HOSTILE), one("ok", "x" * 1000))),
}


@pytest.mark.parametrize("name", PAGES)
def test_silent_and_whole_at_every_width(name: str, opener: Opener) -> None:
    opened = opener(render("html", PAGES[name]))
    for width in (360, 800, 1600):
        opened.page.set_viewport_size({"width": width, "height": 900})
        assert opened.evaluate("document.documentElement.scrollWidth") <= width
    assert (opened.said, opened.asked) == ([], [])
    assert opened.evaluate("document.scripts.length") == 1


def test_every_reason_is_seen_without_scrolling_on_a_wide_page(opener: Opener) -> None:
    opened = opener(render("html", ALL), width=1160)
    assert opened.evaluate(
        "document.querySelector('.scroll').scrollWidth <= document.querySelector('.scroll').clientWidth"
    )


def test_every_column_is_on_paper(opener: Opener) -> None:
    # It asks for paper across: A4 is then 297 mm wide, less 10 mm of margin on each side.
    opened = opener(render("html", ALL), width=1040)
    opened.page.emulate_media(media="print")
    assert opened.evaluate("document.documentElement.scrollWidth") <= 1040
    pdf = opened.page.pdf(prefer_css_page_size=True)
    width, height = re.search(rb"/MediaBox \[0 0 ([0-9.]+) ([0-9.]+)\]", pdf).groups()  # type: ignore[union-attr]
    assert float(width) > float(height)


def test_a_verdict_is_chosen(opener: Opener) -> None:
    opened = opener(render("html", ALL))
    rows = opened.page.locator("tbody tr:visible")
    assert rows.count() == 5
    opened.page.get_by_label("Only verdict").select_option("wrong")
    assert rows.count() == 1
    assert "GB taken for GiB" in rows.first.inner_text()
    opened.page.get_by_label("Only verdict").select_option("")
    opened.page.get_by_label("Only rows with").fill("503")
    assert rows.count() == 1


def test_each_wrong_row_says_why(opener: Opener) -> None:
    rows = (one("wrong", "org/a", reason="GB taken for GiB"), one("wrong", "org/b"), one("ok", "org/c"))
    no_figure = replace(one("wrong", "org/d"), relative=None)
    opened = opener(render("html", Verdicts((*rows, no_figure))))
    reasons = opened.page.locator("tbody td:last-child").all_inner_texts()
    assert reasons == ["GB taken for GiB", "no known mistake explains the difference", "the headers say otherwise", ""]


def test_a_difference_is_a_bar_as_long_as_it_is_large(opener: Opener) -> None:
    # 510 GB claimed, 510.296708312 GB measured: 0.05814 % of half the picture's 120 units.
    opened = opener(render("html", ALL))
    width = opened.evaluate("document.querySelector('svg.off rect').getAttribute('width')")
    assert float(width) == pytest.approx(60 * 0.296708312 / 510.296708312, rel=1e-4)
    assert opened.evaluate("document.querySelector('svg.off rect').getAttribute('class')") == "f-under"


@pytest.mark.parametrize(("name", "scheme"), [("all", "light"), ("hostile", "dark")])
def test_axe_finds_nothing_serious(name: str, scheme: str, axe: str, opener: Opener) -> None:
    opened = opener(render("html", PAGES[name]), color_scheme=scheme, bypass_csp=True)
    opened.page.add_script_tag(content=axe)
    result = opened.evaluate("axe.run(document, {resultTypes: ['violations']})")
    bad = [
        (v["id"], v["nodes"][0]["html"][:200]) for v in result["violations"] if v["impact"] in ("serious", "critical")
    ]
    assert bad == []
