from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mvpipe.build.key import Task
from mvpipe.build.vault import Vault
from mvpipe.errors import MediaError, PlanError, SettingsError
from mvpipe.gate import syncnet
from mvpipe.labelled import (
    Pair,
    clips_in,
    pair,
    planned_start,
    planned_vocal,
    read_voice,
    sung_elsewhere,
    title_of,
)
from mvpipe.production import STEM
from mvpipe.sound import wav


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def take_of(project: Path, shot: int) -> Path:
    plan = {"rate": "24", "shots": [{"number": 3, "window": {"start": 252, "stop": 400}}]}
    touch(project / "plan.json").write_text(json.dumps(plan))
    take = project / "takes" / f"shot-{shot:03}" / "take-1.mp4"
    take.parent.mkdir(parents=True, exist_ok=True)
    take.symlink_to(touch(project / "vault" / "clip.mp4"))
    return take


def test_folders_are_searched_and_nothing_counts_twice(tmp_path: Path) -> None:
    clips = [touch(tmp_path / name) for name in ("a.mp4", "b/c.MOV", "b/d.mkv")]
    touch(tmp_path / "a.wav")
    assert clips_in([tmp_path, clips[0]]) == sorted(clips)
    with pytest.raises(MediaError, match="no clips"):
        clips_in([touch(tmp_path / "empty" / "x.txt").parent])
    with pytest.raises(MediaError, match="no such file"):
        clips_in([tmp_path / "nowhere.mp4"])


def test_a_sound_file_beside_a_clip_is_its_voice(tmp_path: Path) -> None:
    clip, voice = touch(tmp_path / "a.mp4"), touch(tmp_path / "a.wav")
    song = touch(tmp_path / "song.wav")
    assert pair(clip, song) == Pair(clip=clip, vocal=voice, start=Fraction(0))
    with pytest.raises(SettingsError, match="no voice beside it"):
        pair(touch(tmp_path / "b.mp4"), None)


def test_a_take_of_a_project_begins_where_its_window_does(tmp_path: Path) -> None:
    clip, song = take_of(tmp_path / "film.mvpipe", 3), touch(tmp_path / "song.wav")
    assert planned_start(clip) == Fraction(21, 2)
    assert pair(clip, song).start == Fraction(21, 2)
    assert title_of(clip) == "shot 3, take 1"
    assert title_of(tmp_path / "a.mp4") == "a.mp4"
    assert planned_start(touch(tmp_path / "a.mp4")) is None
    with pytest.raises(PlanError, match="shot 4"):
        planned_start(take_of(tmp_path / "film.mvpipe", 4))


def test_a_take_of_a_project_knows_the_vocal_of_its_song(tmp_path: Path) -> None:
    def sing(folder: Path) -> dict[str, str]:
        wav.write(folder / STEM, [np.zeros((800, 1), np.float32)], sample_rate=800, channels=1, samples=800)
        return {}

    project = tmp_path / "film.mvpipe"
    clip = take_of(project, 3)
    assert planned_vocal(clip) is None, "a plan of an earlier version"
    vocals = Vault(project / "vault").make(Task(name="vocals", version=1), sing)
    plan = json.loads((project / "plan.json").read_text())
    (project / "plan.json").write_text(json.dumps(plan | {"vocals": vocals.key}))
    assert planned_vocal(clip) == vocals.path(STEM)
    assert pair(clip, None) == Pair(clip=clip, vocal=vocals.path(STEM), start=Fraction(21, 2))
    (project / "plan.json").write_text(json.dumps(plan | {"vocals": "0" * 64}))
    assert planned_vocal(clip) is None, "swept away"
    assert planned_vocal(touch(tmp_path / "a.mp4")) is None


def test_a_voice_is_read_from_where_the_clip_begins(tmp_path: Path) -> None:
    song = tmp_path / "song.wav"
    ramp = (np.arange(48_000) / 48_000).astype(np.float32)[:, None]
    wav.write(song, [ramp], sample_rate=24_000, channels=1, samples=48_000)
    voice, sample_rate = read_voice(Pair(clip=tmp_path / "a.mp4", vocal=song, start=Fraction(1, 2)))
    assert sample_rate == 24_000
    assert len(voice) == 36_000
    assert voice[0] == pytest.approx(0.25)
    with pytest.raises(SettingsError, match="ends before"):
        read_voice(Pair(clip=tmp_path / "a.mp4", vocal=song, start=Fraction(2)))


def test_what_is_heard_elsewhere_is_as_long_as_the_clip_and_not_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hear(_: object, voice: np.ndarray[tuple[int], np.dtype[np.int16]]) -> np.ndarray[tuple[int, int]]:
        begins = voice[: len(voice) - 4 * syncnet.SAMPLES : syncnet.SAMPLES]
        return np.repeat(begins[:, None].astype(np.float32), 1024, axis=1)

    monkeypatch.setattr(syncnet, "hear", hear)
    song = tmp_path / "song.wav"
    seconds = np.repeat(np.arange(90) / 100, 1000).astype(np.float32)[:, None]  # each says which it is
    wav.write(song, [seconds + 0.05], sample_rate=1000, channels=1, samples=90_000)
    clip = Pair(clip=tmp_path / "a.mp4", vocal=song, start=Fraction(30))
    found = sung_elsewhere(clip, 6.0, 20, syncnet.SyncNet())
    assert len(found) == 20
    assert {len(one) for one in found} == {146}
    begins = [100 * (float(one[2, 0]) / 32767 - 0.05) for one in found]
    assert not any(23.5 < begin < 36.5 for begin in begins)
    assert sung_elsewhere(clip, 40.0, 20, syncnet.SyncNet()) == []
