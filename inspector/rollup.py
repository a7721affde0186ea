"""Sum a report's cells for the renderers: by precision over everything, and by component."""

from __future__ import annotations

from collections.abc import Iterable

from inspector.model import COMPONENTS, Cell


def by_precision(cells: Iterable[Cell], component: str = "") -> tuple[Cell, ...]:
    """One cell per precision, largest first, named `component`.

    Parameters are None where one cell's are; nominal bits are None where the cells differ.
    """
    groups: dict[str | None, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.precision, []).append(cell)
    merged = [_merge(group, component) for group in groups.values()]
    return tuple(sorted(merged, key=lambda c: (-c.bytes, c.precision is None, c.precision or "")))


def by_component(cells: Iterable[Cell]) -> tuple[tuple[str, tuple[Cell, ...]], ...]:
    """(component, its cells by precision) for the components present, in the contract's order, others behind them."""
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.component, []).append(cell)
    return tuple((name, by_precision(groups[name], name)) for name in sorted(groups, key=_rank))


def _rank(component: str) -> tuple[int, str]:
    known = COMPONENTS.index(component) if component in COMPONENTS else len(COMPONENTS)
    return known, component


def largest_first(cells: Iterable[Cell]) -> tuple[tuple[str, tuple[Cell, ...]], ...]:
    """`by_component` with the component of most bytes first."""
    return tuple(sorted(by_component(cells), key=lambda found: -sum(c.bytes for c in found[1])))


def parameters(cells: Iterable[Cell]) -> int | None:
    """The parameters of some cells together, None where one is unknown."""
    counts = [c.parameters for c in cells]
    return None if None in counts else sum(n for n in counts if n is not None)


def bits_per_weight(size: int | None, parameters: int | None) -> float | None:
    """8 x stored bytes / parameters; None where either is unknown or there is no parameter."""
    return 8 * size / parameters if size is not None and parameters else None


def _merge(cells: list[Cell], component: str) -> Cell:
    bits = {c.bits for c in cells}
    return Cell(
        component=component,
        precision=cells[0].precision,
        bits=bits.pop() if len(bits) == 1 else None,
        storage_dtypes=tuple(sorted({d for c in cells for d in c.storage_dtypes})),
        blocks=tuple(sorted({b for c in cells for b in c.blocks})),
        tensors=sum(c.tensors for c in cells),
        parameters=parameters(cells),
        weight_bytes=sum(c.weight_bytes for c in cells),
        overhead_bytes=sum(c.overhead_bytes for c in cells),
    )
