"""Many waits in one thread: coroutines that go on when their socket is ready, their time has come, or a task ended.

`run` drives one coroutine and whatever it starts. Ninety-six requests of one repo are ninety-six such waits: threads
would take turns at the interpreter's lock (0.13 s for them), and asyncio takes 70 ms to import.
"""

from __future__ import annotations

import selectors
import time
from collections import deque
from collections.abc import Coroutine, Generator, Iterable, Iterator
from heapq import heappop, heappush
from types import coroutine
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from inspector.records import dataclass

if TYPE_CHECKING:
    import socket

T = TypeVar("T")
K = TypeVar("K")

_LOOKS: Final = 20
"""How often one look lets tasks go on that are ready at once again."""
READ: Final = selectors.EVENT_READ
WRITE: Final = selectors.EVENT_WRITE


@dataclass(frozen=True, slots=True)
class _Wait:
    """Until `sock` is ready for `event`; a TimeoutError at `until` (None: for ever). Without `sock` a plain sleep."""

    sock: socket.socket | None
    event: int
    until: float | None


@dataclass(frozen=True, slots=True)
class _Start:
    job: Coroutine[Any, Any, Any]


@dataclass(frozen=True, slots=True)
class _Ended:
    tasks: tuple[Task[Any], ...]


class Task(Generic[T]):
    """One coroutine that runs beside others, until `done`; `result` is its value, or raises what it raised."""

    def __init__(self, job: Coroutine[Any, Any, T], loop: Loop) -> None:
        self.job, self._loop = job, loop
        self.done = False
        self.value: T | None = None
        self.error: BaseException | None = None
        self.waiters: dict[Task[Any], int] = {}
        """Who waits for the end of this one, and in which of their turns."""
        self.turn = 0
        """Counts the waits of this task, so that a timer of an earlier one is known to be stale."""
        self.sock: socket.socket | None = None

    def result(self) -> T:
        """What the coroutine returned. Raises what it raised; only for a task that is `done`."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]  # a coroutine that returned has a value of type T

    def cancel(self) -> None:
        """End it where it waits: its `finally` blocks run, and nothing else of it."""
        if not self.done:
            self._loop.forget(self)
            self.done, self.error = True, InterruptedError("ended before its end")
            self.job.close()


class Tasks(Generic[K, T]):
    """Coroutines by key, at most `most` of them begun at a time: `some` gives those that ended, as they end."""

    def __init__(self, jobs: Iterable[tuple[K, Coroutine[Any, Any, T]]], most: int) -> None:
        self._jobs, self._most = deque(jobs), max(1, most)
        self._running: dict[Task[T], K] = {}
        self.total = len(self._jobs)

    @property
    def waiting(self) -> list[K]:
        """Keys of what has not ended, in the order of their beginning."""
        return [*self._running.values(), *(key for key, _ in self._jobs)]

    async def some(self) -> list[tuple[K, Task[T]]]:
        """Keys and tasks that have ended since the last call; it waits for the next one, and is empty at the end."""
        while self._jobs and len(self._running) < self._most:
            key, job = self._jobs.popleft()
            self._running[await start(job)] = key
        if not self._running:
            return []
        await _ended(*self._running)
        over = [task for task in self._running if task.done]
        return [(self._running.pop(task), task) for task in over]

    def cancel(self) -> None:
        """End what runs, and never begin the rest."""
        for task in self._running:
            task.cancel()
        for _, job in self._jobs:
            job.close()
        self._running.clear()
        self._jobs.clear()


@coroutine
def _trap(what: _Wait | _Start | _Ended) -> Generator[Any, Any, Any]:
    return (yield what)


async def ready(sock: socket.socket, event: int, until: float) -> None:
    """Wait until a socket can be read or written. Raises TimeoutError at `until` (of `time.monotonic`)."""
    await _trap(_Wait(sock, event, until))


async def sleep(seconds: float) -> None:
    """Wait."""
    await _trap(_Wait(None, 0, time.monotonic() + seconds))


async def start(job: Coroutine[Any, Any, T]) -> Task[T]:
    """Begin a coroutine beside this one; it runs when this one waits."""
    task: Task[T] = await _trap(_Start(job))
    return task


async def finish(task: Task[T]) -> T:
    """Wait for a task, and give its result."""
    await _ended(task)
    return task.result()


async def _ended(*tasks: Task[Any]) -> None:
    """Wait until one of them is done."""
    if not any(task.done for task in tasks):
        await _trap(_Ended(tasks))


def run(job: Coroutine[Any, Any, T], idle: Iterator[object] | None = None) -> T:
    """Run a coroutine to its end, and give its result or raise its error; what it had started and left is cancelled.

    `idle` is work for the time in which everybody waits: it is advanced a step whenever nothing else can go on.
    """
    loop = Loop()
    try:
        return loop.run(job, idle)
    finally:
        loop.close()


class Loop:
    """Tasks that wait in one thread; they stand still between `run` and `look`."""

    def __init__(self) -> None:
        self._idle: Iterator[object] | None = None
        self._ready: deque[tuple[Task[Any], object, BaseException | None]] = deque()
        self._timers: list[tuple[float, int, int, Task[Any]]] = []
        self._numbers = 0
        self._tasks: set[Task[Any]] = set()
        self._selector: selectors.BaseSelector | None = None

    def start(self, job: Coroutine[Any, Any, T]) -> Task[T]:
        """Begin a coroutine; it runs with the next `run` or `look`."""
        task = Task(job, self)
        self._tasks.add(task)
        self._ready.append((task, None, None))
        return task

    def run(self, job: Coroutine[Any, Any, T], idle: Iterator[object] | None = None) -> T:
        """As the function `run`; what was started and has not ended stays until `close`."""
        main, self._idle = self.start(job), idle
        while not main.done:
            if not self._ready:
                self._wait()
            self._step()
        return main.result()

    def look(self) -> None:
        """Let everybody go on who can, without waiting for anybody."""
        for _ in range(_LOOKS):
            self._step()
            self._wait(pause=0.0)
            if not self._ready:
                return

    def _step(self) -> None:
        for _ in range(len(self._ready)):
            task, value, error = self._ready.popleft()
            if not task.done:
                self._advance(task, value, error)

    def forget(self, task: Task[Any]) -> None:
        """Stop waiting on behalf of a task."""
        task.turn += 1
        if task.sock is not None and self._selector is not None:
            self._selector.unregister(task.sock)
            task.sock = None
        self._tasks.discard(task)

    def close(self) -> None:
        """End every task where it waits."""
        for task in tuple(self._tasks):
            task.cancel()
        if self._selector is not None:
            self._selector.close()

    def _advance(self, task: Task[Any], value: object, error: BaseException | None) -> None:
        try:
            wanted = task.job.send(value) if error is None else task.job.throw(error)
        except StopIteration as end:
            self._end(task, end.value, None)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as e:
            self._end(task, None, e)
        else:
            self._suspend(task, wanted)

    def _end(self, task: Task[Any], value: object, error: BaseException | None) -> None:
        task.done, task.value, task.error = True, value, error
        self._tasks.discard(task)
        for waiter, turn in task.waiters.items():
            if waiter.turn == turn:
                self._wake(waiter)

    def _wake(self, task: Task[Any], error: BaseException | None = None) -> None:
        """Let a waiting task go on; once, however many reasons there are."""
        if task.turn % 2:
            task.turn += 1
            if task.sock is not None and self._selector is not None:
                self._selector.unregister(task.sock)
                task.sock = None
            self._ready.append((task, None, error))

    def _suspend(self, task: Task[Any], wanted: _Wait | _Start | _Ended) -> None:
        if isinstance(wanted, _Start):
            self._ready.append((task, self.start(wanted.job), None))
            return
        # Odd while it waits.
        task.turn += 1
        if isinstance(wanted, _Ended):
            for other in wanted.tasks:
                other.waiters[task] = task.turn
            return
        if wanted.sock is not None:
            if self._selector is None:
                self._selector = selectors.DefaultSelector()
            self._selector.register(wanted.sock, wanted.event, task)
            task.sock = wanted.sock
        if wanted.until is not None:
            self._numbers += 1
            heappush(self._timers, (wanted.until, self._numbers, task.turn, task))

    def _wait(self, pause: float | None = None) -> None:
        """Until a socket is ready or a time has come; at most `pause` seconds, and not at all with idle work left."""
        timers = self._timers
        while timers and timers[0][3].turn != timers[0][2]:
            heappop(timers)
        left = max(0.0, timers[0][0] - time.monotonic()) if timers else None
        looking = pause is not None
        if not looking:
            pause = 0.0 if self._idle is not None else left
        events = self._selector.select(pause) if self._selector is not None and self._selector.get_map() else None
        for key, _ in events or ():
            self._wake(key.data)
        if not events and not looking and self._idle is not None and left != 0:
            if next(self._idle, self) is self:
                self._idle = None
        elif events is None and not looking and self._idle is None:
            if left is None:
                raise RuntimeError("every task waits for another one")
            time.sleep(left)
        now = time.monotonic()
        while timers and timers[0][0] <= now:
            _, _, turn, task = heappop(timers)
            if task.turn == turn:
                self._wake(task, TimeoutError() if task.sock is not None else None)
