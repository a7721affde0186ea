"""The `inspect` command: its words, its options and its exit status. What it does is in `answer` and `commands/`."""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from inspector import __version__, answer
from inspector.commands import COMMANDS, load
from inspector.request import FORMATS, Request

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

EXIT_STATUS = (
    ("0", "everything asked for holds"),
    ("1", "something asked does not hold"),
    ("2", "your own flags or table are wrong"),
    ("3", "it could not be established: network, gated, missing, or a malformed checkpoint"),
    ("130", "interrupted"),
)
"""What a status means; of several the first in 2, 1, 3, 0 counts."""

ENVIRONMENT = (
    ("HF_TOKEN, HF_TOKEN_PATH", "the token, or the file that holds it, as for hf"),
    ("HF_ENDPOINT", "the Hub's address"),
    ("HF_HUB_OFFLINE", "1: no request leaves this machine"),
    ("HF_HOME, HF_HUB_CACHE", "where downloaded snapshots are"),
    ("NO_COLOR, FORCE_COLOR", "never colours, always colours"),
)
"""Environment variables that `--help` names."""


class Inspect(click.Command):
    """A command whose first word may be a subcommand's; any other word is a repo.

    click's own groups cannot take a repo where a subcommand may stand. Options may come before the word.
    """

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """The subcommand's context where the first word is one, else that of the repos."""
        at = first_word(self.params, args)
        if at is None or args[at] not in COMMANDS:
            return super().make_context(info_name, args, parent, **extra)
        rest = [*args[:at], *args[at + 1 :]]
        return load(args[at]).make_context(f"{info_name} {args[at]}", rest, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that `make_context` chose."""
        return super().invoke(ctx) if ctx.command is self else ctx.command.invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Options, then commands, exit status and environment."""
        super().format_options(ctx, formatter)
        for title, rows in (
            ("Commands", COMMANDS.items()),
            ("Exit status", EXIT_STATUS),
            ("Environment", ENVIRONMENT),
        ):
            with formatter.section(title):
                formatter.write_dl(list(rows))


def first_word(params: Iterable[click.Parameter], args: Sequence[str]) -> int | None:
    """Where the first argument stands that is neither an option nor an option's value; None after `--`."""
    options = [p for p in params if isinstance(p, click.Option) and not p.is_flag and not p.count]
    valued = {name for option in options for name in option.opts}
    skip = False
    for at, arg in enumerate(args):
        if skip:
            skip = False
        elif arg == "--":
            return None
        elif arg == "-" or not arg.startswith("-"):
            return at
        elif arg.startswith("--"):
            skip = arg in valued
        else:
            # `-qo FILE`: the first letter that takes a value takes what follows it, here or in the next word.
            taker = next((i for i, letter in enumerate(arg[1:], 1) if f"-{letter}" in valued), None)
            skip = taker == len(arg) - 1
    return None


def joined(args: Sequence[str]) -> list[str]:
    """Arguments in which a cluster's bare count takes the next word: `--cluster 2x dgx-spark` needs no quotes."""
    words: list[str] = []
    for word in args:
        before = words[-1] if words else ""
        flag, _, value = before.rpartition("=") if before.startswith("--cluster=") else ("", "", before)
        owner = flag or (words[-2] if len(words) > 1 else "")
        if (
            owner == "--cluster"
            and re.fullmatch(r"\d+\s*x?", value.strip(), re.IGNORECASE)
            and not word.startswith("-")
        ):
            words[-1] = f"{before} {word}"
        else:
            words.append(word)
    return words


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    words = [] if ctx.params.get("repos") else [w for w in COMMANDS if w.startswith(incomplete)]
    # Not both: click's script for bash forgets the words when it is told to complete files.
    return [CompletionItem(w, help=COMMANDS[w]) for w in words] or [CompletionItem(incomplete, type="file")]


_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.argument("repos", nargs=-1, required=True, metavar="REPO...", shell_complete=_complete),
    click.option("--revision", metavar="R", help="Branch, tag, commit or refs/pr/N; as does REPO@R."),
    click.option("--repo-type", type=click.Choice(["model", "dataset", "space"]), help="What REPO is on the Hub."),
    click.option(
        "--variant", metavar="NAME|PATH", help="Another of the repo's sets of weights; all: read every quant."
    ),
    click.option("--format", "form", type=click.Choice(FORMATS), help="By default what FILE's suffix says, else text."),
    click.option("-o", "--output", type=click.Path(), metavar="FILE", help="Write to FILE, whole or not at all."),
    click.option("--tensors", is_flag=True, help="List every stored tensor."),
    click.option("--match", metavar="GLOB", help="List the stored tensors whose name matches."),
    click.option("--metadata", is_flag=True, help="Show the headers' own key-values."),
    click.option(
        "--cluster", "clusters", multiple=True, metavar="CLUSTER", help='Does it fit, as in "2x dgx-spark"; repeatable.'
    ),
    click.option("--context", type=click.IntRange(min=1), default=8192, metavar="N", help="Tokens; 8192 by default."),
    click.option("--sequences", type=click.IntRange(min=1), default=1, metavar="N", help="At once; 1 by default."),
    click.option("--kv-dtype", metavar="D", help="Of the cache: bf16, fp8, fp8_ds_mla, q8_0 ..."),
    click.option("--engine", metavar="E", help="vllm, sglang, llama.cpp, mlx or tensorrt-llm."),
    click.option("--placement", type=click.Choice(["tp", "pp", "ep", "dp", "layers"]), help="Of weights on devices."),
    click.option("--utilization", type=float, metavar="F", help="Fraction of memory that the engine may take."),
    click.option("--reserve", metavar="SIZE", help="Kept free on each device, as 4GiB."),
    click.option("--offload", multiple=True, metavar="PART=host|disk", help="A part that is not resident; repeatable."),
    click.option("--without", multiple=True, metavar="PART", help="A part that is not loaded; repeatable."),
    click.option("--with-draft", is_flag=True, help="Count the cache of draft layers too."),
    click.option("--hardware", type=click.Path(), metavar="FILE", help="More hardware, as rows of TOML."),
    click.option("--require-fit", is_flag=True, help="Exit 1 unless it fits every cluster, 3 if unknown."),
    click.option("--token", metavar="T", help="Hub token; HF_TOKEN keeps it out of the process list."),
    click.option("--endpoint", metavar="URL", help="Another Hub."),
    click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        metavar="SECONDS",
        help="For all requests of one repo together.",
    ),
    click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Files read at once."),
    click.option("--offline", is_flag=True, help="Local files and the cache only."),
    click.option("--no-cache", is_flag=True, help="Read everything anew, and keep nothing of it."),
    click.option("--plain", is_flag=True, help="No colours, bars or progress: for screen readers, logs."),
    click.option("-q", "--quiet", is_flag=True, help="No progress bar."),
    click.option("-v", "--verbose", is_flag=True, help="Explain each request on standard error."),
)


def _inspect(**options: Any) -> int:
    """Tell the truth about a model checkpoint before anyone downloads it.

    \b
    inspect deepseek-ai/DeepSeek-V4.1-Flash      what ships and how precise
    inspect org/one org/two ./folder             several, side by side
    inspect org/name --tensors -o report.json    every tensor, for a script

    REPO is org/name, org/name@revision, a Hub URL, a folder or a file. Only headers
    are read, never weights.
    """
    return answer.run(Request(**options))


def _command() -> Inspect:
    callback: Any = _inspect
    for option in reversed(_OPTIONS):
        callback = option(callback)
    callback = click.version_option(__version__, message="%(prog)s %(version)s")(callback)
    names = {"help_option_names": ["-h", "--help"]}
    return click.command("inspect", cls=Inspect, context_settings=names)(callback)


command = _command()
"""The click command, for completion and documentation."""


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status; nothing but a line reaches a person, never a traceback."""
    words = joined(sys.argv[1:] if args is None else args)
    # A short run makes few cycles: look for them seldom, not after every 700 objects.
    gc.set_threshold(50_000, 20, 100)

    def run() -> int:
        try:
            status = command.main(words or ["--help"], prog_name="inspect", standalone_mode=False)
        except click.Abort:
            raise KeyboardInterrupt from None
        except click.ClickException as error:
            advice = "" if error.exit_code != 2 else " (inspect --help shows the options)"
            answer.complain(f"{error.format_message().rstrip('.')}{advice}")
            return 2
        return status if words and isinstance(status, int) else 0 if words else 2

    return answer.ended(run, verbose=bool({"-v", "--verbose"} & set(words)))
