"""SDNQ: one `weights_dtype`, other dtypes for named modules, and a skip list.

`modules_dtype_dict` {dtype: [names]}, `modules_to_not_convert`: an entry is the parameter's name, one part of it, or
a pattern with `*`; one that begins with a dot is a beginning of the name. Source: sdnq `utils.py`
`check_param_name_in`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from inspector.model import Declared, Json
from inspector.witness.declaration import Answers, Rules, Spoken, strings, table, without
from inspector.witness.patterns import Patterns, Test, Text, glob

METHODS = ("sdnq",)
_BITS = re.compile(r"(?:int|float|fp|bool)(\d{1,4})?")


def rules(spoken: Spoken) -> Rules:
    """Skipped modules, modules with their own dtype, the one setting."""
    body = spoken.body
    answers = Answers(spoken)
    bare = without(body, "modules_dtype_dict", "modules_to_not_convert", "modules_quant_config")
    key = "modules_to_not_convert"
    skip = Patterns(strings(body.get(key)), _entry, f"{spoken.where}.{key}")
    listed = [(n, d) for d, names in table(body.get("modules_dtype_dict")).items() for n in strings(names)]
    own = Patterns([n for n, _ in listed], _entry, f"{spoken.where}.modules_dtype_dict")
    by_dtype = {d: _answer(answers, {**bare, "weights_dtype": d}, "modules_dtype_dict") for _, d in listed}
    plain = _answer(answers, bare, "")
    out = answers.excluded(key)

    def module(name: str) -> Declared:
        if name in skip:
            return out
        found = own.find(name)
        return plain if found is None else by_dtype[listed[found][1]]

    return Rules(module, skip.per_name or own.per_name, (*answers.notes, *skip.notes, *own.notes))


def _entry(text: str) -> Sequence[Test]:
    name = text.removesuffix(".weight")
    if name.startswith("."):
        return (Text("prefix", name[1:]),)
    if "*" in name:
        return glob(f"{name}*")
    part = f".{name}"
    return (Text("exact", name), Text("prefix", f"{name}."), Text("suffix", part), Text("inside", f"{part}."))


def _answer(answers: Answers, entry: Mapping[str, Json], key: str) -> Declared:
    """`uint4` 4, `float8_e4m3fn` 8; a group of 0 leaves the choice to the tool."""
    dtype = entry.get("weights_dtype")
    bits = _BITS.search(dtype) if isinstance(dtype, str) else None
    group = entry.get("group_size")
    return answers.of(entry, int(bits[1]) if bits is not None and bits[1] else None, group if group != 0 else None, key)
