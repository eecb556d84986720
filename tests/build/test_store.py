"""A store shows whole files only, holds what it gives against its digest, and keeps the first of two."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from mvpipe.build.key import Task, file_digest
from mvpipe.build.store import Store
from mvpipe.build.vault import Entry, Vault
from mvpipe.errors import SettingsError, VaultError
from tests.amazon import amazon, new_bucket

TASK = Task(name="write", version=1, params={"text": "hello"})
KINDS = ("path", "s3")


def write(folder: Path) -> Mapping[str, Any]:
    (folder / "text.txt").write_text("hello")
    (folder / "more.bin").write_bytes(bytes(range(256)) * 400)
    return {"letters": 5}


def never(folder: Path) -> Mapping[str, Any]:
    raise AssertionError("made twice")


def other(folder: Path) -> Mapping[str, Any]:
    (folder / "text.txt").write_text("another")
    return {"letters": 7}


@pytest.fixture(scope="module")
def server() -> Iterator[Mapping[str, str]]:
    """An S3-compatible server on the loopback; the environment names it as a user's would."""
    with amazon() as environment:
        yield environment


@pytest.fixture
def bucket(server: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> str:
    """A new bucket's URL."""
    for name, value in server.items():
        monkeypatch.setenv(name, value)
    return new_bucket()


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(request.getfixturevalue("bucket") if request.param == "s3" else tmp_path / "shared")


def vault(tmp_path: Path, name: str, url: str, **options: Any) -> Vault:
    """The vault of a machine."""
    return Vault(tmp_path / name, store=Store(url), **options)


def spoil(url: str, digest: str, change: Callable[[bytes], bytes]) -> None:
    """Damage a file in the store."""
    from fsspec.core import url_to_fs

    fs, root = url_to_fs(f"{url}/files/{digest[:2]}/{digest}")
    fs.pipe_file(root, change(fs.cat_file(root)))


def listed(url: str) -> set[str]:
    """Names of all that lies in the store."""
    from fsspec.core import url_to_fs

    fs, root = url_to_fs(url)
    fs.invalidate_cache()
    return {str(path).removeprefix(f"{root}/") for path in fs.find(root)}


def same(a: Entry | None, b: Entry) -> bool:
    return a is not None and (a.key, a.files, a.facts) == (b.key, b.files, b.facts)


def test_what_one_machine_makes_the_other_has(tmp_path: Path, url: str) -> None:
    made = vault(tmp_path, "one", url).make(TASK, write)
    second = vault(tmp_path, "two", url)
    found = second.find(TASK.key)
    assert same(found, made)
    assert same(second.make(TASK, never), made)
    assert found is not None
    assert file_digest(found.path("more.bin")) == made.digest("more.bin")
    assert not found.path("text.txt").stat().st_mode & 0o222
    assert {name.split("/")[0] for name in listed(url)} == {"files", "entries"}
    assert len(listed(url)) == 3


def test_what_was_made_before_there_was_a_store_is_shared_when_asked(tmp_path: Path, url: str) -> None:
    alone = Vault(tmp_path / "one").make(TASK, write)
    assert vault(tmp_path, "two", url).find(TASK.key) is None
    vault(tmp_path, "one", url).share(alone)
    assert same(vault(tmp_path, "three", url).find(TASK.key), alone)


@pytest.mark.parametrize(
    ("change", "says"),
    [(lambda b: b[:-1], "left its digest"), (lambda b: b[:-1] + b"!", "left its digest")],
)
def test_a_damaged_file_is_named_and_made_again(
    tmp_path: Path, url: str, change: Callable[[bytes], bytes], says: str
) -> None:
    made = vault(tmp_path, "one", url).make(TASK, write)
    spoil(url, made.digest("more.bin"), change)
    said: list[str] = []
    second = vault(tmp_path, "two", url, on_damage=said.append)
    assert second.find(TASK.key) is None
    assert "more.bin" in said[0]
    assert says in said[0]
    assert not list((tmp_path / "two").rglob("more.bin")), "nothing damaged is ever seen"
    again = second.make(TASK, write)
    assert again.facts == made.facts
    assert same(vault(tmp_path, "three", url).find(TASK.key), again)


def test_a_record_that_was_changed_is_not_believed(tmp_path: Path, url: str) -> None:
    from fsspec.core import url_to_fs

    vault(tmp_path, "one", url).make(TASK, write)
    fs, root = url_to_fs(url)
    place = f"{root}/entries/{TASK.key[:2]}/{TASK.key}.json"
    fs.pipe_file(place, fs.cat_file(place).replace(b'"letters": 5', b'"letters": 6'))
    said: list[str] = []
    assert vault(tmp_path, "two", url, on_damage=said.append).find(TASK.key) is None
    assert "left its digest" in said[0]
    assert any(name.startswith("damaged/") for name in listed(url))


def test_of_two_who_made_the_same_the_first_stands_for_both(tmp_path: Path, url: str) -> None:
    """Renders are not repeatable to the bit; everybody has to see the same bytes all the same."""
    one, two = vault(tmp_path, "one", url), vault(tmp_path, "two", url)
    second = Vault(tmp_path / "two").make(TASK, other)  # made while it could not see the first
    first = one.make(TASK, write)
    assert same(two.share(second), first)
    assert same(Vault(tmp_path / "two").find(TASK.key), first)


def test_many_writers_and_readers_of_one_key(tmp_path: Path, url: str) -> None:
    """Whoever looks sees nothing or all of it, and in the end all see the same."""
    seen: list[Entry] = []

    def work(name: str) -> None:
        def make(folder: Path) -> Mapping[str, Any]:
            (folder / "text.txt").write_text(name * 50_000)
            return {"by": name}

        seen.append(vault(tmp_path, name, url).make(TASK, make))

    threads = [threading.Thread(target=work, args=(f"m{k}",)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 6
    assert len({entry.facts["by"] for entry in seen}) == 1
    for entry in seen:
        assert entry.path("text.txt").read_text() == entry.facts["by"] * 50_000
    assert not [name for name in listed(url) if "/." in name], "no half file is left"


def test_nothing_is_sent_twice(tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one = vault(tmp_path, "one", url)
    made = one.make(TASK, write)
    assert one.store
    monkeypatch.setattr(one.store, "_send", None)
    one.share(made)
    one.store.put_file(made.path("more.bin"), made.digest("more.bin"))


def test_a_writer_killed_between_files_and_record_leaves_no_entry(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def die(key: str, text: bytes) -> bytes:
        raise Killed

    one = vault(tmp_path, "one", url)
    monkeypatch.setattr(one.store, "put_record", die)
    with pytest.raises(Killed):
        one.make(TASK, write)
    assert vault(tmp_path, "two", url).find(TASK.key) is None
    vault(tmp_path, "one", url).make(TASK, never)  # what is finished is shared by the next who asks
    assert vault(tmp_path, "two", url).find(TASK.key) is not None


def test_a_store_that_does_not_answer_is_one_clear_error(tmp_path: Path, bucket: str) -> None:
    with pytest.raises(VaultError, match=r"^s3://no-such-bucket/x: cannot be used: "):
        vault(tmp_path, "one", "s3://no-such-bucket/x").make(TASK, write)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="this user may write everywhere")
def test_a_path_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir(mode=0o555)
    with pytest.raises(VaultError, match="cannot be used: permission denied"):
        vault(tmp_path, "one", str(tmp_path / "shared")).make(TASK, write)


def test_no_such_protocol_is_the_users_mistake() -> None:
    with pytest.raises(SettingsError, match="--vault: no-such://films"):
        Store("no-such://films")


def test_notes_are_left_and_taken_away(url: str) -> None:
    store = Store(url)
    assert store.marked("probe") is None
    store.mark("probe", b"1")
    store.mark("probe", b"2")
    assert Store(url).marked("probe") == b"2"
    store.unmark("probe")
    assert store.marked("probe") is None
