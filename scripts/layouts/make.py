"""`scripts/make_fixtures [--check] [REPO ...]`: write every fixture, or say which ones differ from the layouts."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from scripts.layouts import (
    deepseek_v3,
    deepseek_v4,
    deepseek_v41,
    diffusion,
    glm53,
    gpt_oss,
    kimi,
    llama,
    sentence,
)
from scripts.layouts.recording import Contradiction, Recording
from tests.loopback import fixture

BUDGET = 8_000_000
"""Bytes that all fixtures together may take in git."""

LAYOUTS: Mapping[str, Callable[[], Recording]] = {
    "deepseek-ai/DeepSeek-V4.1-Flash": deepseek_v41.record,
    "deepseek-ai/DeepSeek-V3": deepseek_v3.record,
    "deepseek-ai/DeepSeek-V4-Flash-0731": deepseek_v4.record_flash,
    "deepseek-ai/DeepSeek-V4-Pro": deepseek_v4.record_pro,
    "zai-org/GLM-5.3-Flash": glm53.record_fp8,
    "zai-org/GLM-5.3-Flash-BF16": glm53.record_bf16,
    "openai/gpt-oss-20b": gpt_oss.record_20b,
    "openai/gpt-oss-120b": gpt_oss.record_120b,
    "moonshotai/Kimi-K2.5": kimi.record,
    "meta-llama/Llama-3.1-8B": llama.record,
    "example/llama-3.1-8b-lora": llama.record_adapter,
    "example/sentence-encoder": sentence.record,
    "example/stable-diffusion-1": diffusion.record,
}


def main(argv: list[str] | None = None) -> int:
    """Exit status 1 where a figure contradicts its publication, a fixture differs, or the budget is passed."""
    parser = argparse.ArgumentParser(prog="scripts/make_fixtures", description=__doc__)
    parser.add_argument("repos", nargs="*", metavar="REPO", help="only these (default: all)")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where files on disk differ")
    parser.add_argument("--root", type=Path, default=fixture.FIXTURES, help="where to write (default: %(default)s)")
    args = parser.parse_args(argv)
    unknown = sorted(set(args.repos) - set(LAYOUTS))
    if unknown:
        print(f"no layout for {', '.join(unknown)}; there are: {', '.join(LAYOUTS)}", file=sys.stderr)
        return 2
    bad = False
    for name in args.repos or LAYOUTS:
        begun = time.monotonic()
        try:
            recording = LAYOUTS[name]()
        except Contradiction as problem:
            print(f"contradiction: {problem}", file=sys.stderr)
            bad = True
            continue
        if args.check:
            same = _same(recording, name, args.root)
            bad |= not same
            print(f"{name}: {'as on disk' if same else 'differs from what is on disk'}")
        else:
            size = recording.write(args.root)
            print(f"{name}: {len(recording.tensors):,} tensors, {size:,} B, {time.monotonic() - begun:.1f} s")
    total = sum(p.stat().st_size for p in args.root.glob("*/*"))
    print(f"all fixtures: {total:,} B of {BUDGET:,}")
    return 1 if bad or total > BUDGET else 0


def _same(recording: Recording, name: str, root: Path) -> bool:
    """Compares what the archive holds, not its bytes, which depend on the version of liblzma."""
    where = fixture.folder(name, root)
    try:
        about, data = (where / "fixture.json").read_text("utf-8"), (where / "data.tar.xz").read_bytes()
    except FileNotFoundError:
        return False
    return about == fixture.readable(recording.describe()) and fixture.unpack(data) == recording.members()
