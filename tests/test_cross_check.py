"""A wrong total of an index is explained only where index and headers speak of the same tensors."""

from __future__ import annotations

from inspector.cross_check import cross_check
from inspector.model import Header, ShardIndex, TensorInfo

F8 = TensorInfo("a", "F8_E4M3", (4, 8), "x.safetensors", 0, 32)
HEADER = Header("x.safetensors", 100, 132, (F8,))


def total(claimed: int, names: dict[str, str], headers: tuple[Header, ...] = (HEADER,)) -> str:
    index = ShardIndex("model.safetensors.index.json", names, claimed)
    (note,) = [n for n in cross_check(index, "", headers) if n.code == "index_total_size"]
    return note.message


def test_a_known_mistake_is_named() -> None:
    names = {"a": "x.safetensors"}
    assert total(64, names).endswith("the headers say 32 (it counts every element as 16 bits)")
    assert total(132, names).endswith("the headers say 32 (it counts the headers too)")
    assert total(65, names).endswith("the headers say 32")


def test_with_other_names_nothing_is_explained() -> None:
    assert total(64, {"b": "x.safetensors"}).endswith("the headers say 32")
    assert total(64, {"a": "x.safetensors", "b": "x.safetensors"}).endswith("the headers say 32")


def test_a_checkpoint_without_bytes_explains_nothing() -> None:
    empty = Header("x.safetensors", 100, 100, (TensorInfo("a", "F32", (0,), "x.safetensors", 0, 0),))
    assert total(100, {"a": "x.safetensors"}, (empty,)).endswith("the headers say 0")
