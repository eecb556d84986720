"""Calls made aside: answered, failed, stopped, or left to themselves."""

from __future__ import annotations

import threading
import time

import pytest

from mvpipe.errors import Cancelled, Unreachable
from mvpipe.render.comfyui.steady import aside


class TestAside:
    def test_its_value_is_handed_on(self) -> None:
        assert aside(lambda: 7, lambda: None) == 7

    @pytest.mark.parametrize("kind", [Unreachable, ValueError, TimeoutError, Cancelled])
    def test_so_is_what_it_raises(self, kind: type[BaseException]) -> None:
        def call() -> None:
            raise kind("no")

        with pytest.raises(kind, match="no"):
            aside(call, lambda: None)

    def test_whoever_is_stopped_leaves_it_to_itself(self) -> None:
        release, ended = threading.Event(), threading.Event()

        def call() -> None:
            release.wait(30)
            ended.set()

        def tick() -> None:
            raise Cancelled

        began = time.monotonic()
        with pytest.raises(Cancelled):
            aside(call, tick)
        assert time.monotonic() - began < 1.0
        release.set()
        assert ended.wait(5)

    def test_it_is_waited_for_no_longer_than_allowed(self) -> None:
        release = threading.Event()
        with pytest.raises(TimeoutError):
            aside(lambda: release.wait(30), lambda: None, within_s=0.3)
        release.set()
