"""Patterns of config files: the automaton against Python's `re`, look-ups against the plain definitions."""

from __future__ import annotations

import fnmatch
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from inspector.witness.automaton import MAX_NODES, Automaton
from inspector.witness.expressions import MAX_PATTERN, UnusablePattern
from inspector.witness.patterns import Patterns, anywhere, core, glob, named, regex, searched, skipped
from scripts.fuzzing.bounds import within

atoms = st.sampled_from(["a", "b", r"\.", ".", "[ab]", "[^a]", r"\d", r"\w", "[0-9a]", "^", "$", "1"])
expressions = st.recursive(
    atoms,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3).map("".join)
        | st.lists(inner, min_size=2, max_size=3).map(lambda p: f"({'|'.join(p)})")
        | st.tuples(inner, st.sampled_from(["*", "+", "?", "{1,2}", "{2}", "*?"])).map(lambda p: f"(?:{p[0]}){p[1]}")
    ),
    max_leaves=8,
)
names = st.text("ab.1", max_size=8)


def matches(pattern: str, name: str, **how: bool) -> bool:
    automaton = Automaton()
    automaton.add(pattern, **how)
    return automaton.matches(name) == [0]


@given(expressions, names)
def test_the_automaton_agrees_with_re(pattern: str, name: str) -> None:
    compiled = re.compile(pattern)
    assert matches(pattern, name) is (compiled.match(name) is not None)
    assert matches(pattern, name, search=True) is (compiled.search(name) is not None)
    assert matches(pattern, name, whole=True) is (compiled.fullmatch(name) is not None)
    bounded = re.match(rf"(?:{pattern})(?=\.|$)", name)
    assert matches(pattern, name, boundary=True) is (bounded is not None)


@given(expressions, expressions, names)
def test_leading_assertions_agree_with_re(ahead: str, pattern: str, name: str) -> None:
    for sign in ("!", "="):
        text = f"^(?{sign}{ahead}){pattern}"
        assert matches(text, name) is (re.match(text, name) is not None)


@given(st.lists(expressions, max_size=6), names)
def test_many_patterns_are_matched_as_each_alone(patterns: list[str], name: str) -> None:
    automaton = Automaton()
    for pattern in patterns:
        automaton.add(pattern, search=True)
    assert automaton.matches(name) == [i for i, p in enumerate(patterns) if re.search(p, name)]


@given(st.text(max_size=30))
def test_any_text_is_a_pattern_or_refused(text: str) -> None:
    try:
        automaton = Automaton()
        automaton.add(text)
    except UnusablePattern as error:
        assert str(error)
        assert len(automaton) == 0 and automaton.matches("a") == []
        return
    try:
        compiled = re.compile(text)
    except re.error:
        return
    assume("\n" not in text)
    assert matches(text, "model.layers.0") is (compiled.match("model.layers.0") is not None)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(", "missing"),
        (")", "unbalanced"),
        ("a**", "repeat of a repeat"),
        ("*a", "nothing to repeat"),
        ("[a", "missing"),
        ("[b-a]", "range"),
        ("a\\", "backslash"),
        (r"(a)\1", "not understood"),
        (r"\bword", "not understood"),
        ("a(?!b)", "missing"),
        ("a{300}", "repeat of 300"),
        ("((a{200}){200}){200}", f"{MAX_NODES:,} states"),
        ("(" * 60 + ")" * 60, "inside each other"),
        ("a" * (MAX_PATTERN + 1), str(MAX_PATTERN)),
    ],
)
def test_what_is_refused(pattern: str, words: str) -> None:
    with pytest.raises(UnusablePattern, match=re.escape(words)):
        Automaton().add(pattern)


def test_no_pattern_needs_more_than_name_times_size() -> None:
    with within(5):
        for pattern in ("^(a+)+$", "(a|aa)+$", "(.*)*b", ".*.*.*.*.*.*b", "(a?){200}a{200}$", ".*b.{20}$"):
            assert not matches(pattern, "a" * 2000 + "!")
            matches(pattern, "ab" * 1000 + "!")


@pytest.mark.parametrize(
    "text",
    [
        "model.layers.0",
        ".*lm_head",
        r".*self_attn\..*",
        r"^lm_head$",
        r".*\.gate$",
        "layers.*proj",
        r"a\.b$",
        "x.*",
        ".*",
    ],
)
@pytest.mark.parametrize(
    "name",
    ["model.layers.0", "model.layers.01", "lm_head", "my.lm_head.x", "a.self_attn.q", "b.gate", "gate", "a.b", "a.b.c"],
)
def test_lowered_regexes_mean_what_re_means(text: str, name: str) -> None:
    assert (name in Patterns([text], regex, "")) is (re.match(text, name) is not None)
    assert (name in Patterns([text], searched, "")) is (re.search(text, name) is not None)
    whole = Patterns([text], lambda t: regex(t, whole=True), "")
    assert (name in whole) is (re.fullmatch(text, name) is not None)


@given(st.text("ab.*?[]!", max_size=8), names)
def test_globs_mean_what_fnmatch_means(pattern: str, name: str) -> None:
    assume(core(pattern) == pattern)
    found = name in Patterns([pattern], glob, "")
    plain = not any(c in pattern for c in "*?[")
    below = plain and pattern != "" and name.startswith(f"{pattern}.")
    assert found is ((pattern != "" and fnmatch.fnmatchcase(name, pattern)) or below)


def should_convert_module(name: str, keys: list[str]) -> bool:
    """transformers' rule in its own words; the dot of a plain name is a dot, as whoever wrote the name meant it."""
    said = [k if set(k) & set("*(|") else re.escape(k) for k in keys]
    return not any(re.match(rf"(?:{s})(?=\.|$)", name) or name.endswith(k) for k, s in zip(keys, said, strict=True))


@given(st.lists(st.sampled_from(["a", "a.b", "b", ".b", "a.*.b", "1", "b.1", "(a|b).1"]), max_size=3), names)
def test_skip_lists_mean_what_transformers_means(keys: list[str], name: str) -> None:
    assert (name in Patterns(keys, skipped, "")) is not should_convert_module(name, keys)


def test_the_first_that_matches_is_found() -> None:
    patterns = Patterns(["model.a.*x", "model.a.b", "re", "model.a.*"], regex, "")
    assert patterns.find("model.a.bx") == 0
    assert patterns.find("model.a.b") == 1
    assert patterns.find("model.a.c") == 3
    assert patterns.find("b") is None


def test_wrappers_may_be_missing_on_either_side() -> None:
    for written in ("model.layers.0", "language_model.model.layers.0", "layers.0"):
        patterns = Patterns([written], named, "")
        for name in ("model.layers.0", "language_model.model.layers.0", "layers.0"):
            assert name in patterns
        assert "layers.01" not in patterns
    assert core("model") == "model"
    assert core("model.") == "model."
    assert "x" not in Patterns(["model.*"], glob, "")


@pytest.mark.parametrize(
    ("style", "text", "per_name"),
    [
        (regex, r"re:.*mlp\.(gate|up)_proj.*", False),
        (regex, r".*layers\.\d\..*", True),
        (regex, r".*layers\.[1-3]\..*", True),
        (regex, r"model.layers.1.mlp", True),
        (glob, "*self_attn*", False),
        (glob, "model.layers.?.*", True),
        (anywhere, "visual", False),
        (named, "layers.0", True),
    ],
)
def test_whether_modules_of_one_template_may_differ(style: object, text: str, per_name: bool) -> None:
    assert Patterns([text], style, "").per_name is per_name  # type: ignore[arg-type]


def test_notes_on_unusable_patterns_are_few_and_name_the_place() -> None:
    patterns = Patterns(["("] * 50 + ["a"], regex, "config.json:ignore")
    assert [n.code for n in patterns.notes] == ["unusable_pattern"] * 6
    assert {n.where for n in patterns.notes} == {"config.json:ignore"}
    assert "45 more" in patterns.notes[-1].message
    assert "a" in patterns
