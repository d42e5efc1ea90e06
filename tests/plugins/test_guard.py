from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Never

import pytest
from talekeeper.db import WriteOpen
from talekeeper.errors import HeldAcrossCall, PluginError, Retry, Skip, StoreUnusable, UserError
from talekeeper.plugins.guard import Call, Guard


def _raise(error: BaseException) -> Callable[[], Never]:
    def function() -> Never:
        raise error

    return function


def _call(plugin: str = "lore", seconds: float = 30.0) -> Call:
    return Call(plugin, "command check", seconds)


class _Context:
    closed = False

    def close(self) -> None:
        self.closed = True


def test_the_value_comes_back_and_the_context_is_closed() -> None:
    context = _Context()

    value = Guard().call(_call(), lambda: 42, context)

    assert value == 42
    assert context.closed


def test_a_coroutine_is_awaited() -> None:
    async def answer() -> int:
        return 42

    value: Any = Guard().call(_call(), answer)

    assert value == 42


def test_plugin_code_runs_in_a_thread_of_its_own_that_names_it() -> None:
    name = Guard().call(_call(), lambda: threading.current_thread().name)

    assert name == "plugin lore: command check"


class _Unprintable(Exception):
    def __str__(self) -> str:
        raise SystemExit


@pytest.mark.parametrize(
    ("error", "told"),
    [
        pytest.param(ValueError("bad\nluck"), "lore: command check raised ValueError: bad luck", id="an exception"),
        pytest.param(SystemExit(3), "lore: command check raised SystemExit: 3", id="an exit"),
        pytest.param(KeyboardInterrupt(), "lore: command check raised KeyboardInterrupt", id="an interrupt"),
        pytest.param(GeneratorExit(), "lore: command check raised GeneratorExit", id="a generator's exit"),
        pytest.param(_Unprintable(), "lore: command check raised _Unprintable", id="one that cannot be printed"),
        pytest.param(ValueError("x" * 10_000), "x" * 300 + "…", id="a very long message"),
    ],
)
def test_whatever_is_raised_becomes_one_sentence(error: BaseException, told: str) -> None:
    with pytest.raises(PluginError) as caught:
        Guard().call(_call(), _raise(error))

    assert str(caught.value).endswith(told)
    assert "\n" not in str(caught.value)


def test_strict_raises_the_plugins_own_exception() -> None:
    with pytest.raises(ValueError, match="bad luck"):
        Guard(strict=True).call(_call(), _raise(ValueError("bad luck")))


def test_strict_still_turns_an_exit_into_a_sentence() -> None:
    with pytest.raises(PluginError, match="SystemExit"):
        Guard(strict=True).call(_call(), _raise(SystemExit(0)))


@pytest.mark.parametrize(
    "error",
    [Retry("later", after=3.0), Skip("nothing to do"), UserError("give a name"), StoreUnusable("the disk is full")],
    ids=["retry", "skip", "user error", "the store"],
)
def test_what_is_raised_on_purpose_passes_through_and_is_no_fault(error: Exception) -> None:
    guard = Guard()

    for _ in range(5):
        with pytest.raises(type(error)) as caught:
            guard.call(_call(), _raise(error))
        assert caught.value is error

    assert guard.suspended("lore") == ""


def test_an_overrun_is_given_up_and_its_context_closed() -> None:
    context = _Context()
    release = threading.Event()

    with pytest.raises(PluginError, match=r"command check took longer than its 0.05 s and was given up"):
        Guard().call(_call(seconds=0.05), release.wait, context)

    assert context.closed
    release.set()


def test_three_faults_in_a_row_suspend_the_plugin_and_no_other() -> None:
    guard = Guard()

    for _ in range(3):
        with pytest.raises(PluginError):
            guard.call(_call(), _raise(ValueError("bad luck")))

    with pytest.raises(PluginError, match=r"suspended after 3 failures in a row, the last: .*bad luck"):
        guard.call(_call(), lambda: 42)
    assert guard.call(_call("other"), lambda: 42) == 42


def test_a_success_between_faults_starts_the_count_again() -> None:
    guard = Guard()

    for number in range(6):
        if number % 3 == 2:
            guard.call(_call(), lambda: 42)
        else:
            with pytest.raises(PluginError):
                guard.call(_call(), _raise(ValueError("bad luck")))

    assert guard.suspended("lore") == ""


def test_no_plugin_is_called_while_a_write_is_open() -> None:
    called: list[bool] = []

    with WriteOpen("append"), pytest.raises(HeldAcrossCall):
        Guard().call(_call(), lambda: called.append(True))

    assert not called


def test_an_iterator_is_read_to_its_end() -> None:
    context = _Context()

    values = list(Guard().iterate(_call(), lambda: iter(range(500)), context))

    assert values == list(range(500))
    assert context.closed


def test_what_an_iterator_gave_before_its_fault_is_kept() -> None:
    def failing() -> Iterator[int]:
        yield 1
        yield 2
        raise ValueError("bad luck")

    seen: list[int] = []

    with pytest.raises(PluginError, match="bad luck"):
        seen.extend(iter(Guard().iterate(_call(), failing)))

    assert seen == [1, 2]


def test_an_iterators_time_is_counted_from_step_to_step() -> None:
    release = threading.Event()

    def slow() -> Iterator[int]:
        for number in range(4):
            time.sleep(0.02)
            yield number
        release.wait()

    seen: list[int] = []

    with pytest.raises(PluginError, match="took longer"):
        seen.extend(iter(Guard().iterate(_call(seconds=1.0), slow)))

    assert seen == [0, 1, 2, 3]
    release.set()


def test_an_iterator_nobody_reads_on_is_stopped() -> None:
    made: list[int] = []
    ended = threading.Event()

    def endless() -> Iterator[int]:
        try:
            while True:
                made.append(1)
                yield 1
        finally:
            ended.set()

    steps = Guard().iterate(_call(), endless)
    next(steps)
    steps.close()

    assert ended.wait(10.0)
    assert len(made) < 1_000
