"""The plan as a page: whole, silent towards the network, and deaf to what the storyboard would have it do."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from mvpipe.tools.encode import read_mono
from tests.whole.studio import Studio, build

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)> & \u2028 %(title)s"


class Parsed(HTMLParser):
    """Scripts, styles, attributes and shown text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.styles: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.shown = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            attrs, text = self.scripts.pop()
            self.scripts.append((attrs, text + data))
        elif self.open and self.open[-1] == "style":
            self.styles.append(data)
        else:
            self.shown += data

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Studio:
    """A film whose prompt would like to be a program."""
    studio = build(tmp_path_factory.mktemp("page"))
    studio.edit("prompt: rain on a window", f"prompt: {json.dumps(EVIL)}")
    studio.edit("title: Small Film", f"title: {json.dumps(EVIL)}\nlyrics: w.lrc")
    (studio.folder / "w.lrc").write_text(f"[00:02.00]{EVIL}\n[00:09.00]la la\n", "utf-8")
    plan = ["plan", "--vocals", "vocals.wav", "--html", "the plan.html", studio.song, studio.storyboard]
    studio.run(*plan)
    return studio


@pytest.fixture(scope="module")
def text(studio: Studio) -> str:
    return (studio.folder / "the plan.html").read_text("utf-8")


@pytest.fixture(scope="module")
def data(text: str) -> Any:
    return json.loads(Parsed(text).scripts[0][1])


def test_only_our_own_script_is_there_and_the_policy_lets_run_no_other(text: str) -> None:
    found = Parsed(text)
    (data, _), (attrs, script) = found.scripts
    assert (data["type"], attrs) == ("application/json", {})
    policy = next(
        tag["content"] for _, tag in found.tags if tag.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy
    for code, name in ((script, "script-src"), ("".join(found.styles), "style-src")):
        digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert not [tag for tag, _ in found.tags if tag in {"img", "iframe", "link", "object", "base"}]
    assert not [name for _, attrs in found.tags for name in attrs if name.startswith("on") or name == "style"]


def test_what_the_storyboard_says_is_text(text: str, data: Any) -> None:
    assert "</script><script>alert(1)</script>" in Parsed(text).shown
    assert data["shots"][1]["short"] or data["lines"]
    assert data["lines"][0]["text"].startswith("</script>")


def test_it_asks_nothing_of_the_network(text: str) -> None:
    assert not re.search(
        r"https?:|//[a-z]|url\(|@import|fetch\(|XMLHttp|import\(", re.sub(r'"[A-Za-z0-9+/=]{200,}"', "", text)
    )


def test_it_carries_the_song_and_the_voice_from_their_first_sample(data: Any, tmp_path: Path) -> None:
    for kind in ("song", "voice"):
        path = tmp_path / f"{kind}.mp3"
        path.write_bytes(base64.b64decode(data["audio"][kind]))
        assert len(read_mono(path, 8000)) / 8000 == pytest.approx(data["seconds"], abs=0.1)
    assert len(base64.b64decode(data["peak"])) == pytest.approx(data["seconds"] * data["hops"], abs=2)


def test_every_shot_has_its_card_its_reason_and_its_window(studio: Studio, text: str, data: Any) -> None:
    plan = studio.plan()
    assert [shot["n"] for shot in data["shots"]] == [shot["number"] for shot in plan["shots"]]
    assert [shot["window"][0] * 24 for shot in data["shots"]] == pytest.approx(
        [shot["window"]["start"] for shot in plan["shots"]]
    )
    shown = Parsed(text).shown
    for shot in plan["shots"][1:]:
        assert shot["why"] in shown
        assert not shot["runner_up"] or shot["runner_up"] in shown
    assert text.count("<article") == len(plan["shots"])


def test_open_writes_it_into_the_report_and_says_where_if_no_browser_takes_it(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWSER", "no-such-browser-here")
    ran = studio.run("plan", "--open", "--vocals", "vocals.wav", studio.song, studio.storyboard)
    page = studio.project / "report" / "plan.html"
    assert page.is_file()
    assert str(page) in ran.stderr
    gone = studio.run("plan", "--html", "no/x.html", studio.song, studio.storyboard, expect=2)
    assert "no such folder" in gone.stderr


def test_the_diff_says_what_changed_since_the_last_plan(studio: Studio) -> None:
    plan = ["plan", "--vocals", "vocals.wav", "--diff", studio.song, studio.storyboard]
    assert "since the last plan: nothing changed" in studio.run(*plan).stdout
    cut = studio.plan()["shots"][2]["cut"]["start"]
    studio.edit("a tram passes", "a boat passes")
    studio.edit("picture:", f"cuts: {{at: {{3: {(cut + 5) / 24:.4f}}}}}\npicture:")
    said = studio.run(*plan).stdout
    assert "since the last plan: shot 4: prompt: a tram passes -> a boat passes" in said
    assert re.search(r"since the last plan: cut moved: \S+ -> \S+, \+5 frames", said)
