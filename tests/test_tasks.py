"""Coroutines in one thread: who goes on when, what errors do, and what is left at the end."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator

import pytest

from inspector.tasks import READ, Task, Tasks, finish, ready, run, sleep, start


async def later(seconds: float, value: int) -> int:
    await sleep(seconds)
    return value


def test_waits_run_beside_each_other() -> None:
    async def main() -> list[int]:
        waits = Tasks([(n, later(0.1 * (3 - n), n)) for n in range(3)], 3)
        order: list[int] = []
        while ended := await waits.some():
            order += [task.result() for _, task in ended]
        return order

    # One after the other they would end as they were begun.
    assert run(main()) == [2, 1, 0]


def test_no_more_than_allowed_are_begun() -> None:
    running: list[int] = []
    most = 0

    async def one(number: int) -> None:
        nonlocal most
        running.append(number)
        most = max(most, len(running))
        await sleep(0.005)
        running.remove(number)

    async def main() -> None:
        waits = Tasks([(n, one(n)) for n in range(20)], 3)
        while await waits.some():
            pass

    run(main())
    assert (most, running) == (3, [])


def test_a_socket_that_stays_silent_ends_with_a_timeout() -> None:
    here, there = socket.socketpair()
    with here, there:

        async def main() -> str:
            with contextlib.suppress(TimeoutError):
                await ready(here, READ, time.monotonic() + 0.05)
            there.send(b"x")
            await ready(here, READ, time.monotonic() + 5)
            return "readable"

        assert run(main()) == "readable"


def test_an_error_is_that_of_its_task_and_of_nobody_else() -> None:
    async def wrong() -> int:
        await sleep(0)
        raise ValueError("mine")

    async def main() -> int:
        task: Task[int] = await start(wrong())
        other = await start(later(0.01, 4))
        with pytest.raises(ValueError, match="mine"):
            await finish(task)
        # Asked again it is the same error.
        with pytest.raises(ValueError, match="mine"):
            await finish(task)
        return await finish(other)

    assert run(main()) == 4


def test_what_is_left_is_ended_and_its_last_words_are_heard() -> None:
    said: list[str] = []

    async def long() -> None:
        try:
            await sleep(60)
        finally:
            said.append("ended")

    async def main() -> None:
        await start(long())
        await sleep(0)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(main())
    assert said == ["ended"]


def test_a_cancelled_task_says_so() -> None:
    async def main() -> None:
        task = await start(later(60, 1))
        await sleep(0)
        task.cancel()
        await finish(task)

    with pytest.raises(InterruptedError):
        run(main())


def test_an_end_that_was_waited_for_once_wakes_nobody_later() -> None:
    async def main() -> float:
        short, long = await start(later(0.01, 1)), await start(later(0.05, 2))
        both = Tasks([("short", finish(short)), ("long", finish(long))], 2)
        await both.some()
        before = time.monotonic()
        # The end of the other one, for which `both` waited too, must not end this.
        await sleep(0.2)
        return time.monotonic() - before

    assert run(main()) >= 0.2


def test_idle_work_is_done_while_everybody_waits() -> None:
    done: list[int] = []

    def work() -> Iterator[None]:
        for number in range(5):
            done.append(number)
            yield

    async def main() -> int:
        await sleep(0.05)
        return len(done)

    assert run(main(), idle=work()) == 5


def test_tasks_that_wait_for_each_other_are_an_error_and_no_hang() -> None:
    async def main() -> None:
        tasks: list[Task[None]] = []

        async def one() -> None:
            await sleep(0)
            await finish(tasks[1])

        async def two() -> None:
            await sleep(0)
            await finish(tasks[0])

        tasks.append(await start(one()))
        tasks.append(await start(two()))
        await finish(tasks[0])

    with pytest.raises(RuntimeError, match="waits for another"):
        run(main())
