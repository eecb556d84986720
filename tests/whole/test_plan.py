"""What `plan` tells of the song: its form, its lyrics where they are sung, what better cuts would cost."""

from __future__ import annotations

import pytest

from tests import synth
from tests.whole.studio import Studio, build

PLAN = ("plan", "--vocals", "vocals.wav", "song.wav", "board.yaml")


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Studio:
    return build(tmp_path_factory.mktemp("plan"))


@pytest.fixture(scope="module")
def truth() -> synth.Truth:
    return synth.song(26.0, seed=5, sample_rate=16_000).truth


def stamp(seconds: float) -> str:
    return f"{int(seconds // 60):02}:{seconds % 60:06.3f}"


def lyrics(truth: synth.Truth, shift: float = 0.0) -> str:
    """An .lrc with every word of the song at its time, or all of them later."""
    rows = []
    for start, stop in truth.phrases:
        words = [(a, b) for a, b in truth.words if start - 0.01 <= a < stop]
        stamped = " ".join(f"<{stamp(a + shift)}>la" for a, _ in words)
        rows.append(f"[{stamp(words[0][0] + shift)}]{stamped} <{stamp(words[-1][1] + shift)}>")
    return "\n".join(rows)


def with_lyrics(studio: Studio, name: str, text: str) -> Studio:
    (studio.folder / name).write_text(text, "utf-8")
    board = studio.folder / f"{name}.yaml"
    plain = (studio.folder / "board.yaml").read_text("utf-8")
    board.write_text(plain.replace("title:", f"lyrics: {name}\ntitle:"), "utf-8")
    return Studio(studio.folder, storyboard=board.name)


def asked(studio: Studio) -> tuple[str, ...]:
    return (*PLAN[:-1], studio.storyboard)


def test_the_form_of_the_song_is_in_the_plan(studio: Studio, truth: synth.Truth) -> None:
    plan = studio.json(*PLAN)
    assert plan["sections"][0]["start"] == 0
    assert plan["sections"][-1]["stop"] == pytest.approx(26, abs=0.02)
    assert {"label", "time", "voice"} <= set(plan["sections"][0])
    assert len(plan["phrases"]) == pytest.approx(len(truth.phrases), abs=1)
    assert plan["lines"] == []


def test_words_with_times_are_not_cut(studio: Studio, truth: synth.Truth) -> None:
    worded = with_lyrics(studio, "right.lrc", lyrics(truth))
    plan = worded.json(*asked(worded))
    assert plan["cuts_inside_words"] == 0
    assert [line["word_timing"] for line in plan["lines"]] == ["given"] * len(truth.phrases)
    assert not any(truth.inside_word(shot["cut"]["start"] / 24) for shot in plan["shots"][1:])
    assert "cuts inside a word: 0 of" in worded.run(*asked(worded)).stdout


def test_lyrics_of_another_song_are_not_used_and_that_is_said(studio: Studio, truth: synth.Truth) -> None:
    apart = "\n".join(f"[{stamp(t)}]<{stamp(t)}>la <{stamp(t + 0.2)}>la" for t in gaps(truth))
    worded = with_lyrics(studio, "wrong.lrc", apart)
    done = worded.run(*asked(worded))
    assert "wrong.lrc: the times do not fit the voice" in done.stderr
    assert "(by the voice" in done.stdout


def gaps(truth: synth.Truth) -> list[float]:
    return [stop + 0.1 for _, stop in truth.phrases if stop < 25][:6]


def test_lyrics_that_end_after_the_song_are_an_error(studio: Studio) -> None:
    worded = with_lyrics(studio, "long.srt", "1\n00:09:00,000 --> 00:09:04,000\nno way home\n")
    done = worded.run(*asked(worded), expect=4)
    assert "long.srt: 1 of 1 lines begin after the song has ended" in done.stderr


def test_plain_lyrics_are_laid_with_their_confidence(studio: Studio, truth: synth.Truth) -> None:
    text = "\n".join("over the harbour again" for _ in truth.phrases)
    worded = with_lyrics(studio, "plain.txt", text)
    done = worded.run(*asked(worded))
    assert "laid along the phrases by length alone" in done.stderr
    assert "(by the voice: no times of words are known)" in done.stdout


def test_the_frontier_names_what_the_storyboard_asks_for(studio: Studio) -> None:
    choices = studio.json(*PLAN[:1], "--frontier", *PLAN[1:])["frontier"]
    assert sum(choice["chosen"] for choice in choices) == 1
    shown = studio.run(*PLAN[:1], "--frontier", *PLAN[1:]).stdout
    assert "cuts: {longest: 15, thrift: 1}   <- this one" in shown


def test_a_performance_over_silence_and_b_roll_over_singing_are_noted(studio: Studio) -> None:
    board = studio.folder / "odd.yaml"
    plain = (studio.folder / "board.yaml").read_text("utf-8")
    changed = plain.replace("{prompt: Mira sings to us, cast: [mira]}", "{kind: b-roll, prompt: rain}")
    board.write_text(changed, "utf-8")
    noted = studio.run(*PLAN[:-1], "odd.yaml").stderr
    assert "b-roll over singing throughout: shot " in noted
