"""The failure tree is what the module's own drawing says, and every failure can be told from outside."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator

import pytest

from mvpipe import errors
from mvpipe.errors import Cancelled, MvpipeError, ToolError


def family(root: type[MvpipeError]) -> Iterator[type[MvpipeError]]:
    """A class and everything derived from it."""
    yield root
    for child in root.__subclasses__():
        yield from family(child)


TREE = [cls for cls in family(MvpipeError) if cls.__module__ == errors.__name__]

EXIT_CODES = {
    "StoryboardError": 2, "SettingsError": 2, "PlanError": 3, "MediaError": 4, "ToolError": 5,
    "BackendError": 6, "TakesExhausted": 7, "VaultError": 8, "ProofFailed": 9, "CannotJudge": 10,
    "NotReady": 11, "PipelineFault": 12,
}  # fmt: skip


def test_exit_codes_are_kept_for_good() -> None:
    direct = {cls.__name__: cls.exit_code for cls in MvpipeError.__subclasses__() if cls in TREE}
    assert direct == EXIT_CODES
    assert (MvpipeError.exit_code, Cancelled.exit_code) == (1, 130)


@pytest.mark.parametrize("cls", TREE[1:], ids=lambda cls: cls.__name__)
def test_a_failure_has_the_exit_code_of_its_branch(cls: type[MvpipeError]) -> None:
    (branch,) = [base.__name__ for base in cls.__mro__ if base.__name__ in EXIT_CODES]
    assert cls.exit_code == EXIT_CODES[branch]


def test_the_drawing_names_every_failure() -> None:
    drawing = (errors.__doc__ or "").split("A message reads")[0]
    drawn = set(re.findall(r"\b[A-Z][A-Za-z]+\b", drawing)) & set(vars(errors))
    assert drawn == {cls.__name__ for cls in [*TREE, Cancelled]}


def test_only_two_may_be_tried_again() -> None:
    assert {cls.__name__ for cls in TREE if cls.retryable} == {"Unreachable", "RenderTimeout"}


def test_being_stopped_is_not_a_failure() -> None:
    assert not issubclass(Cancelled, Exception), "a broad except must not swallow Ctrl-C"


@pytest.mark.parametrize("cls", TREE, ids=lambda cls: cls.__name__)
def test_message_and_hint_survive_another_process(cls: type[MvpipeError]) -> None:
    there = pickle.loads(pickle.dumps(cls("song.wav: length: 0 samples", hint="export it again")))
    assert type(there) is cls
    assert (str(there), there.hint) == ("song.wav: length: 0 samples", "export it again")


def test_a_programs_failure_keeps_all_it_said() -> None:
    failed = ToolError("ffmpeg: exit status 1: x", argv=["ffmpeg", "-i"], status=1, stderr="a\nx\n")
    there = pickle.loads(pickle.dumps(failed))
    assert (there.argv, there.status, there.stderr, there.hint) == (("ffmpeg", "-i"), 1, "a\nx\n", "")
