"""Nothing accumulates: spans tile, sound tiles, and an hour of frames ends where arithmetic says."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import ceil

import pytest
from hypothesis import given
from hypothesis.strategies import DrawFn, SearchStrategy, composite, fractions, integers, lists, sampled_from

from mvpipe.clock import (
    FILM_RATE,
    NTSC_FILM_RATE,
    Span,
    first_sample,
    format_time,
    frames_in,
    parse_time,
    snap,
    snap_sample,
    tile,
    timecode,
)

RATES = [FILM_RATE, NTSC_FILM_RATE, Fraction(25), Fraction(30_000, 1001), Fraction(30), Fraction(60)]
SAMPLE_RATES = [8_000, 22_050, 44_100, 48_000, 88_200, 96_000, 192_000]

rates = sampled_from(RATES)
sample_rates = sampled_from(SAMPLE_RATES)
HOUR = 3600


def moments(up_to: int = 4 * HOUR) -> SearchStrategy[Fraction]:
    """Seconds, exact."""
    return fractions(min_value=0, max_value=up_to, max_denominator=192_000)


@composite
def films(draw: DrawFn) -> tuple[list[int], int]:
    """Cuts inside a film, in any order and with repeats, and its length in frames."""
    frames = draw(integers(1, 15_000))
    cuts = draw(lists(integers(1, frames - 1), max_size=60)) if frames > 1 else []
    return cuts, frames


class TestSpan:
    @pytest.mark.parametrize(("start", "stop"), [(0, 0), (5, 5), (6, 5), (-1, 3), (-3, -1)])
    def test_an_empty_or_negative_span_cannot_be_built(self, start: int, stop: int) -> None:
        with pytest.raises(ValueError, match=f"empty or negative span: {start}..{stop}"):
            Span(start, stop)

    @pytest.mark.parametrize("rate", [Fraction(0), Fraction(-24)])
    def test_a_rate_is_positive(self, rate: Fraction) -> None:
        with pytest.raises(ValueError, match="rate must be positive"):
            Span(0, 1, rate)

    def test_it_includes_its_start_and_excludes_its_end(self) -> None:
        span = Span(24, 48)
        assert [frame for frame in range(100) if frame in span] == list(range(24, 48))
        assert len(span) == 24
        assert span.seconds == 1

    @given(a=integers(0, 50), b=integers(1, 50), c=integers(0, 50), d=integers(1, 50))
    def test_two_spans_overlap_when_they_share_a_frame(self, a: int, b: int, c: int, d: int) -> None:
        one, other = Span(a, a + b), Span(c, c + d)
        shared = set(range(a, a + b)) & set(range(c, c + d))
        assert one.overlaps(other) == other.overlaps(one) == bool(shared)
        assert not (one.meets(other) and one.overlaps(other))

    def test_spans_of_different_rates_never_meet(self) -> None:
        assert Span(0, 24).meets(Span(24, 48))
        assert not Span(0, 24).meets(Span(25, 48))
        assert not Span(0, 24).meets(Span(24, 48, NTSC_FILM_RATE))


class TestTile:
    @given(film=films(), rate=rates)
    def test_shots_tile_the_film(self, film: tuple[list[int], int], rate: Fraction) -> None:
        cuts, frames = film
        spans = tile(cuts, frames, rate)
        assert sum(map(len, spans)) == frames
        assert spans[0].start == 0
        assert all(a.meets(b) for a, b in pairwise(spans))
        assert {span.start for span in spans} == {0, *cuts}

    @given(film=films(), rate=rates, sample_rate=sample_rates)
    def test_their_sound_tiles_too(
        self, film: tuple[list[int], int], rate: Fraction, sample_rate: int
    ) -> None:
        cuts, frames = film
        slices = [span.samples(sample_rate) for span in tile(cuts, frames, rate)]
        assert slices[0].start == 0
        assert all(a.stop == b.start for a, b in pairwise(slices))
        assert slices[-1].stop == ceil(frames * Fraction(sample_rate) / rate)

    @pytest.mark.parametrize(("cuts", "frames"), [([0], 10), ([10], 10), ([5, 11], 10), ([-1], 10)])
    def test_a_cut_outside_the_film_is_refused(self, cuts: list[int], frames: int) -> None:
        with pytest.raises(ValueError, match="cut outside the film of 10 frames"):
            tile(cuts, frames)

    @pytest.mark.parametrize("frames", [0, -24])
    def test_a_film_has_at_least_one_frame(self, frames: int) -> None:
        with pytest.raises(ValueError, match="at least one frame"):
            tile([], frames)


class TestFramesIn:
    @given(samples=integers(1, 10**9), sample_rate=sample_rates, rate=rates)
    def test_the_fewest_frames_that_cover_the_song(
        self, samples: int, sample_rate: int, rate: Fraction
    ) -> None:
        frames = frames_in(samples, sample_rate, rate)
        seconds = Fraction(samples, sample_rate)
        assert (frames - 1) / rate < seconds <= frames / rate

    @pytest.mark.parametrize(
        ("samples", "sample_rate", "rate", "frames"),
        [
            (1, 44_100, FILM_RATE, 1),
            (44_100, 44_100, FILM_RATE, 24),
            (44_101, 44_100, FILM_RATE, 25),
            (172_800_000, 48_000, FILM_RATE, 86_400),
            (172_800_000, 48_000, NTSC_FILM_RATE, 86_314),  # 86 313.686...
        ],
    )
    def test_known_lengths(self, samples: int, sample_rate: int, rate: Fraction, frames: int) -> None:
        assert frames_in(samples, sample_rate, rate) == frames


class TestSnap:
    @given(a=moments(), b=moments(), rate=rates)
    def test_it_is_monotone(self, a: Fraction, b: Fraction, rate: Fraction) -> None:
        early, late = sorted((a, b))
        assert snap(early, rate) <= snap(late, rate)

    @given(seconds=moments(), rate=rates)
    def test_it_moves_a_moment_by_half_a_frame_at_most(self, seconds: Fraction, rate: Fraction) -> None:
        assert -Fraction(1, 2) < snap(seconds, rate) - seconds * rate <= Fraction(1, 2)

    @given(frame=integers(0, 10**7), rate=rates)
    def test_a_frame_stays_where_it_is(self, frame: int, rate: Fraction) -> None:
        assert snap(frame / rate, rate) == frame

    @given(frame=integers(0, 10**7), rate=rates, sample_rate=sample_rates)
    def test_the_first_sample_of_a_frame_leads_back_to_it(
        self, frame: int, rate: Fraction, sample_rate: int
    ) -> None:
        sample = first_sample(frame, sample_rate, rate)
        assert snap_sample(sample, sample_rate, rate) == frame
        assert Fraction(sample, sample_rate) >= frame / rate > Fraction(sample - 1, sample_rate)

    def test_halves_go_up(self) -> None:
        assert [snap(Fraction(n, 48)) for n in range(6)] == [0, 1, 1, 2, 2, 3]


class TestAnHour:
    @pytest.mark.parametrize("rate", [FILM_RATE, NTSC_FILM_RATE])
    @pytest.mark.parametrize("sample_rate", [44_100, 48_000])
    def test_added_frame_by_frame(self, rate: Fraction, sample_rate: int) -> None:
        frames = frames_in(HOUR * sample_rate, sample_rate, rate)
        moment, sounded = Fraction(0), 0
        for frame in range(frames):
            assert snap(moment, rate) == frame
            sound = Span(frame, frame + 1, rate).samples(sample_rate)
            assert sound.start == sounded
            sounded = sound.stop
            moment += 1 / rate
        assert moment == frames / rate
        assert sounded == first_sample(frames, sample_rate, rate)
        assert 0 <= sounded - HOUR * sample_rate < sample_rate / rate + 1

    def test_cut_into_shots_of_every_length_it_still_ends_on_its_last_frame(self) -> None:
        frames = frames_in(HOUR * 48_000, 48_000, NTSC_FILM_RATE)
        spans = tile(range(109, frames, 109), frames, NTSC_FILM_RATE)
        assert sum(span.seconds for span in spans) == frames / NTSC_FILM_RATE


class TestTimes:
    @pytest.mark.parametrize(
        ("text", "seconds"),
        [
            ("0", "0"),
            ("12.4", "12.4"),
            ("0:12.4", "12.4"),
            ("0:41", "41"),
            ("1:02", "62"),
            ("1:03.5", "63.5"),
            ("83", "83"),
            ("600", "600"),
            ("90:00", "5400"),
            ("1:00:00", "3600"),
            ("1:02:03.250", "3723.25"),
            ("01:02:03", "3723"),
            (" 0:31.0 ", "31"),
            ("0:00.001", "0.001"),
        ],
    )
    def test_a_person_writes_it_in_seconds_minutes_or_hours(self, text: str, seconds: str) -> None:
        assert parse_time(text) == Fraction(seconds)

    @pytest.mark.parametrize(
        "text",
        ["", " ", ":", "1:", ":30", "1:60", "1:99.9", "1:60:00", "-1", "-0:10", "+5", "1.", ".5", "1e3",
         "1:02:03:04", "1:2 3", "1,5", "nan", "inf", "1/2", "0x10", "one", "1_000", "12:30 pm"],
    )  # fmt: skip
    def test_anything_else_is_refused(self, text: str) -> None:
        with pytest.raises(ValueError, match=r"not a time|run from 0 to 59"):
            parse_time(text)

    @given(millis=integers(0, 100 * HOUR * 1000))
    def test_what_is_written_is_read_back(self, millis: int) -> None:
        assert parse_time(format_time(Fraction(millis, 1000))) == Fraction(millis, 1000)

    @given(seconds=moments())
    def test_milliseconds_are_rounded_down(self, seconds: Fraction) -> None:
        assert 0 <= seconds - parse_time(format_time(seconds)) < Fraction(1, 1000)

    def test_how_it_looks(self) -> None:
        assert format_time(0) == "0:00.000"
        assert format_time(Fraction("59.9999")) == "0:59.999"
        assert format_time(Fraction("3599.5")) == "59:59.500"
        assert format_time(3600) == "1:00:00.000"

    def test_a_negative_time_is_our_own_mistake(self) -> None:
        with pytest.raises(ValueError, match="negative"):
            format_time(Fraction(-1, 1000))


class TestTimecode:
    @pytest.mark.parametrize(
        ("frame", "rate", "text"),
        [
            (0, FILM_RATE, "00:00:00:00"),
            (23, FILM_RATE, "00:00:00:23"),
            (24, FILM_RATE, "00:00:01:00"),
            (86_399, FILM_RATE, "00:59:59:23"),
            (86_400, FILM_RATE, "01:00:00:00"),
            (
                86_400,
                NTSC_FILM_RATE,
                "01:00:00:00",
            ),  # counts in 24s, as editors expect
            (30, Fraction(30_000, 1001), "00:00:01:00"),
            (1500, Fraction(25), "00:01:00:00"),
        ],
    )
    def test_known_frames(self, frame: int, rate: Fraction, text: str) -> None:
        assert timecode(frame, rate) == text

    @given(frame=integers(0, 10**7), rate=rates)
    def test_it_names_one_frame(self, frame: int, rate: Fraction) -> None:
        hours, minutes, seconds, frames = map(int, timecode(frame, rate).split(":"))
        assert (hours * HOUR + minutes * 60 + seconds) * ceil(rate) + frames == frame

    def test_a_negative_frame_is_our_own_mistake(self) -> None:
        with pytest.raises(ValueError, match="negative"):
            timecode(-1)
