"""`*.safetensors.index.json`: which shard holds which tensor.

Rule: transformers `utils/hub.py` `get_checkpoint_shard_files`: `weight_map` maps names to files beside the index;
`metadata.total_size` is a claim (DeepSeek-V3's is twice the truth) and may be absent.
"""

from __future__ import annotations

import json
import posixpath
from typing import Any, NoReturn

from inspector import json_faults
from inspector.errors import MalformedFile
from inspector.model import ShardIndex

_ADVICE = "The index is ignored; the headers decide."


def parse(data: bytes, file: str) -> ShardIndex:
    """The index in `data`. Raises `MalformedFile` where it is not one, or names a file outside its folder."""
    document = _object(data, file)
    weight_map = document.get("weight_map")
    if not isinstance(weight_map, dict):
        raise MalformedFile(file, f"weight_map is {_kind(weight_map)}, not an object", _ADVICE)
    if not set(map(type, weight_map.values())) <= {str}:
        wrong = next(name for name, shard in weight_map.items() if not isinstance(shard, str))
        what = f"weight_map[{wrong[:200]!r}] is {_kind(weight_map[wrong])}, not a file name"
        raise MalformedFile(file, what, _ADVICE)
    shards = {shard: posixpath.normpath(shard) if shard else "" for shard in set(weight_map.values())}
    # One string per shard, not one per tensor.
    weight_map = dict(zip(weight_map, map(shards.__getitem__, weight_map.values()), strict=True))
    for shard in sorted(shards.values()):
        if shard.startswith("/") or "\\" in shard or ".." in shard.split("/") or not shard.isprintable() or not shard:
            raise MalformedFile(
                file, f"weight_map names {shard[:200]!r}, which is not a file beside the index", _ADVICE
            )
    metadata = document.get("metadata")
    total = metadata.get("total_size") if isinstance(metadata, dict) else None
    return ShardIndex(file, weight_map, _whole(total))


def _object(data: bytes, file: str) -> dict[str, Any]:
    """The JSON object; a key given twice is refused where it can matter (in weight_map names are counted)."""

    def constant(name: str) -> NoReturn:
        raise MalformedFile(file, f"holds {name}, which is not JSON", _ADVICE)

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if (double := json_faults.doubled(pairs)) is not None:
            raise MalformedFile(file, f"has the key {double[:200]!r} twice", _ADVICE)
        return dict(pairs)

    try:
        text = data.decode("utf-8-sig")
        value = json.loads(text, parse_constant=constant)
        if not _once(text, value):
            value = json.loads(text, parse_constant=constant, object_pairs_hook=unique)
    except UnicodeDecodeError as e:
        raise MalformedFile(file, "is not UTF-8", _ADVICE, offset=e.start) from None
    except RecursionError:
        raise MalformedFile(file, "JSON is nested too deeply", _ADVICE) from None
    except ValueError as e:
        raise MalformedFile(file, f"is not JSON: {json_faults.words(e)}", _ADVICE) from None
    if not isinstance(value, dict):
        raise MalformedFile(file, f"is {_kind(value)}, not an object", _ADVICE)
    return value


def _once(text: str, value: object) -> bool:
    """Whether it is plain to see that no key comes twice: a hook on every object would double the time.

    Without escapes a quote before a colon ends a key, or begins a value that starts with a colon. So where no other
    colon is there, and there are as many as keys were decoded, none was decoded twice.
    """
    if "\\" in text or not isinstance(value, dict):
        return False
    keys = len(value) + sum(len(v) for v in value.values() if isinstance(v, dict))
    return text.count('":') == text.count(":") == keys


def _whole(value: object) -> int | None:
    """A byte count, also where a writer made it a float; anything else is no count."""
    if type(value) is int and value >= 0:
        return value
    if isinstance(value, float) and value.is_integer() and 0 <= value < 2**63:
        return int(value)
    return None


def _kind(value: object) -> str:
    return "absent" if value is None else f"a JSON {type(value).__name__}"
