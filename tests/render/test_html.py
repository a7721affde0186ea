"""The page as text: self-contained, small, quick, safe with hostile names. tests/browser looks at it."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from inspector import cli
from inspector.model import File, Report, TensorRow, Variant
from inspector.render import render
from inspector.show.lettering import spread
from inspector.show.sentences import answer, command
from scripts.fuzzing.bounds import within
from tests.render.fits import CROWDED, EMPTY, FIVE_HUNDRED, LONG, MALICE, PRECISIONS, TWO, WITH_FITS
from tests.render.samples import HOSTILE, UNKNOWN, V41

ROOT = Path(__file__).resolve().parents[2]
ALL = [
    (V41,),
    (WITH_FITS,),
    (CROWDED,),
    (UNKNOWN,),
    (MALICE,),
    (PRECISIONS,),
    (EMPTY,),
    (LONG,),
    (FIVE_HUNDRED,),
    (V41, MALICE),
    (),
]


class Elements(HTMLParser):
    """Every element with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("reports", ALL)
def test_the_page_needs_nothing_from_anywhere(reports: tuple[Report, ...]) -> None:
    text = render("html", reports)
    elements = Elements(text).found
    assert not {"img", "iframe", "object", "embed", "audio", "video", "base", "form", "use"} & {t for t, _ in elements}
    for tag, attributes in elements:
        assert "src" not in attributes
        assert not [a for a in attributes if a.startswith("on") or a == "style"]
        href = attributes.get("href") or "#"
        assert href.startswith("#") or (tag, href) == ("link", "data:,")
    assert "url(" not in text
    assert "@import" not in text
    assert [t for t, _ in elements].count("script") == 1


def test_the_policy_names_the_one_script_and_the_one_style() -> None:
    text = render("html", (MALICE,))
    policy = next(a["content"] or "" for t, a in Elements(text).found if a.get("http-equiv"))
    assert policy.startswith("default-src 'none';")
    for tag in ("script", "style"):
        (body,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


@pytest.mark.parametrize(
    "text", [HOSTILE, "</style><script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "\u202e\u2066x"]
)
@pytest.mark.parametrize("form", ["html", "svg"])
def test_hostile_names_stay_text(form: str, text: str) -> None:
    report = replace(MALICE, repo=text, revision=text, notes=tuple(replace(n, message=text) for n in MALICE.notes))
    out = render(form, (report,))
    assert "<script>alert" not in out
    assert "<img" not in out
    assert all(c.isprintable() or c == "\n" for c in out)


@pytest.mark.parametrize("reports", ALL)
def test_a_picture_is_well_formed_and_needs_nothing(reports: tuple[Report, ...]) -> None:
    text = render("svg", reports)
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert [e.tag.rpartition("}")[2] for e in list(root)[:2]] == ["title", "desc"]
    for element in root.iter():
        assert element.tag.rpartition("}")[2] in {"svg", "title", "desc", "style", "rect", "g", "text", "line"}
        assert not [a for a in element.attrib if "href" in a or a.startswith("on")]
    assert "url(" not in text


def test_v41_flash_is_a_small_page() -> None:
    assert len(render("html", (WITH_FITS,)).encode()) < 300_000
    assert len(render("svg", (WITH_FITS,)).encode()) < 50_000


def test_half_a_million_tensors_make_a_page_in_a_second() -> None:
    rows = tuple(
        TensorRow(f"model.layers.{i}.w", "I8", (7, 7), i, "a", "mlp", "int8", "weight") for i in range(500_000)
    )
    report = replace(V41, tensor_rows=rows, tensors=len(rows))
    render("html", (V41,))
    with within(1):
        text = render("html", (report,))
    assert len(text.encode()) < 1_000_000
    assert "499,000 more rows are left out here" in text
    assert "model.layers.499999.w" in text


def test_five_hundred_components_on_64_unlike_devices_stay_a_page() -> None:
    with within(3):
        text = render("html", (FIVE_HUNDRED,))
    assert len(text.encode()) < 1_300_000
    assert "485 smaller" in text
    assert "48 more bars are left out, the tables have them." in text
    assert "; those with the least room; lines across" in render("svg", (FIVE_HUNDRED,))


def test_the_sections_stand_in_the_order_of_the_questions() -> None:
    titles = re.findall(r"<h2[^>]*>(.*?)</h2>", render("html", (WITH_FITS,)))
    assert titles == [
        *["Where the bytes are", "What ships, against what", "Context that fits"],
        *["What was left out", "Notes", "How it was measured"],
    ]


def test_the_answer_is_one_sentence() -> None:
    assert answer(replace(V41, fits=(TWO,)), (TWO,)) == (
        "510.30 GB (475.25 GiB) in 48 files; 763.21 B parameters at 5.35 bits per weight; already quantised: FP8 "
        "dense, FP4 routed experts; on 2x dgx-spark it does not fit: 152.48 GB (142.01 GiB) too much on the fullest "
        "device, 8 such units would hold it."
    )


def test_the_command_to_repeat_it_is_pinned_and_quoted() -> None:
    line = command(replace(V41, variant="a b; rm -rf /"), (TWO,))
    assert line == (
        "inspect deepseek-ai/DeepSeek-V4.1-Flash@dba1be0a40aa45f6f7d37b2c4e0c8d1e5a6b7c8d --variant 'a b; rm -rf /' "
        "--cluster '2x dgx-spark' --context 8192 --engine vllm --placement tp --kv-dtype fp8"
    )


def test_a_report_alone_does_not_claim_one_placement_for_all() -> None:
    other = replace(TWO, placement="pp")
    words = command(V41, (TWO, other)).split()
    assert "--placement" not in words
    assert words[words.index("--engine") + 1] == "vllm"


def test_unknown_is_said_never_drawn_as_nothing() -> None:
    text = render("html", (UNKNOWN,))
    assert "INCOMPLETE" in text
    assert "The parameters are unknown, so there is no BF16 bar." in text
    assert '<data class="nb" value="" data-json="parameters">unknown</data>' in text
    assert "The cache of one sequence is unknown" in text
    assert "No stored bytes are known, so nothing is drawn." in render("html", (EMPTY,))


def test_a_menu_is_bars_with_the_budgets_across() -> None:
    size = 2 * 10**10
    sets = tuple(Variant(f"Q{i}", (File(f"{i}.gguf", i * size),), i == 4, i * size, size) for i in range(2, 9))
    text = render("html", (replace(V41, menu=sets, fits=(TWO,)),))
    assert text.count('class="mark"') == 2 * 3
    assert "Q4 (default)" in text
    assert "2x dgx-spark, server: 206.16 GB (192.00 GiB)" in text
    assert "Too far beyond" not in text
    small = tuple(Variant(v.name, (File("a", 10**9),)) for v in sets)
    text = render("html", (replace(V41, menu=small, fits=(TWO,)),))
    assert 'class="mark"' not in text
    assert (
        "Too far beyond every set to be drawn: 2x dgx-spark, raw: 257.70 GB (240.00 GiB); 2x dgx-spark, server" in text
    )


def test_a_picture_says_whose_devices_and_which_colours_it_shows() -> None:
    text = render("svg", (WITH_FITS,))
    words = [e.text for e in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")]
    assert "On 2x dgx-spark: does not fit; lines across: server budget, all memory shown" in words
    assert "On 64x h100-80: fits; lines across: server budget, all memory shown" in words
    assert {"over 3 to 5 bits", "cache", "free", "kept back by the budget"} <= set(words)
    description = ElementTree.fromstring(text)[1].text or ""
    assert "as shipped: 510.29 GB (475.24 GiB)." in description
    assert "devices 1 to 2, each: dgx-spark: 152.48 GB (142.01 GiB) short." in description


def test_a_legend_takes_as_many_lines_as_it_needs() -> None:

    assert spread(["a", "b"], 1000.0)[1][1] == 0.0
    places = spread(["word " * 5] * 6, 300.0)
    assert len(set(places)) == 6
    assert {x for x, _ in places} == {0.0}


def test_an_output_that_cannot_be_written_ends_with_2_and_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    there = tmp_path / "page.html"
    there.write_text("before")
    for path in (tmp_path / "no" / "page.html", tmp_path):
        assert cli.main(["org/name", "--format", "html", "-o", str(path), "--offline"]) == 2
        assert f"--output {path}" in capsys.readouterr().err
    # Nothing could be read: the page of before stays whole.
    assert cli.main([str(tmp_path / "none"), "-o", str(there)]) != 0
    assert there.read_text() == "before"
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]


def test_plain_text_imports_no_page_and_no_template_engine() -> None:
    code = (
        "import sys; from inspector import cli; from tests.render.samples import V41;"
        "from inspector.render import render;"
        "from tests.render.fits import WITH_FITS;"
        "[render(form, found) for form in ('text', 'json') for found in ((V41,), (WITH_FITS,), (V41, V41))];"
        "print([m for m in sys.modules if m.split('.')[0] in ('jinja2', 'markupsafe', 'squarify')"
        " or m.removeprefix('inspector.') in ('show.page', 'show.views', 'show.page_tables', 'show.pictures',"
        " 'show.templating', 'show.treemap', 'show.palette', 'repeating')])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
