"""A stand-in for the Hugging Face Hub on 127.0.0.1, for tests, the demo and benchmarks. Standard library only."""

from tests.loopback.content import Entry, Virtual, entry
from tests.loopback.fixture import load, names
from tests.loopback.repo import Repo
from tests.loopback.server import LoopbackHub
from tests.loopback.settings import Settings
from tests.loopback.wire import Answer, Fault, Faults, Record, RequestInfo

__all__ = [
    "Answer",
    "Entry",
    "Fault",
    "Faults",
    "LoopbackHub",
    "Record",
    "Repo",
    "RequestInfo",
    "Settings",
    "Virtual",
    "entry",
    "load",
    "names",
]
