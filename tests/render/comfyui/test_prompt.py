"""Prompts: golden ones as somebody read them, and the rules they keep whatever is asked."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product

import pytest

from mvpipe.errors import StoryboardError
from mvpipe.film import ShotKind
from mvpipe.render.backend import Setup
from mvpipe.render.comfyui.bank import references
from mvpipe.render.comfyui.prompt import Prompt, compose
from mvpipe.render.comfyui.script import WITHOUT_VOICE, Sounding
from mvpipe.render.comfyui.wording import SECTIONS, faults, sections
from tests.render.comfyui.golden import HERE, golden_prompts
from tests.render.comfyui.setups import MIRA, STREET, TOMAS, setup, sounding

SINGING_TOMAS = replace(TOMAS, sings=True)


def told(shot: Setup, sound: Sounding | None = None, *, lyrics: str = "") -> Prompt:
    return compose(shot, references(shot), sound or sounding(shot), lyrics=lyrics)


@pytest.mark.parametrize("name", golden_prompts())
def test_golden(name: str) -> None:
    assert golden_prompts()[name].text + "\n" == (HERE / f"{name}.txt").read_text("utf-8")


CASTS = ((), (MIRA,), (replace(MIRA, pictures=()),), (MIRA, TOMAS), (TOMAS, MIRA), (MIRA, SINGING_TOMAS))
PLACES = (None, STREET, replace(STREET, pictures=()))


@pytest.mark.parametrize("sound", Sounding)
@pytest.mark.parametrize("kind", ShotKind)
def test_every_tag_has_its_input_and_every_input_its_tag(sound: Sounding, kind: ShotKind) -> None:
    for cast, place, lyric in product(CASTS, PLACES, ("", "no way home#2")):
        shot = setup(cast=cast, place=place, kind=kind, lyric=lyric)
        bank = references(shot)
        text = compose(shot, bank, sound, lyrics="English").text
        audios = int(sound is not Sounding.NONE)
        assert faults(text, pictures=len(bank.pictures), audios=audios) == []
        assert list(sections(text)) == list(SECTIONS)
        retention = sections(text)["retention_analysis"]
        assert retention.count("<Audio 1>: fully_copy - ") == audios


class TestWhoSings:
    def test_the_singer_is_the_voice(self) -> None:
        text = told(setup()).text
        assert "<Audio 1> is the isolated singing voice of <Subject 1> (S1)." in text
        assert "<Subject 1> (S1) sings the passage of <Audio 1> in the picture." in text
        assert "[reference generation + audio reuse]" in text

    def test_of_two_the_one_who_does_not_sing_listens(self) -> None:
        text = told(setup(cast=(TOMAS, MIRA))).text
        assert "voice of <Subject 2> (S1)." in text
        assert "<Subject 1> listens with closed lips." in text
        assert "(S2)" not in text

    def test_two_who_sing_together(self) -> None:
        text = told(setup(cast=(MIRA, SINGING_TOMAS))).text
        assert "voice of <Subject 1> (S1) and <Subject 2> (S2), singing together." in text
        assert "listens" not in text

    def test_a_voice_that_nobody_in_the_picture_has(self) -> None:
        prompt = told(setup(cast=(TOMAS,)))
        assert "(S1)" not in prompt.text
        assert (
            "<Audio 1> is the singing voice of a song, which nobody in the picture produces." in prompt.text
        )
        assert "only the audience hears it" in sections(prompt.text)["non_diegetic_music"]
        assert prompt.notes == (
            "shot 3: a performance whose cast does not sing: the voice stays outside the picture",
        )

    def test_without_pictures_a_singer_has_a_name_and_no_label(self) -> None:
        text = told(setup(cast=(replace(MIRA, pictures=()),), place=None)).text
        assert "<Subject" not in text
        assert "[audio reuse]" in text
        assert "voice of Mira (S1), a woman of twenty-five, silver bob, red raincoat." in text


class TestSoundWithoutVoice:
    def test_a_performance_where_nobody_is_heard(self) -> None:
        silent = setup(voice=0.0)
        assert sounding(silent) is Sounding.SILENCE
        assert told(silent).notes == ("shot 3: a performance where nobody is heard: mouths stay closed",)

    def test_silence_is_the_default_and_a_choice(self) -> None:
        shot = setup("rain", kind=ShotKind.B_ROLL)
        assert sounding(shot) is WITHOUT_VOICE is Sounding.SILENCE
        assert sounding(shot, Sounding.ACCOMPANIMENT) is Sounding.ACCOMPANIMENT
        assert sounding(setup(), Sounding.NONE) is Sounding.VOICE

    @pytest.mark.parametrize("sound", [Sounding.SILENCE, Sounding.ACCOMPANIMENT, Sounding.NONE])
    def test_mouths_stay_closed(self, sound: Sounding) -> None:
        text = told(setup("Mira looks out", kind=ShotKind.B_ROLL), sound).text
        assert "every mouth that is seen stays closed" in text
        assert "(S1)" not in text

    def test_without_a_lock_it_is_said(self) -> None:
        (note,) = told(setup("rain", kind=ShotKind.B_ROLL), Sounding.NONE).notes
        assert note.startswith("shot 3: not locked")


class TestLyrics:
    def test_none_is_said_unless_it_may_be(self) -> None:
        assert "<d>" not in told(setup(lyric="no way home")).text

    @pytest.mark.parametrize(
        ("lyric", "said"),
        [("no way home", "no way home."), ("no way home#2", "no way home."), ("who are you?", "who are you?"),
         ("home,", "home."), ("我回家。", "我回家.")],
    )  # fmt: skip
    def test_a_given_one_is_said_exactly(self, lyric: str, said: str) -> None:
        text = told(setup(lyric=lyric), lyrics="English").text
        assert re.findall(r"<d>.*?</d>", text) == [f"<d>[English] {said}</d>"]

    def test_it_is_not_said_where_nobody_sings(self) -> None:
        prompt = told(setup(lyric="no way home", kind=ShotKind.B_ROLL), lyrics="English")
        assert "<d>" not in prompt.text
        assert "shot 3: lyric: not said: nobody sings it in this shot" in prompt.notes


class TestFraming:
    def test_left_open_a_singer_is_close_and_turned_to_us(self) -> None:
        assert "Framing: medium close-up, front, at eye level." in told(setup()).text

    def test_b_roll_is_left_open(self) -> None:
        assert "Framing" not in told(setup("rain", kind=ShotKind.B_ROLL)).text

    def test_the_storyboard_insists(self) -> None:
        prompt = told(setup(framing="wide, from behind."))
        assert "Framing: wide, from behind." in prompt.text
        assert "As far as this framing shows it, the face" in prompt.text
        (note,) = prompt.notes
        assert note.startswith("shot 3: framing: behind: the mouth may not be seen")

    def test_the_camera_is_always_said_and_never_twice(self) -> None:
        assert "The camera makes a Push In with small amplitude at slow speed." in told(setup()).text
        assert "The camera holds a Static Shot." in told(setup("rain", kind=ShotKind.B_ROLL)).text
        for mention in (
            "The camera circles her",
            "Kamera fährt zurück",
            "镜头慢慢推近",
            "slow pan",
            "Handheld.",
        ):
            assert "Push In" not in told(setup(mention)).text
        assert "Push In" not in told(setup(framing="tracking shot")).text


class TestTheDirectorsWords:
    @pytest.mark.parametrize(
        "words", ["Мира идёт под дождём.", "ミラが雨の中を歩く。", 'She shouts "now"!', "Zoë’s café…"]
    )
    def test_are_kept_as_given(self, words: str) -> None:
        assert f" {words} " in told(setup(words)).text

    def test_only_lines_and_control_characters_go(self) -> None:
        assert " Mira walks on. " in told(setup("mira \n\n  walks\x07 on")).text

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            ("<Picture 1> walks", "<Picture 1>: a tag"),
            ("<d>[English] la la.</d>", "<d>: words are not put into mouths here"),
            ("Mira (S1) walks", "(S1): a speaker's mark"),
            ("[Shot 2] At 00:03.000, she stops", "[Shot 2]: a shot's mark"),
            ("a {red|blue} coat", "a brace"),
            ("retention_analysis: keep all", "retention_analysis: the name of a section"),
            ("Summary: a walk", "Summary:: the name of a section"),
        ],
    )
    def test_the_prompt_s_own_grammar_is_refused_with_its_place(self, words: str, says: str) -> None:
        for field in ("prompt", "framing", "look", "cast mira", "place street", "lyric"):
            with pytest.raises(StoryboardError) as caught:
                told(_with(field, words))
            assert str(caught.value) == f"rain.yaml:20: {field}: {says}" or says == "a brace"
            assert caught.value.hint

    @pytest.mark.parametrize(
        "words", ["2 < 3 > 1", "a summary of rain: grey", "(S) is her tattoo", "take [1]"]
    )
    def test_what_only_looks_like_it_is_not(self, words: str) -> None:
        assert told(setup(words)).text

    def test_too_many(self) -> None:
        with pytest.raises(StoryboardError, match=r"rain\.yaml:20: prompt: 7\d\d\d characters"):
            told(setup("a" * 6000))

    def test_none_at_all(self) -> None:
        assert faults(told(setup("", look="")).text, pictures=3, audios=1) == []

    def test_names_are_said_as_names(self) -> None:
        assert "is Old Man," in told(setup(cast=(replace(TOMAS, name="old_man"),))).text


def _with(field: str, words: str) -> Setup:
    if field == "look":
        return setup(look=words)
    if field == "cast mira":
        return setup(cast=(replace(MIRA, description=words),))
    if field == "place street":
        return setup(place=replace(STREET, description=words))
    return setup(words) if field == "prompt" else setup(**{"framing": "", "lyric": "", field: words})  # type: ignore[arg-type]


class TestFaults:
    """The linter of whole prompts finds each planted fault."""

    @pytest.mark.parametrize(
        ("old", "new", "says"),
        [
            ("<Picture 3>", "<Picture 2>", "<Picture 3>: wired, and never named"),
            ("<Picture 3>", "<Picture 4>", "<Picture 4>: nothing is wired for it"),
            ("<Picture 1>", "<Picture 0>", "<Picture 0>: nothing is wired for it"),
            ("<Audio 1>", "the voice", "<Audio 1>: wired, and never named"),
            ("<Audio 1>", "<Audio 2>", "<Audio 2>: nothing is wired for it"),
            (
                "seen in <Picture 1>",
                "seen in <Video 1> and <Picture 1>",
                "<Video 1>: nothing is wired for it",
            ),
            ("<Subject 2> is the place", "the place", "<Subject 2>: never defined"),
            ("overall_soundscape:", "soundscape:", "without overall_soundscape"),
            ("summary:", "summary:\n\nsummary:", "sections out of order"),
            ("N/A", "", "non_diegetic_music: empty"),
            ("it is the complete", "(S1) it is the complete", "retention_analysis: a speaker's mark"),
            ("in the picture.", "in the picture <d>la la</d>.", "<d>la la</d>: wanted"),
            ("in the picture.", "in the picture <d>[English] la la</d>.", "<d>[English] la la</d>: wanted"),
            ("in the picture.", "in the picture <d>[English] la.", "<d> and </d> do not pair"),
            ("no other voice", "<d>[English] la.</d>", "overall_soundscape: words are said"),
            ("red raincoat", "{red|blue} raincoat", "a brace"),
            ("red raincoat", "red " * 2000, "characters, at most 7000"),
            (
                "<Audio 1>: fully_copy",
                "<Audio 1>: fully_copy - a\n<Audio 1>: fully_copy",
                "2 audios are fully_copy",
            ),
        ],
    )
    def test_planted(self, old: str, new: str, says: str) -> None:
        text = told(setup()).text
        assert faults(text, pictures=3, audios=1) == []
        found = faults(text.replace(old, new), pictures=3, audios=1)
        assert any(says in one for one in found), found

    def test_an_unfinished_prompt(self) -> None:
        assert faults("a woman sings")[0] == f"without {', '.join(SECTIONS)}"
