"""Work travels as code and content: no path of one machine means anything on the other."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mvpipe.build.errand import Errand, Fault, Kit, do, version
from mvpipe.build.graph import Progress, Work
from mvpipe.build.key import Task
from mvpipe.build.parcel import Packer, Unpacker
from mvpipe.build.store import Store
from mvpipe.build.vault import Vault
from mvpipe.errors import Cancelled, MvpipeError, RenderFailed, VaultError

TASK = Task(name="cook", version=1)


class Server:
    """What every machine has of its own."""

    def __init__(self, name: str) -> None:
        self.name = name


@pytest.fixture
def here(tmp_path: Path) -> Vault:
    return Vault(tmp_path / "here", store=Store(str(tmp_path / "store")))


@pytest.fixture
def there(tmp_path: Path) -> Vault:
    return Vault(tmp_path / "there", store=Store(str(tmp_path / "store")), by="ada")


def entry_of(vault: Vault, text: str) -> Any:
    def make(folder: Path) -> Mapping[str, Any]:
        (folder / "dish").write_text(text)
        return {}

    return vault.make(Task(name="soup", version=1, params={"text": text}), make)


def sent(here: Vault, there: Vault, work: Work, own: Mapping[type[Any], str] | None = None) -> Work:
    data = Packer(here, own or {}).pack(work)
    return Unpacker(vault=there, own={"server": lambda: Server("theirs")}).unpack(data)


def test_paths_become_those_of_the_machine_that_unpacks(here: Vault, there: Vault, tmp_path: Path) -> None:
    soup, song = entry_of(here, "soup"), tmp_path / "my song.wav"
    song.write_bytes(b"sound")
    file, folder, nowhere, server = soup.path("dish"), tmp_path, Path("not here"), Server("ours")

    def make(into: Path, progress: Progress) -> Mapping[str, Any]:
        texts = [file.read_text(), soup.path("dish").read_text(), song.read_text()]
        return {"texts": texts, "paths": [file, song, folder, nowhere], "server": server.name}

    found = sent(here, there, Work(task=TASK, make=make), {Server: "server"})
    assert found.task == TASK
    song.unlink()
    facts = found.make(tmp_path, lambda done, of: None)
    assert facts["texts"] == ["soup", "soup", "sound"]
    dish, sound, *rest = facts["paths"]
    assert dish.is_relative_to(there.root)
    assert sound.is_relative_to(there.root)
    assert sound.name == "my song.wav"
    assert rest == [folder, nowhere], "a folder is no content"
    assert facts["server"] == "theirs"


def test_an_input_that_is_damaged_in_the_store_is_said(here: Vault, there: Vault, tmp_path: Path) -> None:
    song = tmp_path / "song.wav"
    song.write_bytes(b"sound")

    def make(into: Path, progress: Progress) -> Mapping[str, Any]:
        return {"bytes": len(song.read_bytes())}

    data = Packer(here).pack(Work(task=TASK, make=make))
    (file,) = (tmp_path / "store" / "files").rglob("[0-9a-f]" * 64)
    file.write_bytes(b"noise")
    with pytest.raises(VaultError, match=r"song.wav left its digest"):
        Unpacker(vault=there, own={}).unpack(data)


def test_a_file_that_changed_is_sent_as_it_is_now(here: Vault, there: Vault, tmp_path: Path) -> None:
    song = tmp_path / "song.wav"
    packer, seen = Packer(here), []

    def make(into: Path, progress: Progress) -> Mapping[str, Any]:
        return {"text": song.read_text()}

    for text in ("one", "three"):
        song.write_text(text)
        work = Unpacker(vault=there, own={}).unpack(packer.pack(Work(task=TASK, make=make)))
        seen.append(work.make(tmp_path, lambda done, of: None)["text"])
    assert seen == ["one", "three"]


def errand(here: Vault, work: Work, tmp_path: Path, **changes: Any) -> Errand:
    words: dict[str, Any] = {"version": version(), **changes}
    return Errand(
        name="errand", key=work.task.key, parcel=Packer(here).pack(work), store=str(tmp_path / "store"),
        kit=lambda: Kit(folder=tmp_path / "there", own={}), **words,
    )  # fmt: skip


def nothing(folder: Path, progress: Progress) -> Mapping[str, Any]:
    progress(1, 2)
    return {}


def test_an_errand_is_done_once_and_says_by_whom(here: Vault, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    one = errand(here, Work(task=TASK, make=nothing), tmp_path)
    answer = do(one, "ada", lambda done, of: told.append((done, of)))
    assert (answer.by, answer.fault, answer.stopped) == ("ada", None, False)
    assert answer.seconds > 0
    assert told == [(0, 0)], "words of progress are few"
    entry = here.find(TASK.key)
    assert entry is not None
    assert entry.by == "ada"
    again = do(one, "ben", lambda done, of: None)
    assert (again.by, again.seconds, again.fault, again.stopped) == ("ben", 0.0, None, False)


def test_an_errand_of_another_version_is_not_begun(here: Vault, tmp_path: Path) -> None:
    answer = do(
        errand(here, Work(task=TASK, make=nothing), tmp_path, version="old"), "ada", lambda d, o: None
    )
    assert answer.misfit.endswith("and not old")
    assert here.find(TASK.key) is None


def test_what_fails_is_said_as_it_was(here: Vault, tmp_path: Path) -> None:
    def fail(folder: Path, progress: Progress) -> Mapping[str, Any]:
        raise RenderFailed("shot 1: black", hint="look", sign="black")

    answer = do(errand(here, Work(task=TASK, make=fail), tmp_path), "ada", lambda done, of: None)
    assert answer.fault
    error = answer.fault.error()
    assert isinstance(error, RenderFailed)
    assert (str(error), error.hint, error.sign) == ("shot 1: black", "look", "black")


def test_what_is_stopped_says_so(here: Vault, tmp_path: Path) -> None:
    def stop(folder: Path, progress: Progress) -> Mapping[str, Any]:
        raise Cancelled

    assert do(errand(here, Work(task=TASK, make=stop), tmp_path), "ada", lambda done, of: None).stopped


def test_every_failure_there_is_can_travel() -> None:
    """Whatever its class wants to be made of."""
    import pickle

    for name in ("render.comfyui.failures", "render.comfyui.schema", "tools.sound", "storyboard.problems"):
        importlib.import_module(f"mvpipe.{name}")
    kinds, line = set[type[MvpipeError]](), [MvpipeError]
    while line:
        kinds.add(kind := line.pop())
        line += kind.__subclasses__()
    assert len(kinds) > 20
    for kind in kinds:
        error = kind.__new__(kind, "where: what")
        error.args, error.hint = ("where: what",), "do this"
        again = pickle.loads(pickle.dumps(Fault.of(error))).error()
        assert type(again) is kind
        assert (str(again), again.hint) == ("where: what", "do this")
