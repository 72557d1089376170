"""The functions of this package for asyncio. Each call runs in a thread, so that the event loop continues."""

from __future__ import annotations

import asyncio
import concurrent.futures
from typing import Any, AsyncGenerator, Callable, Coroutine, TypeVar

import tidemark
from tidemark.job import Snapshot

T = TypeVar("T")


def _in_thread(name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
    async def call(*arguments: Any, **options: Any) -> Any:
        return await asyncio.to_thread(getattr(tidemark, name), *arguments, **options)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Awaits tidemark.{name}() with the same arguments."
    return call


deadline = _in_thread("deadline")
explain = _in_thread("explain")
submit = _in_thread("submit")
what_if = _in_thread("what_if")


async def watch(job_id: str, **options: Any) -> AsyncGenerator[Snapshot, None]:
    """Yields the snapshots of tidemark.watch() with the same arguments. Leaving the loop ends the watch."""
    snapshots = tidemark.watch(job_id, **options)
    # Watches would occupy all threads of the pool that the loop shares with other calls.
    thread = concurrent.futures.ThreadPoolExecutor(1, "tidemark-watch")
    try:
        while True:
            snapshot = await asyncio.get_running_loop().run_in_executor(thread, next, snapshots, None)
            if snapshot is None:
                return
            yield snapshot
    finally:
        snapshots.close()
        thread.shutdown(wait=False)
