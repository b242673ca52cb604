"""What a client asks of the scheduler and of workers: no answer is waited for longer than it may take.

A scheduler that is gone, or stands still, ends a fit in a sentence; a worker's error or silence is an answer.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

from distributed import Client, Future

BRIEF = 5.0  # seconds that a worker has for a short answer, which its members' threads do not delay


AWAY = (
    "the connection to the scheduler was lost, and the partitions with it: fit again with collections that this "
    "scheduler can compute"
)


class Lost(RuntimeError):
    """A fit that could not go on: no worker is left, or partitions cannot be brought back.

    Examples
    --------
    >>> import anyboost as ab
    >>> issubclass(ab.dask.Lost, RuntimeError)
    True
    """


class Calls:
    """What is asked during one fit."""

    def __init__(self, client: Client, timeout: float) -> None:
        self.client, self.timeout, self.brief = client, timeout, min(BRIEF, timeout)
        self._over: str | None = None  # why the scheduler is not asked again

    def connected(self) -> None:
        """Refuse to go on where there is no scheduler: without it futures are cancelled and calls wait in vain."""
        if self._over is None and self.client.status != "running":
            self._over = (
                f"the connection to the scheduler {self._address()} is lost, and the partitions with it: is it "
                "running? Fit again with a client that is connected"
            )
        if self._over is not None:
            raise Lost(self._over)

    def scheduler(self, ask: Callable[[], Any]) -> Any:
        """What a method of the client gives that asks the scheduler."""
        self.connected()
        try:
            return self._within(self.timeout, ask)
        except TimeoutError:
            self._over = (
                f"the scheduler {self._address()} has not answered for {self.timeout:g} seconds: is it busy or "
                "stopped? Look at its log, or give the fit a longer timeout"
            )
        except OSError as error:
            self._over = f"the scheduler {self._address()} cannot be reached: {error}"
        raise Lost(self._over) from None

    def each(self, who: Sequence[str], seconds: float, what: Any, *given: Any) -> dict[str, Any]:
        """What a call gives on each worker, or the error it ends with, after so many seconds at most."""

        async def ask(worker: str) -> Any:
            answer = self.client.run(what, *given, workers=[worker], on_error="return")
            return (await asyncio.wait_for(answer, seconds))[worker]

        async def everyone() -> list[Any]:
            return await asyncio.gather(*map(ask, who), return_exceptions=True)

        if not who:
            return {}
        self.connected()
        try:
            found = self.client.sync(everyone, callback_timeout=seconds + self.brief)
        except TimeoutError as error:
            found = [error] * len(who)
        return dict(zip(who, found, strict=True))

    def cancel(self, tasks: Sequence[Future]) -> None:
        """Have the scheduler drop tasks, when it can."""
        with suppress(Exception):  # it may be gone, and so are they then
            self._within(self.brief, lambda: self.client.cancel(list(tasks), force=True))

    def _within(self, seconds: float, ask: Callable[[], Awaitable[Any]]) -> Any:
        async def bounded() -> Any:
            return await asyncio.wait_for(ask(), seconds)

        return self.client.sync(bounded, callback_timeout=seconds + self.brief)

    def _address(self) -> str:
        return str(getattr(self.client.scheduler, "addr", "")) or "of this client"
