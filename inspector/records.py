"""`dataclass`, `field` and `replace` of the standard library, as far as they are used here, in a tenth of the time.

A run imports seventy frozen classes. `dataclasses` compiles six functions for each, 0.85 ms a class, 60 ms of every
run; here `__init__` alone is compiled, once more than a few records of a class are made, and the rest is shared. To
a type checker they are dataclasses, and so they are to `dataclasses.replace`, `fields`, `asdict` and `is_dataclass`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass, field, replace
else:
    from operator import attrgetter

    _ABSENT = object()
    _FEW = 8

    class _Field:
        """What `field` says of one attribute."""

        __slots__ = ("compare", "default", "factory")

        def __init__(self, default=_ABSENT, default_factory=_ABSENT, compare=True, hash=None):
            self.default, self.factory, self.compare = default, default_factory, compare

    def field(*, default=_ABSENT, default_factory=_ABSENT, compare=True, hash=None):
        """A default that is made anew each time, or an attribute that equality and hash leave out."""
        return _Field(default, default_factory, compare)

    def replace(record, /, **changes):
        """The record with other values for some of its fields."""
        for name in type(record).__match_args__:
            if name not in changes:
                changes[name] = getattr(record, name)
        return type(record)(**changes)

    def dataclass(cls=None, /, *, frozen=False, slots=False, eq=True):
        """Make a class a record: `__init__`, equality, `repr`, with `frozen` a hash and no assignment."""
        if cls is None:
            return lambda cls: _made(cls, frozen, slots, eq)
        return _made(cls, frozen, slots, eq)

    def _made(cls, frozen, slots, eq):
        space = dict(cls.__dict__)
        said = space.get("__annotations__", {})
        names = tuple(name for name in said if not str(said[name]).startswith(("ClassVar", "typing.ClassVar")))
        fields = {name: _given(space.pop(name, _ABSENT)) for name in names}
        for name in ("__dict__", "__weakref__"):
            space.pop(name, None)
        if slots:
            space["__slots__"] = names
        else:
            space.update({n: f.default for n, f in fields.items() if f.default is not _ABSENT})
        compared = tuple(name for name in names if fields[name].compare)
        space.setdefault("__repr__", _shown)
        space["__match_args__"] = names
        space["__dataclass_fields__"] = _Fields(fields, said)
        space["__reduce__"] = _reduced
        if eq:
            # attrgetter of one name gives no tuple.
            values = attrgetter(*compared) if len(compared) > 1 else lambda r: tuple(getattr(r, n) for n in compared)
            space.setdefault("__eq__", _equality(values))
            space["__hash__"] = (lambda record: hash(values(record))) if frozen else None
        if frozen:
            space["__setattr__"] = space["__delattr__"] = _refused
        made = type(cls)(cls.__name__, cls.__bases__, space)
        made.__qualname__ = cls.__qualname__
        made.__init__ = _first(made, fields, frozen)
        return made

    def _first(cls, fields, frozen):
        """An `__init__` for the first few records; most classes have no more of them in a run, and compile nothing."""
        made = 0

        def __init__(_self, /, *values, **named):
            nonlocal made
            made += 1
            given = _bound(fields, values, named) if made <= _FEW else None
            if given is None:
                # Also what is wrong: the compiled one raises what a function of these parameters does.
                cls.__init__ = compiled = _init(cls, fields, frozen)
                compiled(_self, *values, **named)
                return
            for name, value in given.items():
                object.__setattr__(_self, name, value)
            if hasattr(cls, "__post_init__"):
                _self.__post_init__()

        return __init__

    def _bound(fields, values, named):
        """Every field's value; None where what is given does not fit."""
        given = dict(zip(fields, values, strict=False))
        if len(values) > len(fields) or not given.keys().isdisjoint(named) or not named.keys() <= fields.keys():
            return None
        given.update(named)
        for name, about in fields.items():
            if name not in given:
                if about.factory is not _ABSENT:
                    given[name] = about.factory()
                elif about.default is not _ABSENT:
                    given[name] = about.default
                else:
                    return None
        return given

    def _given(default):
        return default if isinstance(default, _Field) else _Field(default)

    def _init(cls, fields, frozen):
        """The one function that is compiled, so that making a record costs what it costs elsewhere."""
        words, body = [], []
        scope = {"_absent": _ABSENT, "_set": object.__setattr__}
        for number, (name, about) in enumerate(fields.items()):
            value = name
            if about.factory is not _ABSENT:
                scope[f"_make{number}"] = about.factory
                words.append(f"{name}=_absent")
                value = f"_make{number}() if {name} is _absent else {name}"
            elif about.default is not _ABSENT:
                scope[f"_default{number}"] = about.default
                words.append(f"{name}=_default{number}")
            else:
                words.append(name)
            body.append(f"_set(_self, {name!r}, {value})" if frozen else f"_self.{name} = {value}")
        if hasattr(cls, "__post_init__"):
            body.append("_self.__post_init__()")
        exec(f"def __init__(_self, {', '.join(words)}):\n " + "\n ".join(body or ["pass"]), scope)
        made = scope["__init__"]
        made.__qualname__ = f"{cls.__qualname__}.__init__"
        return made

    def _equality(values):
        def __eq__(self, other):
            return values(self) == values(other) if type(other) is type(self) else NotImplemented

        return __eq__

    def _shown(self):
        words = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
        return f"{type(self).__qualname__}({words})"

    def _reduced(self):
        return type(self), tuple(getattr(self, name) for name in self.__match_args__)

    def _refused(self, name, *value):
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot assign to field {name!r}" if value else f"cannot delete field {name!r}")

    class _Fields:
        """`__dataclass_fields__`, made by `dataclasses` when somebody asks for it."""

        def __init__(self, fields, said):
            self._fields, self._said = fields, said

        def __get__(self, record, owner):
            import dataclasses

            def standard(about):
                given = {"default": about.default, "default_factory": about.factory}
                given = {k: v for k, v in given.items() if v is not _ABSENT}
                return dataclasses.field(compare=about.compare, **given)

            like = [(name, self._said[name], standard(about)) for name, about in self._fields.items()]
            found = dataclasses.make_dataclass(owner.__name__, like).__dataclass_fields__
            type.__setattr__(owner, "__dataclass_fields__", found)
            return found


__all__ = ["dataclass", "field", "replace"]
