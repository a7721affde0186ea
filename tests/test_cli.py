"""The command line: words, exit status, where output goes, and what a person never sees."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from inspector import __version__, cli, output, request
from inspector.commands import COMMANDS, load
from inspector.errors import MalformedFile, SourceError, UnsupportedFile, UsageError
from inspector.model import Progress, Report
from inspector.model.fit_model import Workload
from inspector.render import FORMATS
from tests.render.samples import UNKNOWN, V41, hostile

Inspect = Callable[..., Report]

ANSWERS: Mapping[str, Report | BaseException] = {
    "org/good": V41,
    "org/other": replace(V41, repo="org/other"),
    "org/partial": UNKNOWN,
    "org/hostile": hostile(),
    "org/gone": SourceError("org/gone", "no such repo, or private without a token", "Check the name"),
    "org/bad": MalformedFile("a.safetensors", "header says 9 bytes, file has 8", offset=0),
    "org/odd": UnsupportedFile("a.xyz", "cannot be read"),
    "org/usage": UsageError("--variant", "there is no fp3"),
    "org/escape": SourceError("\x1b[2Jx\ny", "gone"),
    "org/crash": ZeroDivisionError("division by zero"),
    "schema": replace(V41, repo="schema"),
}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, dict[str, Any]]]]:
    """Calls of `inspect`, which answers from ANSWERS."""
    calls: list[tuple[str, dict[str, Any]]] = []

    def fake(repo: str, **options: Any) -> Report:
        calls.append((repo, options))
        if options["progress"] is not None:
            options["progress"](Progress("headers", 1, 2, 300))
        if options["trace"] is not None:
            options["trace"](f"GET {repo}\x1b")
        found = ANSWERS[repo]
        if isinstance(found, BaseException):
            raise found
        return found

    module = ModuleType("inspector.inspection")
    module.inspect = fake  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "inspector.inspection", module)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    yield calls


Asked = list[tuple[str, dict[str, Any]]]
Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("args", "status"),
    [
        ("org/good", 0),
        ("org/good org/other", 0),
        ("org/partial", 3),
        ("org/gone", 3),
        ("org/bad", 3),
        ("org/odd", 3),
        ("org/usage", 2),
        ("org/good org/gone", 3),
        ("org/gone org/usage", 2),
        ("org/usage org/partial org/good", 2),
        ("org/crash", 3),
        ("--nonsense org/good", 2),
        ("--format yaml org/good", 2),
        ("--jobs 0 org/good", 2),
        ("--timeout 0 org/good", 2),
        ("--format json", 2),
        ("", 2),
        ("--help", 0),
        ("--version", 0),
        ("schema", 0),
        ("schema extra", 2),
    ],
)
def test_exit_status(args: str, status: int, asked: Asked) -> None:
    assert cli.main(args.split()) == status


def test_options_reach_the_library(asked: Asked) -> None:
    where = "--revision r --repo-type dataset --variant v --token t --endpoint u"
    how = "--match *.w --metadata --timeout 1.5 --jobs 3 --offline"
    assert cli.main([*where.split(), *how.split(), "org/good"]) == 0
    ((repo, options),) = asked
    assert repo == "org/good"
    assert options == {
        "revision": "r",
        "repo_type": "dataset",
        "variant": "v",
        "tensors": True,
        "match": "*.w",
        "metadata": True,
        "token": "t",
        "endpoint": "u",
        "timeout": 1.5,
        "jobs": 3,
        "offline": True,
        "cached": True,
        "clusters": (),
        "workload": Workload(),
        "survey": False,
        "progress": None,
        "trace": None,
        "ahead": None,
    }


def test_what_was_not_said_is_left_to_the_library(asked: Asked) -> None:
    assert cli.main(["org/good"]) == 0
    options = dict(asked[0][1])
    assert options.pop("clusters") == ()
    assert options.pop("workload") == Workload()
    assert options.pop("cached") is True
    assert set(options.values()) == {None, False}


def test_no_cache_reaches_the_library(asked: Asked) -> None:
    assert cli.main(["--no-cache", "org/good"]) == 0
    assert asked[0][1]["cached"] is False


def test_the_workload_reaches_the_library(asked: Asked) -> None:
    what = "--cluster 2x dgx-spark --cluster=h200 --context 1000 --sequences 2 --kv-dtype fp8 --engine sglang"
    how = "--placement pp --utilization 0.8 --reserve 4GiB --offload memory=disk --without vision --with-draft"
    assert cli.main([*what.split(), *how.split(), "org/good"]) == 0
    ((_, options),) = asked
    assert [c.text for c in options["clusters"]] == ["2x dgx-spark", "1x h200-141"]
    assert options["workload"] == Workload(
        1000, 2, "fp8", "sglang", "pp", 0.8, 4 * 2**30, {"memory": "disk"}, ("vision",), True
    )


@pytest.mark.parametrize(
    ("args", "joined"),
    [
        ("--cluster 2x dgx-spark x/y", ["--cluster", "2x dgx-spark", "x/y"]),
        ("--cluster 2 h200 x/y", ["--cluster", "2 h200", "x/y"]),
        ("--cluster=2x dgx-spark", ["--cluster=2x dgx-spark"]),
        ("--cluster 2xh100 x/y", ["--cluster", "2xh100", "x/y"]),
        ("--cluster h200 2x", ["--cluster", "h200", "2x"]),
        ("x/y --cluster 2x --tensors", ["x/y", "--cluster", "2x", "--tensors"]),
    ],
)
def test_a_bare_count_takes_the_next_word(args: str, joined: list[str]) -> None:
    assert cli.joined(args.split()) == joined


@pytest.mark.parametrize(
    "args",
    [
        "--cluster 0x h200",
        "--cluster h2000",
        "--cluster h200 --reserve much",
        "--cluster h200 --offload memory",
        "--cluster h200 --without engram",
        "--cluster h200 --engine ollama",
        "--kv-dtype fp3",
        "--require-fit",
    ],
)
def test_wrong_questions_are_status_2(args: str, asked: Asked, capsys: Capture) -> None:
    assert cli.main([*args.split(), "org/good"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize(
    ("args", "repos"),
    [
        ("--format json org/good", ["org/good"]),
        ("org/good --format json", ["org/good"]),
        ("-q org/good schema", ["org/good", "schema"]),
        ("-- schema", ["schema"]),
        ("--revision schema org/good", ["org/good"]),
        ("-qv --variant schema org/good", ["org/good"]),
        ("schema", []),
        ("schema --help", []),
    ],
)
def test_only_the_first_word_may_be_a_subcommand(args: str, repos: list[str], asked: Asked) -> None:
    assert cli.main(args.split()) == 0
    assert [repo for repo, _ in asked] == repos


@pytest.mark.parametrize(
    ("args", "at"),
    [
        (["-o", "x", "w"], 2),
        (["-ox", "w"], 1),
        (["-qo", "x", "w"], 2),
        (["-qox", "w"], 1),
        (["--output=x", "w"], 1),
        (["-", "w"], 0),
        (["--", "w"], None),
        (["-o", "w"], None),
        ([], None),
    ],
)
def test_first_word(args: list[str], at: int | None) -> None:
    assert cli.first_word(cli.command.params, args) == at


def test_one_repo_that_fails_does_not_lose_the_others(asked: Asked, capsys: Capture) -> None:
    assert cli.main(["org/good", "org/gone", "org/other", "--format", "json"]) == 3
    out, err = capsys.readouterr()
    assert [r["repo"] for r in json.loads(out)["reports"]] == [V41.repo, "org/other"]
    assert err == "inspect: org/gone: no such repo, or private without a token. Check the name\n"


def test_json_is_printed_even_where_nothing_could_be_read(asked: Asked, capsys: Capture) -> None:
    assert cli.main(["org/gone", "--format", "json"]) == 3
    assert json.loads(capsys.readouterr().out) == {"schema_version": 1, "reports": []}


def test_incomplete_is_said_on_standard_error_too(asked: Asked, capsys: Capture) -> None:
    assert cli.main(["org/partial", "--format", "csv"]) == 3
    assert capsys.readouterr().err == "inspect: org/partial: a Git LFS pointer stands where the file should be\n"


@pytest.mark.parametrize("args", ["org/escape", "org/crash", "--format \x1b[2J org/good", "--\u202ex"])
def test_an_error_is_one_printable_line(args: str, asked: Asked, capsys: Capture) -> None:
    assert cli.main(args.split(" ")) in (2, 3)
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"inspect: .+\n", err)
    assert err[:-1].isprintable()


def test_a_fault_of_the_program_shows_its_traceback_only_where_asked(asked: Asked, capsys: Capture) -> None:
    assert cli.main(["org/crash"]) == 3
    assert capsys.readouterr().err == (
        "inspect: internal error: ZeroDivisionError: division by zero; please report it; -v shows the traceback\n"
    )
    assert cli.main(["org/crash", "-v"]) == 3
    assert "Traceback (most recent call last):" in capsys.readouterr().err


def test_verbose_explains_each_request_on_standard_error(asked: Asked, capsys: Capture) -> None:
    assert cli.main(["-v", "org/good"]) == 0
    out, err = capsys.readouterr()
    assert err == "GET org/good\\x1b\n"
    assert out.startswith("deepseek-ai/DeepSeek-V4.1-Flash @ dba1be0a40aa\n")


@pytest.mark.parametrize("form", FORMATS)
def test_hostile_names_are_printable_in_every_format(form: str, asked: Asked, capsys: Capture) -> None:
    assert cli.main(["org/hostile", "--format", form]) == 3
    assert all(line.isprintable() for line in capsys.readouterr().out.split("\n"))


# --- where output goes


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("x.json", '{\n  "schema_version": 1'),
        ("x.md", "## deepseek-ai"),
        ("x.markdown", "## deepseek-ai"),
        ("x.CSV", "repo,revision"),
        ("x.txt", "deepseek-ai/"),
        ("x", "deepseek-ai/"),
    ],
)
def test_the_suffix_names_the_format(name: str, start: str, asked: Asked, tmp_path: Path, capsys: Capture) -> None:
    assert cli.main(["org/good", "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / name).read_text("utf-8").startswith(start)
    assert [p.name for p in tmp_path.iterdir()] == [name]
    assert capsys.readouterr() == ("", "")


def test_a_format_that_was_said_wins_over_the_suffix(asked: Asked, tmp_path: Path) -> None:
    assert cli.main(["org/good", "--format", "csv", "-o", str(tmp_path / "x.json")]) == 0
    assert (tmp_path / "x.json").read_text("utf-8").startswith("repo,revision")


def test_a_file_never_holds_colours(asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert cli.main(["org/good", "-o", str(tmp_path / "x")]) == 0
    assert "\x1b" not in (tmp_path / "x").read_text("utf-8")


def test_a_file_stays_as_it_was_where_writing_fails(
    asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    target = tmp_path / "x.json"
    target.write_text("before", "utf-8")

    def full(self: Path, data: bytes) -> int:
        with self.open("wb") as file:
            file.write(data[:5])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert cli.main(["org/good", "-o", str(target)]) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert target.read_text("utf-8") == "before"
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_stays_as_it_was_where_nothing_is_known(asked: Asked, tmp_path: Path) -> None:
    target = tmp_path / "x.json"
    target.write_text("before", "utf-8")
    assert cli.main(["org/gone", "-o", str(target)]) == 3
    assert target.read_text("utf-8") == "before"


def test_an_unwritable_output_is_said_before_any_work(asked: Asked, tmp_path: Path, capsys: Capture) -> None:
    for path in (tmp_path / "no" / "x.json", tmp_path):
        assert cli.main(["org/good", "-o", str(path)]) == 2
        assert capsys.readouterr().err.startswith(f"inspect: --output {path}: ")
    assert asked == []


def test_a_link_a_mode_and_a_device_survive(asked: Asked, tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("before", "utf-8")
    real.chmod(0o640)
    link.symlink_to(real)
    assert cli.main(["org/good", "-o", str(link)]) == 0
    assert link.is_symlink()
    assert real.read_text("utf-8").startswith("deepseek-ai/")
    assert real.stat().st_mode & 0o777 == 0o640
    assert cli.main(["org/good", "-o", "/dev/null"]) == 0
    assert Path("/dev/null").is_char_device()


class Terminal:
    def __init__(self, *, is_terminal: bool) -> None:
        self.is_terminal = is_terminal

    def isatty(self) -> bool:
        return self.is_terminal


@pytest.mark.parametrize(
    ("environ", "plain", "terminal", "expected"),
    [
        ({}, False, True, True),
        ({}, False, False, False),
        ({}, True, True, False),
        ({"NO_COLOR": "1"}, False, True, False),
        ({"NO_COLOR": ""}, False, True, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False, True, False),
        ({"FORCE_COLOR": "1"}, False, False, True),
        ({"FORCE_COLOR": "1"}, True, False, False),
        ({"TERM": "dumb"}, False, True, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, False, True, True),
    ],
)
def test_when_colours_are_used(environ: dict[str, str], plain: bool, terminal: bool, expected: bool) -> None:
    stream: Any = Terminal(is_terminal=terminal)
    assert output.colour(stream, environ, plain=plain) is expected


def test_width_is_80_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "132")
    outside: Any = Terminal(is_terminal=False)
    inside: Any = Terminal(is_terminal=True)
    assert (output.width(outside), output.width(inside)) == (80, 132)


# --- help and registry


def test_help_shows_commands_status_and_environment(capsys: Capture) -> None:
    assert cli.main(["--help"]) == 0
    text = capsys.readouterr().out
    first = text.index("inspect deepseek-ai/DeepSeek-V4.1-Flash")
    assert first < text.index("Options:") < text.index("Commands:") < text.index("Exit status:")
    assert len(re.findall(r"^  inspect ", text, re.MULTILINE)) == 3
    for word in (*COMMANDS, "HF_TOKEN", "HF_ENDPOINT", "HF_HUB_OFFLINE", "NO_COLOR", "FORCE_COLOR"):
        assert word in text
    assert all(len(line) <= 80 for line in text.splitlines())


def test_every_command_loads_and_helps() -> None:
    for word in COMMANDS:
        assert load(word).name == word
        assert load(word).help


def test_formats_are_those_of_the_renderers() -> None:
    assert request.FORMATS == FORMATS


def test_version_and_schema(capsys: Capture) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"inspect {__version__}\n"
    assert cli.main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out)["$schema"] == "https://json-schema.org/draft/2020-12/schema"


# --- as a process

FAKE = """
import sys, time, types
import tests.render.samples as samples
module = types.ModuleType("inspector.inspection")
def inspect(repo, **options):
    if repo == "wait":
        print("waiting", flush=True)
        time.sleep(30)
    return samples.V41
module.inspect = inspect
sys.modules["inspector.inspection"] = module
from inspector.cli import main
sys.exit(main())
"""


def run(*args: str, code: str = FAKE, **environ: str) -> subprocess.CompletedProcess[bytes]:
    clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    return subprocess.run(
        [sys.executable, "-c", code, *args], capture_output=True, check=False, timeout=60, env={**clean, **environ}
    )


def test_help_imports_neither_network_nor_report() -> None:
    code = "import sys; from inspector.cli import main; main(['--help']); print(*sys.modules, file=sys.stderr)"
    loaded = run(code=code).stderr.decode().split()
    assert "click" in loaded
    heavy = {"urllib3", "huggingface_hub", "tqdm", "json", "gguf", "numpy", "safetensors", "inspector.model"}
    assert heavy.isdisjoint(loaded)


def test_a_pipe_sees_no_colour_and_no_progress() -> None:
    done = run("org/name")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\x1b" not in done.stdout
    assert b"\x1b[1m" in run("org/name", FORCE_COLOR="1").stdout


def test_a_locale_without_the_characters_shows_escapes() -> None:
    done = run("org/name", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert b"48 files \\xb7 763.21 B parameters" in done.stdout


def test_ctrl_c_is_one_line_and_130(tmp_path: Path) -> None:
    target = tmp_path / "x.json"
    process = subprocess.Popen(
        [sys.executable, "-c", FAKE, "wait", "-o", str(target)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"waiting\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert err.strip() == b"inspect: interrupted"
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_leaves_early_is_no_error() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", FAKE, *["org/name"] * 200, "--format", "json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(timeout=20) == 0


def test_a_full_disk_behind_standard_output_is_said() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full here: writing to a full disk was not tried")
    with full.open("wb") as out:
        done = subprocess.run(
            [sys.executable, "-c", FAKE, "org/name"], stdout=out, stderr=subprocess.PIPE, check=False, timeout=60
        )
    assert done.returncode == 2
    assert done.stderr == b"inspect: standard output: cannot be written: No space left on device\n"


def test_python_m_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "inspector", "--version"], capture_output=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, f"inspect {__version__}\n".encode())


def completions(*words: str, shell: str = "zsh") -> list[str]:
    line = " ".join(["inspect", *words])
    environ = {"_INSPECT_COMPLETE": f"{shell}_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words))}
    return run(**environ).stdout.decode().splitlines()


def test_completion_knows_words_options_and_choices() -> None:
    for shell, mark in (("bash", b"complete -o"), ("zsh", b"#compdef inspect"), ("fish", b"complete --no-files")):
        assert mark in run(_INSPECT_COMPLETE=f"{shell}_source").stdout
    assert "schema" in completions("sch")
    assert "schema" not in completions("org/name", "sch")
    assert "--format" in completions("--for")
    assert set(FORMATS) <= set(completions("--format", ""))
    assert "--output" in completions("schema", "--o")
    assert "--tensors" not in completions("schema", "--t")


def test_completion_in_bash_itself(tmp_path: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash here: its completion was not tried")
    command = tmp_path / "inspect"
    root = Path(__file__).parent.parent
    command.write_text(f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(root)!r})\n{FAKE}", "utf-8")
    command.chmod(0o755)
    script = """
source <(_INSPECT_COMPLETE=bash_source inspect)
compopt() { echo "files"; }
try() { COMPREPLY=(); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _inspect_completion inspect; echo "${COMPREPLY[*]}"; }
try inspect sch; try inspect ./s; try inspect --format js; try inspect schema --o
"""
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [bash, "--norc", "-c", script], capture_output=True, check=False, timeout=60, env={**os.environ, "PATH": path}
    )
    assert done.stdout.decode().split() == ["schema", "files", "json", "--output"]


# --- on a terminal


def on_a_terminal(*args: str, columns: int = 100, code: str = "", **environ: str) -> str:
    """What a terminal of that width receives from both streams."""
    pty = pytest.importorskip("pty", reason="no pseudo-terminals here: nothing was tried on a terminal")
    fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")
    master, slave = pty.openpty()
    fcntl.ioctl(
        slave, termios.TIOCSWINSZ, (24).to_bytes(2, sys.byteorder) + columns.to_bytes(2, sys.byteorder) + bytes(4)
    )
    keep = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM")}
    process = subprocess.Popen(
        [sys.executable, "-c", FAKE.replace("return", code or PROGRESS), *args],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**keep, "TERM": "xterm", **environ},
    )
    os.close(slave)
    received = b""
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError:
            break
        if not chunk:
            break
        received += chunk
    os.close(master)
    assert process.wait(timeout=20) == 0
    return received.decode()


@pytest.mark.parametrize(
    ("redirects", "status", "said"),
    [
        ("2>&-", 3, ""),
        (">&-", 2, "standard output: is closed"),
        (">&- 2>&-", 2, ""),
        ("-v 2>&1 >/dev/null | head -1", 0, "inspect: "),
        ("-v 2>/dev/full", 3, ""),
    ],
)
def test_a_closed_or_broken_stream_is_no_fault_of_the_program(
    redirects: str, status: int, said: str, tmp_path: Path
) -> None:
    line = f"set -o pipefail; {sys.executable} -m inspector ./absent ./absent2 ./absent3 {redirects}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, timeout=60)
    assert "internal error" not in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert said in done.stdout + done.stderr
    assert done.returncode == (3 if "head" in redirects else status)


def test_an_empty_output_is_refused_before_anything_is_read() -> None:
    with pytest.raises(UsageError, match="--output: is empty"):
        output.check("")


def test_the_library_s_names_are_listed_before_they_are_imported() -> None:
    code = "import inspector; print('inspect' in dir(inspector), 'Report' in dir(inspector))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]


PROGRESS = """if options["progress"]:
        from inspector.model import Progress
        options["progress"](Progress("list", 0, 0, 0))
        options["progress"](Progress("read\\x1b headers", 24, 48, 6_500_000, ("a/x\\x1b.safetensors", "b", "c")))
    return"""


def test_a_terminal_sees_progress_and_colours_in_its_width() -> None:
    shown = on_a_terminal("org/name", columns=140)
    assert "read\\x1b headers:  50%" in shown
    assert "24/48" in shown
    assert "6.50 MB, waiting for x\\x1b.safetensors +2" in shown
    assert "\x1b[1mdeepseek-ai/DeepSeek-V4.1-Flash @ dba1be0a40aa\x1b[0m" in shown
    assert "of which overhead" in shown


SLOW = """if options["progress"]:
        time.sleep(1.1)
        from inspector.model import Progress
        options["progress"](Progress("read headers", 1, 2, 300))
        time.sleep(1.2)
    return"""


def test_a_terminal_sees_what_is_waited_for_before_anything_is_known() -> None:
    shown = on_a_terminal("org/" + "n" * 200, code=SLOW, columns=60)
    lines = re.split("[\r\n]", shown)
    (first, *more) = [line for line in lines if line.startswith("listing org/nnn")]
    assert first.endswith("nnn [00:00]") and "…" in first
    assert more
    assert all(len(line) < 60 for line in [first, *more])
    # The line is erased before the bar stands there, and the bar's clock runs while nothing comes in.
    assert shown.index("\r\x1b[K") < shown.index("read headers:")
    bars = [line for line in lines if line.startswith("read headers:")]
    assert len(set(re.findall(r"\[(\d\d:\d\d)", " ".join(bars)))) > 1


def test_what_is_quick_says_nothing_on_its_way() -> None:
    assert "listing" not in on_a_terminal("org/name")


@pytest.mark.parametrize("flag", ["-q", "--plain"])
def test_quiet_and_plain_say_nothing_on_the_way(flag: str) -> None:
    slow = "time.sleep(1)\n    return"
    assert on_a_terminal("org/name", flag, "--plain", code=slow).startswith("deepseek-ai/DeepSeek-V4.1-Flash @ dba")
    assert "listing org/name [00:00]" in on_a_terminal("org/name", code=slow)


def test_quiet_plain_and_a_dumb_terminal() -> None:
    for shown in (on_a_terminal("org/name", "-q", "--plain"), on_a_terminal("org/name", TERM="dumb")):
        assert shown.startswith("deepseek-ai/DeepSeek-V4.1-Flash @ dba1be0a40aa\r\n")
        assert "\x1b" not in shown
    assert "headers:" in on_a_terminal("org/name", NO_COLOR="1")
