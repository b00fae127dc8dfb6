"""A pool of devices: threads that take tasks from one queue until all are done.

NumPy lets go of the interpreter while it works on large arrays, so kernels run side by side. The
thread that asks is the first device: on one device nothing is handed over.
"""

from __future__ import annotations

import contextlib
import functools
import heapq
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.core import context


@dataclass(frozen=True, slots=True)
class TaskSpan:
    """When and where a task ran; seconds since the pool began."""

    device: int
    start: float
    end: float


class TaskFailed(Exception):
    """A task raised: its number, and the error."""

    def __init__(self, task: int, error: BaseException) -> None:
        super().__init__(task)
        self.task, self.error = task, error


class Pool:
    """Runs tasks, each once all that it waits for are done.

    work      does the task of a number
    waits     how many others each task waits for
    followers which tasks wait for it
    rank      which of the ready tasks is first: the one with the smallest rank
    """

    def __init__(
        self,
        work: Callable[[int], None],
        waits: Sequence[int],
        followers: Sequence[Sequence[int]],
        rank: Sequence[Any],
    ) -> None:
        self.work, self.followers, self.rank = work, followers, rank
        self.waits, self.left = list(waits), len(waits)
        self.spans: list[TaskSpan | None] = [None] * len(waits)
        self.failed: list[TaskFailed] = []
        self.changed = threading.Condition()
        self.owner, self.audience = context.now.owner, context.now.audience
        self.waiting = 0
        self.stopped = False
        self.ready = [(rank[i], i) for i, n in enumerate(waits) if not n]
        heapq.heapify(self.ready)

    def run(self, devices: int) -> list[TaskSpan]:
        """Run everything, on this many threads. TaskFailed after the first error.

        All threads have ended when it returns, however it returns.
        """
        self.began = time.perf_counter()
        if devices == 1:
            return self._run_serial()
        others = [
            threading.Thread(target=self._device_loop, args=(i,), name=f"device {i}", daemon=True)
            for i in range(1, devices)
        ]
        started = []
        try:
            with contextlib.suppress(RuntimeError):  # a browser has no threads: fewer work then
                for thread in others:
                    thread.start()
                    started.append(thread)
            self._device_loop(0)
        finally:
            self._stop()
            for thread in started:
                thread.join()
        if self.failed:
            raise min(self.failed, key=lambda failure: failure.task)
        return [span for span in self.spans if span is not None]

    def _run_serial(self) -> list[TaskSpan]:
        """Run everything on the calling thread, without waiting."""
        with np.errstate(all="ignore"):
            while self.ready:
                task = heapq.heappop(self.ready)[1]
                start = time.perf_counter() - self.began
                try:
                    self.work(task)
                except Exception as error:  # noqa: BLE001 — whatever it is, it says of which task
                    raise TaskFailed(task, error) from None
                self.spans[task] = TaskSpan(0, start, time.perf_counter() - self.began)
                self._mark_done(task)
        return [span for span in self.spans if span is not None]

    def _stop(self) -> None:
        with self.changed:
            self.stopped = True
            self.changed.notify_all()

    def _device_loop(self, device: int) -> None:
        context.now.owner, context.now.audience = self.owner, self.audience
        with np.errstate(all="ignore"):  # holds for one thread
            task = self._next_task(None)
            while task is not None:
                start = time.perf_counter() - self.began
                try:
                    self.work(task)
                except BaseException as error:  # noqa: BLE001 — raised again by the caller's thread
                    self.failed.append(TaskFailed(task, error))
                    self._stop()
                    return
                self.spans[task] = TaskSpan(device, start, time.perf_counter() - self.began)
                task = self._next_task(task)

    def _next_task(self, done: int | None) -> int | None:
        """Record the finished task, wait for the next one and take it; None at the end."""
        with self.changed:
            if done is not None:
                self._mark_done(done)
                if not self.left:
                    self.changed.notify_all()
                elif self.waiting and len(self.ready) > 1:  # one of them is for this thread
                    self.changed.notify(len(self.ready) - 1)
            while not self.ready and self.left and not self.stopped:
                self.waiting += 1
                try:
                    self.changed.wait()
                finally:
                    self.waiting -= 1
            if self.stopped or not self.ready:
                return None
            return heapq.heappop(self.ready)[1]

    def _mark_done(self, done: int) -> None:
        self.left -= 1
        for i in self.followers[done]:
            self.waits[i] -= 1
            if not self.waits[i]:
                heapq.heappush(self.ready, (self.rank[i], i))


@functools.cache
def handover_seconds() -> float:
    """Measure once how many seconds it takes to hand a task to another thread.

    Tasks fork and join; the two of a fork meet before they end, so that no thread can take both.
    The time from one fork to the next is shared by the two.
    """
    forks = 100
    firsts = range(0, 3 * forks, 3)
    waits = [2, 1, 1] * forks
    waits[0] = 0
    followers: list[list[int]] = []
    for i in firsts:
        join = [i + 3] if i + 3 < 3 * forks else []
        followers += [[i + 1, i + 2], join, join]
    meeting = threading.Barrier(2, timeout=10)  # an interrupt leaves one alone

    def work(task: int) -> None:
        if task % 3:
            meeting.wait()

    def once() -> float:
        spans = Pool(work, waits, followers, range(3 * forks)).run(2)
        return max(span.end for span in spans) / (2 * forks)

    return statistics.median(once() for _ in range(5))
