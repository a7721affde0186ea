"""Hand-made reports. V4.1-Flash's totals are the published ones; its cells are sums over its published layout.

Tensor counts of the cells are not rendered anywhere and stand as 1.
"""

from __future__ import annotations

from inspector.model import (
    Cell,
    Cost,
    DtypeTotal,
    Evidence,
    Excluded,
    File,
    Note,
    Prequantised,
    Report,
    TensorRow,
    Variant,
)

COMMIT = "dba1be0a40aa45f6f7d37b2c4e0c8d1e5a6b7c8d"
E8M0 = (("F8_E4M3",), ((32, 32),))
I8 = (("I8",), ((1, 32),))
BF16 = (("BF16",), ())
F32 = (("F32",), ())


def cell(
    component: str,
    precision: str | None,
    bits: float | None,
    parameters: int | None,
    weight: int,
    overhead: int,
    stored: tuple[tuple[str, ...], tuple[tuple[int, int], ...]],
) -> Cell:
    return Cell(component, precision, bits, *stored, 1, parameters, weight, overhead)


CELLS = (
    cell("routed_experts", "fp4_e2m1", 4.0, 543_581_798_400, 271_790_899_200, 16_986_931_200, I8),
    cell("memory", "fp8_e4m3", 8.0, 196_928_422_400, 196_928_422_400, 6_144_490_000, E8M0),
    cell("memory", "bf16", 16.0, 81_920, 163_840, 0, BF16),
    cell("draft", "fp4_e2m1", 4.0, 13_589_544_960, 6_794_772_480, 424_673_280, I8),
    cell("draft", "fp8_e4m3", 8.0, 564_801_536, 564_801_536, 551_424, E8M0),
    cell("draft", "bf16", 16.0, 68_137_472, 136_274_944, 0, BF16),
    cell("draft", "f32", 32.0, 2_950_242, 11_800_968, 0, F32),
    cell("attention", "fp8_e4m3", 8.0, 5_106_421_760, 5_106_421_760, 4_986_880, E8M0),
    cell("attention", "bf16", 16.0, 19_997_184, 39_994_368, 0, BF16),
    cell("attention", "f32", 32.0, 2_560, 10_240, 0, F32),
    cell("shared_experts", "fp8_e4m3", 8.0, 1_415_577_600, 1_415_577_600, 1_382_400, E8M0),
    cell("embedding", "bf16", 16.0, 661_928_960, 1_323_857_920, 0, BF16),
    cell("head", "bf16", 16.0, 661_913_600, 1_323_827_200, 0, BF16),
    cell("vision", "bf16", 16.0, 485_253_120, 970_506_240, 0, BF16),
    cell("router", "bf16", 16.0, 78_643_200, 157_286_400, 0, BF16),
    cell("router", "f32", 32.0, 30_720, 122_880, 0, F32),
    cell("norm", "bf16", 16.0, 486_400, 972_800, 0, BF16),
    cell("other", "f32", 32.0, 39_323_760, 157_295_040, 0, F32),
)

V41 = Report(
    repo="deepseek-ai/DeepSeek-V4.1-Flash",
    revision=COMMIT,
    format="safetensors",
    kind="model",
    incomplete=False,
    variant=None,
    files=48,
    tensors=96_085,
    file_bytes=510_296_708_312,
    tensor_bytes=510_286_023_000,
    parameters=763_205_315_794,
    bits_per_weight=8 * 510_286_023_000 / 763_205_315_794,
    prequantised=Prequantised(
        "yes",
        "fp8",
        "already quantised: FP8 dense, FP4 routed experts",
        (Evidence("config.json: expert_dtype", "fp4"),),
    ),
    dtypes=(
        DtypeTotal("I8", 47_232, 278_585_671_680),
        DtypeTotal("F8_E4M3", 357, 204_015_223_296),
        DtypeTotal("F8_E8M0", 47_589, 23_563_015_184),
        DtypeTotal("BF16", 520, 3_952_883_712),
        DtypeTotal("F32", 387, 169_229_128),
    ),
    cells=CELLS,
    menu=(),
    excluded=(),
    excluded_bytes=0,
    other_bytes=7_473_605,
    repo_bytes=510_304_181_917,
    index_total_size=510_286_023_000,
    hub_total=None,
    base_model=None,
    notes=(Note("expert_dtype", "config says fp4 at top level; the headers agree", "config.json"),),
    cost=Cost(requests=51, bytes_fetched=13_000_000, weight_bytes_read=1, seconds=1.25),
)

UNKNOWN = Report(
    repo="org/odd",
    revision=None,
    format="safetensors",
    kind="adapter",
    incomplete=True,
    variant="fp16",
    files=1,
    tensors=3,
    file_bytes=None,
    tensor_bytes=None,
    parameters=None,
    bits_per_weight=None,
    prequantised=Prequantised("unknown", None, "unknown: payloads of unknown precision"),
    dtypes=(DtypeTotal("Q9_X", 1, 100), DtypeTotal("I32", 1, 28), DtypeTotal("BF16", 1, 64)),
    cells=(
        cell("mlp", "unknown", None, None, 100, 0, (("Q9_X",), ())),
        cell("mlp", "bf16", 16.0, 32, 64, 0, BF16),
        cell("other", None, None, 0, 0, 28, (("I32",), ())),
    ),
    menu=(
        Variant("fp16", (File("a.fp16.safetensors", None),), default=True),
        Variant("full", (File("a.safetensors", 2_000_000),), False, 1_999_000, 999_500, True),
    ),
    excluded=(
        Excluded("original/", 13_761_300_984, "a second copy of the same weights in another layout"),
        Excluded("a.bin", None, "the same weights as a pickle"),
    ),
    excluded_bytes=None,
    other_bytes=12,
    repo_bytes=None,
    index_total_size=77,
    hub_total=33,
    base_model="org/base",
    notes=(Note("lfs_pointer", "a Git LFS pointer stands where the file should be"),),
    cost=Cost(cached_files=1, seconds=0.5),
    tensor_rows=(
        TensorRow("mlp.weight", "Q9_X", (10, 10), 100, "a.safetensors", "mlp", "unknown", "unknown"),
        TensorRow("mlp.up", "BF16", (), 64, "a.safetensors", "mlp", "bf16", "weight"),
        TensorRow("table", "I32", (7,), 28, "b.safetensors", "other", None, "overhead"),
    ),
)

HOSTILE = "\x1b[2J\u202eevil\nname|<script>alert(1)</script>`x`\x7f\x9b" + "長い名前" * 30 + "\ud800=cmd"
"""Escape sequence, bidi override, line feed, table and HTML markup, DEL, C1, wide characters, lone surrogate."""


def hostile(text: str = HOSTILE) -> Report:
    """A report in which everything that a repo can name is `text`."""
    return Report(
        repo=text,
        revision=text,
        format=text,
        kind=text,
        incomplete=True,
        variant=text,
        files=2,
        tensors=1,
        file_bytes=1,
        tensor_bytes=1,
        parameters=1,
        bits_per_weight=8.0,
        prequantised=Prequantised("yes", text, text, (Evidence(text, text),)),
        dtypes=(DtypeTotal(text, 1, 1),),
        cells=(cell("mlp", text, 8.0, 1, 1, 0, ((text,), ())),),
        menu=(Variant(text, (File(text, 1),)),),
        excluded=(Excluded(text, 1, text),),
        excluded_bytes=1,
        other_bytes=1,
        repo_bytes=3,
        index_total_size=2,
        hub_total=2,
        base_model=text,
        notes=(Note(text, text, text),),
        cost=Cost(),
        tensor_rows=(TensorRow(text, text, (1,), 1, text, "mlp", text, "weight"),),
    )
