"""Servers of the settings file, and the secrets they are called with: found, and never told."""

from __future__ import annotations

from pathlib import Path

import pytest

from mvpipe.cli.servers import find_machines, find_server, load_servers
from mvpipe.cli.session import shown_words
from mvpipe.cli.settings import load_defaults
from mvpipe.errors import SettingsError
from mvpipe.render.backend import NO_LIMITS, Limits

SECRET = "geheimes-wort"

SETTINGS = f"""\
workers = 3
[servers.studio]
url = "https://render.example/comfy/"
headers = {{Authorization = "Bearer {SECRET}", X-Team = "film"}}
weight = 2
[servers.attic]
url = "http://attic:8188?token={SECRET}"
"""


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "settings.toml"
    path.write_text(SETTINGS, "utf-8")
    monkeypatch.setenv("MVPIPE_SETTINGS", str(path))
    monkeypatch.delenv("MVPIPE_HEADERS", raising=False)
    return path


def test_a_server_by_its_name_and_by_its_address(settings: Path) -> None:
    named = find_server("studio")
    assert (named.base, named.headers["Authorization"]) == (
        "https://render.example/comfy",
        f"Bearer {SECRET}",
    )
    assert find_server("https://render.example/comfy") == named
    assert find_server("comfyui") == find_server(None) == named, "the first in the file"
    assert find_server("attic").query == find_server("http://attic:8188").query == (("token", SECRET),)
    other = find_server("http://elsewhere:8188")
    assert (other.base, dict(other.headers)) == ("http://elsewhere:8188", {})
    assert [server.weight for server in load_servers().values()] == [2.0, 1.0]
    assert load_defaults()["render"]["workers"] == 3


def test_command_line_over_environment_over_file(settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MVPIPE_HEADERS", "Authorization: Bearer two\nX-Extra: yes\n")
    assert dict(find_server("studio").headers) == {
        "Authorization": "Bearer two",
        "X-Team": "film",
        "X-Extra": "yes",
    }
    assert find_server("studio", ["Authorization: Bearer three"]).headers["Authorization"] == "Bearer three"


def test_without_a_file_there_is_the_local_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MVPIPE_SETTINGS", str(tmp_path / "none.toml"))
    assert find_server(None).base == "http://127.0.0.1:8188"
    assert load_servers() == {}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f'[servers.a]\nurll = "x"\nheaders = {{A = "{SECRET}"}}', "servers.a.urll: unknown"),
        (f'[servers.a]\nheaders = {{A = "{SECRET}"}}', "servers.a.url: missing"),
        (f'[servers.a]\nurl = "http://a"\nheaders = "{SECRET}"', "servers.a.headers: not what is wanted"),
        ('[servers.a]\nurl = "http://a"\nheaders = {A = 3}', "servers.a.headers: not texts"),
        ('[servers.a]\nurl = "http://a"\nweight = 0', "servers.a.weight: must be over 0"),
        ('[servers.a]\nurl = "http://a"\nweight = true', "servers.a.weight: not what is wanted"),
        ("servers = 3", "servers: not tables"),
        (f'[servers.a]\nurl = "http://a"\nheaders = {{"a b" = "{SECRET}"}}', "its name cannot be sent"),
        (f'[servers.a]\nurl = "http://a"\nheaders = {{A = "{SECRET}\\n"}}', "its value: not plain ASCII"),
        ('[servers.a]\nurl = "http://a"\nauthority = "/nowhere.pem"', "no such file"),
    ],
)
def test_what_cannot_be_used_is_said_without_a_secret(settings: Path, text: str, says: str) -> None:
    settings.write_text(text, "utf-8")
    with pytest.raises(SettingsError) as caught:
        find_server("a")
    assert says in str(caught.value)
    assert SECRET not in f"{caught.value} {caught.value.hint}"


def test_a_header_without_a_colon_is_not_repeated(settings: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        find_server("studio", [SECRET])
    assert SECRET not in f"{caught.value} {caught.value.hint}"


def test_neither_repr_nor_command_line_tells(settings: Path) -> None:
    assert SECRET not in repr(find_server("studio")) + repr(load_servers())
    words = [
        "render", "--header", f"X-Key: {SECRET}", f"--header=X-Key: {SECRET}", "--header", SECRET,
        "--backend", f"user:{SECRET}@host/a", f"https://host?{SECRET}", "--only", "3",
    ]  # fmt: skip
    told = shown_words(words)
    assert SECRET not in " ".join(told)
    assert told[:3] == ["render", "--header", "X-Key: ***"]
    assert told[-2:] == ["--only", "3"]


def test_several_servers_each_once_with_their_weights(settings: Path) -> None:
    both = find_machines(["all"])
    assert [one.address.base for one in both] == ["https://render.example/comfy", "http://attic:8188"]
    assert [one.weight for one in both] == [2.0, 1.0]
    assert find_machines(["studio", "attic", "https://render.example/comfy"]) == both
    assert find_machines(()) == find_machines(["studio"]), "the first in the file"


def test_a_header_for_one_of_several_servers_is_not_sent_to_all(
    settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SettingsError, match="which of several servers"):
        find_machines(["studio", "attic"], ["X-Api-Key: word"])
    monkeypatch.setenv("MVPIPE_HEADERS", f"X-Api-Key: {SECRET}")
    with pytest.raises(SettingsError) as caught:
        find_machines(["all"])
    assert SECRET not in str(caught.value)


def test_the_animatic_shares_no_film_with_a_server(settings: Path) -> None:
    with pytest.raises(SettingsError, match="not a server"):
        find_machines(["studio", "animatic"])


def test_all_of_no_servers_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MVPIPE_SETTINGS", str(tmp_path / "none.toml"))
    monkeypatch.delenv("MVPIPE_HEADERS", raising=False)
    with pytest.raises(SettingsError, match="no servers in it"):
        find_machines(["all"])


def test_a_backend_in_the_settings_file_is_one_of_possibly_many(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text('backend = "animatic"\n[render]\nbackend = ["a", "b"]\n', "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MVPIPE_SETTINGS", str(path))
        assert load_defaults()["plan"]["backend"] == ["animatic"]
        assert load_defaults()["render"]["backend"] == ["a", "b"]


LIMITED = """
[attic]
url = "http://attic:8188"
largest = "960x544"
longest = 8
profiles = ["ref2va-turbo-4"]
"""


def test_a_file_beside_the_settings_has_servers_alone_with_what_they_are_to_be_given(
    settings: Path,
) -> None:
    settings.write_text(SETTINGS.partition("[servers.attic]")[0], "utf-8")
    apart = settings.with_name("servers.toml")
    apart.write_text(LIMITED, "utf-8")
    studio, attic = find_machines(["all"])
    assert studio.limits == NO_LIMITS
    assert attic.limits == Limits(largest=(960, 544), longest_s=8.0, profiles=("ref2va-turbo-4",))
    apart.write_text(LIMITED.replace("[attic]", "[studio]"), "utf-8")
    with pytest.raises(SettingsError, match=r"servers.toml: studio: in settings.toml as well"):
        load_servers()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('largest = "big"', "attic.largest: not a size: big"),
        ("longest = 0", "attic.longest: must be over 0 seconds"),
        ('profiles = ["turbo"]', "attic.profiles: no such profile: turbo"),
        ("profiles = 4", "attic.profiles: not what is wanted there"),
    ],
)
def test_a_limit_that_is_none_is_said(settings: Path, line: str, says: str) -> None:
    settings.with_name("servers.toml").write_text(f'[attic]\nurl = "http://a:1"\n{line}\n', "utf-8")
    settings.write_text("", "utf-8")
    with pytest.raises(SettingsError, match=says):
        load_servers()
