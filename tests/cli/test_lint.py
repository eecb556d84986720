"""`mvpipe lint`, once and again."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GOOD = "mvpipe: 1\ntitle: T\nlyrics: w.lrc\nsections: [{name: a, shots: [{kind: b-roll, prompt: x}]}]\n"


class Watcher:
    """`mvpipe lint --watch`, and what it says."""

    def __init__(self, folder: Path) -> None:
        self.child = subprocess.Popen(
            [sys.executable, "-m", "mvpipe", "lint", "--watch", "film.yaml"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        self.said: queue.Queue[str] = queue.Queue()
        self.listener = threading.Thread(target=self._listen, daemon=True)
        self.listener.start()

    def _listen(self) -> None:
        assert self.child.stdout is not None
        for row in self.child.stdout:
            self.said.put(row)

    def until(self, words: str) -> str:
        """What is said up to a line with these words."""
        heard = ""
        while words not in heard:
            heard += self.said.get(timeout=30)
        return heard


@pytest.fixture
def watcher(tmp_path: Path) -> Iterator[Watcher]:
    (tmp_path / "w.lrc").write_text("[00:01]la\n")
    (tmp_path / "film.yaml").write_text(GOOD)
    watcher = Watcher(tmp_path)
    yield watcher
    watcher.child.kill()
    watcher.child.wait()
    watcher.listener.join()
    assert watcher.child.stdout is not None
    watcher.child.stdout.close()


def test_it_says_what_a_save_made_of_the_storyboard_and_ends_quietly(
    watcher: Watcher, tmp_path: Path
) -> None:
    watcher.until("nothing to note")
    film = tmp_path / "film.yaml"
    film.write_text(GOOD.replace("prompt: x", "prompt: ''"))
    assert "film.yaml:4:" in watcher.until("1 note")
    film.write_text(GOOD.replace("kind:", "kidn:"))
    assert "did you mean kind?" in watcher.until("hint")
    (tmp_path / "w.lrc").write_text("no stamp\n")
    film.write_text(GOOD)
    watcher.until("no time stamp")
    (tmp_path / "w.lrc").write_text("[00:01]la la\n")
    film.unlink()
    saved = tmp_path / "film.yaml.new"
    saved.write_text(GOOD)
    saved.rename(film)
    watcher.until("nothing to note")
    watcher.child.send_signal(signal.SIGINT)
    assert watcher.child.wait(timeout=20) == 0
    watcher.until("no longer watched")


@pytest.mark.parametrize(
    ("render", "said"),
    [
        ("graph: native-ref2v", "graph: native-ref2v: no such template"),
        ("sampling: {steps: 5}", "distilled to so many calls"),
        ("profile: ref2va-turbo-8", "film.yaml: nothing to note"),
    ],
)
def test_a_film_for_comfyui_is_checked_down_to_its_graph(tmp_path: Path, render: str, said: str) -> None:
    (tmp_path / "w.lrc").write_text("[00:01]la\n")
    (tmp_path / "film.yaml").write_text(GOOD + f"render: {{backend: comfyui, {render}}}\n")
    argv = [sys.executable, "-m", "mvpipe", "lint", "film.yaml"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, env=env, check=False)
    assert said in ran.stdout + ran.stderr
    assert ran.returncode == (0 if "nothing" in said else 2)


def test_a_picture_that_is_none_is_named_where_it_stands(tmp_path: Path) -> None:
    (tmp_path / "w.lrc").write_text("[00:01]la\n")
    (tmp_path / "film.yaml").write_text(GOOD + "cast: {mira: {is: x, pictures: [w.lrc]}}\n")
    argv = [sys.executable, "-m", "mvpipe", "lint", "film.yaml"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, env=env, check=False)
    assert "film.yaml:5:33: cast.mira.pictures[0]: " in ran.stderr
    assert "not a picture that can be read\n hint: use a PNG, JPEG or WebP file" in ran.stderr
    assert ran.returncode == 2
