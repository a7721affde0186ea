from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.loopback import LoopbackHub
from tests.transport.cases import REPO, Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def hub() -> Iterator[LoopbackHub]:
    with LoopbackHub([REPO]) as hub:
        yield hub
