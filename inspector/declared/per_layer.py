"""Methods that list every layer they quantised: VPTQ and SpQR; and QuIP#, whose codebook says the bits.

VPTQ `config_for_layers[name]`, or `shared_layer_config` by a part of the name (transformers `integrations/vptq.py`);
SpQR `shapes["name.dense_weights.shape"]` (`integrations/spqr.py`). What they do not list is not quantised.
QuIP# `quip_params.codebook`: quip-sharp `lib/codebook`.
"""

from __future__ import annotations

from collections.abc import Mapping

from inspector.model import Declared, Json
from inspector.witness.declaration import Answers, Rules, Spoken, strings, table, without
from inspector.witness.patterns import core

METHODS = ("vptq", "spqr", "quip")
_CODEBOOK_BITS: Mapping[str, int] = {"E8P12": 2, "E8P12RVQ3B": 3, "E8P12RVQ4B": 4, "D4": 2, "HI": 4, "HI4B1C": 4}
_SPQR_PARTS = (".dense_weights.shape", ".row_offsets.shape", ".col_vals.shape", ".in_perm.shape")


def rules(spoken: Spoken) -> Rules:
    """The module's own entry; what is not listed is excluded."""
    body = spoken.body
    answers = Answers(spoken)
    if spoken.method == "quip":
        codebook = body.get("codebook")
        plain = answers.of(body, _CODEBOOK_BITS.get(codebook) if isinstance(codebook, str) else None)
        return Rules(lambda name: plain, False, answers.notes)
    key = "config_for_layers" if spoken.method == "vptq" else "shapes"
    bare = without(body, "config_for_layers", "shared_layer_config", "shapes", "modules_to_not_convert")
    listed = _spqr(table(body.get(key))) if key == "shapes" else table(body.get(key))
    own = {k: answers.of({**bare, **table(v)}, body.get("bits"), key=key) for k, v in listed.items()}
    own.update({core(k): v for k, v in own.items()})
    shared = {
        k: answers.of({**bare, **table(v)}, key="shared_layer_config")
        for k, v in table(body.get("shared_layer_config")).items()
    }
    plain = answers.of(bare, body.get("bits"))
    unlisted = answers.excluded(key) if own or shared else plain
    skip = frozenset(strings(body.get("modules_to_not_convert")))
    out = answers.excluded("modules_to_not_convert")

    def module(name: str) -> Declared:
        if name in skip:
            return out
        found = own.get(name) or own.get(core(name))
        return found or shared.get(name.rpartition(".")[2], unlisted)

    return Rules(module, bool(own) or any(c.isdigit() for s in skip for c in s), answers.notes)


def _spqr(shapes: Mapping[str, Json]) -> dict[str, dict[str, Json]]:
    found: dict[str, dict[str, Json]] = {}
    for key, value in shapes.items():
        for part in _SPQR_PARTS:
            if key.endswith(part):
                found.setdefault(key.removesuffix(part), {})[part[1:]] = value
    return found
