"""Read dimensions of a model's config where they really live, and refuse what cannot be a dimension."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from inspector.model import Json
from inspector.records import dataclass, field

MAX_DIMENSION = 2**31
MAX_LAYERS = 10_000
NESTED = (
    ("text_config",),
    ("llm_config",),
    ("language_config",),
    ("thinker_config", "text_config"),
    ("thinker_config",),
    ("language_model",),
    ("llm",),
)
"""Where multimodal configs keep the language model, first found wins."""

_DRAFTS = 8
"""Entries past the last layer of a list per layer that are believed to be draft layers."""

_NONE: Mapping[str, Json] = MappingProxyType({})


class UnknownAttention(Exception):
    """The config does not say enough: `reason` in words, `where` the key. Never leaves `cache_of`."""

    def __init__(self, reason: str, where: str = "") -> None:
        self.reason = reason
        self.where = where
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class Fields:
    """A config's language model: `text` first, `top` (the outer object) for what it lacks. `null` means absent."""

    text: Mapping[str, Json]
    top: Mapping[str, Json] = field(default_factory=lambda: _NONE)
    prefix: str = ""

    def get(self, name: str) -> Json:
        """The value, or None where it is absent or null."""
        value = self.text.get(name)
        return self.top.get(name) if value is None else value

    def where(self, name: str) -> str:
        """The key's full path, for messages."""
        return f"{self.prefix}{name}" if self.text.get(name) is not None or name not in self.top else name

    def has(self, *names: str) -> bool:
        """True where one of them holds something: not null, false, 0 or empty."""
        return any(self.get(n) not in (None, False, 0, "", [], {}, ()) for n in names)

    def first(self, *names: str) -> str | None:
        """The first of the names that is present, in any form."""
        return next((n for n in names if self.get(n) is not None), None)

    def integer(self, *names: str, default: int | None = None, least: int = 1) -> int:
        """The first present of `names` as a whole number. Raises where it is missing without a default, or unfit."""
        name = self.first(*names)
        if name is None:
            if default is None:
                raise UnknownAttention(f"{' / '.join(names)} is missing from the config", self.prefix + names[0])
            return default
        return whole(self.get(name), self.where(name), least)

    def sequence(self, name: str) -> tuple[Json, ...] | None:
        """A list by name, None where absent. Raises where it is something else."""
        value = self.get(name)
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            raise UnknownAttention(f"{name} should be a list, one entry per layer", self.where(name))
        return tuple(value)

    def per_layer(self, name: str, count: int) -> tuple[Json, ...] | None:
        """A list cut to `count` layers: up to 8 more are draft layers. Raises where it is shorter, or longer still."""
        value = self.sequence(name)
        if value is None or count <= len(value) <= count + _DRAFTS:
            return None if value is None else value[:count]
        raise UnknownAttention(f"{name} has {len(value):,} entries for {count:,} layers", self.where(name))

    def inner(self, name: str) -> Fields | None:
        """An object by name as fields of its own, None where absent. Raises where it is something else."""
        value = self.get(name)
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise UnknownAttention(f"{name} should be an object", self.where(name))
        return Fields(value, prefix=self.where(name) + ".")

    @property
    def model_type(self) -> str:
        """`model_type` of the language model, else of the whole; empty where absent."""
        value = self.get("model_type")
        return value if isinstance(value, str) else ""

    @property
    def architectures(self) -> tuple[str, ...]:
        """Class names as the config lists them."""
        value = self.get("architectures")
        return tuple(x for x in value if isinstance(x, str)) if isinstance(value, list | tuple) else ()


def fields_of(config: Mapping[str, Json]) -> Fields:
    """The fields of the config's language model, nested or flat. Raises where `text_config` is no object."""
    if not isinstance(config.get("text_config"), Mapping | None):
        raise UnknownAttention("text_config should be an object", "text_config")
    for path in NESTED:
        found: Json = config
        for key in path:
            found = found.get(key) if isinstance(found, Mapping) else None
        if isinstance(found, Mapping) and found:
            return Fields(found, config, ".".join(path) + ".")
    return Fields(config)


def whole(value: Json, where: str, least: int = 1) -> int:
    """A whole number of at least `least`. Raises `UnknownAttention` naming the key otherwise."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        shown = repr(value) if isinstance(value, str | float | bool) else f"a {type(value).__name__}"
        raise UnknownAttention(f"{where} is {shown[:60]}, not a whole number", where)
    if not least <= value <= MAX_DIMENSION:
        shown = f"{value:,}" if abs(value) < 10**30 else "beyond reason"
        raise UnknownAttention(f"{where} is {shown}, outside {least} to {MAX_DIMENSION:,}", where)
    return value


def layer_count(fields: Fields) -> int:
    """Layers of the language model (of the decoder, in an encoder-decoder). Raises above 10,000."""
    names: tuple[str, ...] = ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "num_transformer_layers")
    if is_encoder_decoder(fields):
        names = ("decoder_layers", "num_decoder_layers", *names)
    elif fields.model_type == "longcat_flash" and fields.get("num_hidden_layers") is None:
        # One LongCat layer holds two attention blocks, each with a cache (transformers longcat_flash config).
        return _bounded(2 * fields.integer("num_layers"), fields.where("num_layers"))
    name = fields.first(*names)
    if name is None:
        listed = fields.sequence("layers_block_type") or fields.sequence("layer_types")
        pattern = fields.get("hybrid_override_pattern")
        if listed is None and isinstance(pattern, str):
            listed = tuple(pattern)
        if listed:
            return _bounded(len(listed), fields.where("layers_block_type"))
    return _bounded(fields.integer(*names), fields.where(name or names[0]))


_ENCODER_DECODER = """
t5 mt5 umt5 longt5 switch_transformers bart mbart pegasus marian m2m_100 whisper blenderbot led plbart
"""
ENCODER_DECODER = frozenset(_ENCODER_DECODER.split())


def is_encoder_decoder(fields: Fields) -> bool:
    """True for an encoder-decoder that keeps its encoder's keys and values."""
    return fields.get("is_encoder_decoder") is True or fields.model_type in ENCODER_DECODER


def _bounded(count: int, where: str) -> int:
    if count > MAX_LAYERS:
        raise UnknownAttention(f"{where} is {count:,} layers, more than the {MAX_LAYERS:,} that are believed", where)
    return count
