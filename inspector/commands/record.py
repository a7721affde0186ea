"""`inspect record REPO... -o FILE`: keep what a report reads, to make it again without a network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from inspector import __version__, answer, output
from inspector.errors import InspectorError, UsageError
from inspector.progress import shown
from inspector.saving import complain, said, save

if TYPE_CHECKING:
    from inspector.claim.claim_model import Setting
    from inspector.snapshots.snapshot import Snapshot


@click.command("record", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("repos", nargs=-1, required=True, metavar="REPO...")
@click.option("-o", "--output", "path", type=click.Path(), metavar="FILE", required=True, help="The snapshot, a .zip.")
@click.option("--revision", metavar="R", help="Branch, tag, commit or refs/pr/N; as does REPO@R.")
@click.option("--repo-type", type=click.Choice(["model", "dataset", "space"]), help="What REPO is on the Hub.")
@click.option("--variant", "variants", multiple=True, metavar="NAME|PATH", help="Other sets of weights; repeatable.")
@click.option("--recipe", type=click.Path(), metavar="FILE", help="Write its figures too, for `inspect check FILE`.")
@click.option("--cluster", metavar="C", help='For the recipe: whether it fits, as in "2x dgx-spark".')
@click.option(
    "--placement", type=click.Choice(["tp", "pp", "ep", "dp", "layers"]), help="For the recipe: of weights on devices."
)
@click.option("--context", type=click.IntRange(min=1), metavar="N", help="For the recipe: tokens of one sequence.")
@click.option("--kv-dtype", metavar="D", help="For the recipe: dtype of the cache.")
@click.option("--token", metavar="T", help="Hub token; HF_TOKEN keeps it out of the process list. Never recorded.")
@click.option("--endpoint", metavar="URL", help="Another Hub.")
@click.option(
    "--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="Total deadline of each repo."
)
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Files read at once of each repo.")
@click.option("--offline", is_flag=True, help="Local files and the cache only.")
@click.option("-q", "--quiet", is_flag=True, help="No progress bar.")
@click.option("-v", "--verbose", is_flag=True, help="Explain each request on standard error.")
def command(
    repos: tuple[str, ...],
    path: str,
    revision: str | None,
    repo_type: str | None,
    variants: tuple[str, ...],
    recipe: str | None,
    cluster: str | None,
    placement: str | None,
    context: int | None,
    kv_dtype: str | None,
    quiet: bool,
    **options: Any,
) -> int:
    """Record what a report of each REPO reads into one FILE, and replay it with no network.

    \b
      inspect record org/name -o name.zip && inspect name.zip
      inspect record org/one org/two -o both.zip && inspect both.zip#org/two
      inspect record org/name -o name.zip --recipe name.toml --cluster "2x dgx-spark"
      inspect check name.toml --locked name.zip

    FILE holds the listing, headers, configs and index of each repo at its commit,
    no weights and no token; the same repos give the same bytes.
    """
    from inspector import address
    from inspector.claim.claim_model import Setting
    from inspector.locking import record_all
    from inspector.opening import opener
    from inspector.snapshots.snapshot import from_bytes

    output.check(path)
    output.check(recipe)
    setting = Setting(context, kv_dtype, cluster, placement)
    _check_recipe(recipe, setting)
    words = list(answer.each(repos))
    where = [address.parse(w, revision=revision, kind=repo_type, endpoint=options["endpoint"]) for w in words]
    wanted = dict.fromkeys(where, variants or (None,))
    with shown(quiet=quiet or options["verbose"], first=f"recording {len(wanted):,} repos") as progress:
        found = record_all(wanted, opener(**options), progress)
    usage = [e for r in found.recordings for e in r.problems if isinstance(e, UsageError)]
    if usage:
        raise usage[0]
    if not found.recordings:
        complain(found)
        answer.complain(f"{path}: not written, since there is nothing to record")
        return 3
    snapshot = from_bytes(found.file(__version__, refusals=False), Path(path))
    text = None if recipe is None else _recipe(snapshot, path, recipe, setting)
    save(snapshot, path)
    if recipe is not None and text is not None:
        output.emit(text, recipe)
    complain(found)
    said(found, snapshot, path)
    return 3 if found.unread else 0


def _check_recipe(recipe: str | None, setting: Setting) -> None:
    """Refuse a setting without a recipe, and a cluster that is not known before anything is read."""
    flags = {
        "--cluster": setting.cluster,
        "--placement": setting.placement,
        "--context": setting.context,
        "--kv-dtype": setting.kv_dtype,
    }
    given = [name for name, value in flags.items() if value is not None]
    if given and recipe is None:
        raise UsageError(given[0], "says something of a recipe, and none is written", "Add --recipe FILE.")
    if setting.placement is not None and setting.cluster is None:
        raise UsageError("--placement", "says nothing without a cluster", 'Name one: --cluster "2x dgx-spark".')
    if setting.cluster is not None:
        from inspector.fitting.cluster import parse_cluster

        parse_cluster(setting.cluster)


def _recipe(snapshot: Snapshot, path: str, recipe: str, setting: Setting) -> str:
    from inspector.claim.claim_model import Subject
    from inspector.claims import reports_for
    from inspector.snapshots import recipe as recipes
    from inspector.sources.snapshot import opener

    subjects = []
    for recorded in snapshot.repos:
        ref, asked = recorded.listing.ref, recorded.asked
        prefix = {"dataset": "datasets/", "space": "spaces/"}.get(ref.kind, "")
        single = None if ref.kind == "local" else asked.path
        subjects += [Subject(prefix + asked.name, ref.revision, variant or single) for variant in recorded.variants]
    measured = reports_for(subjects, opener(snapshot), fits=frozenset(subjects if setting.cluster else ())).found
    found: list[recipes.Figure] = []
    for subject in subjects:
        repo = measured[subject]
        if isinstance(repo, InspectorError):
            raise repo
        found += recipes.figures(subject, repo, setting)
    words = (
        f"Measured by inspect {__version__}. Hold it against the Hub, or against what was recorded, with\n"
        f"  inspect check {_word(recipe)}\n  inspect check {_word(recipe)} --locked {_word(path)}"
    )
    return recipes.write(found, words)


def _word(path: str) -> str:
    from shlex import quote

    from inspector.escape import terminal

    return terminal(quote(path))
