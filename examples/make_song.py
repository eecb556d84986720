"""Compose, sing, play and master `first-light/first-light.opus`, the song of the shipped example.

Sixteen bars in D at 88 beats a minute: an introduction, a verse of four lines, a chorus of two, an ending.
Run it with the environment of the README: `.venv/bin/python examples/make_song.py [FOLDER]`. The same numbers
come out every time; with `--stems` the voice and the band are written beside it as WAV.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import imageio_ffmpeg
import numpy as np
from scipy.io import wavfile
from scipy.signal import sosfilt

import band
from singer import RATE, Note, Samples, sing

BEAT = 60 / 88
BARS = 16
SECONDS = BARS * 4 * BEAT + 1.2
LOUDNESS = -14.0
"""LUFS, as streaming services play it."""

CHORDS = [
    "D", "A", "Bm", "G", "D", "A", "Bm", "G", "D", "A", "G", "D", "Em", "A", "D", "D",
]  # fmt: skip
VOICINGS = {
    "D": (38, [57, 62, 66, 69]), "A": (33, [57, 61, 64, 69]), "Bm": (35, [59, 62, 66, 69]),
    "G": (31, [59, 62, 67, 71]), "Em": (40, [59, 64, 67, 71]),
}  # fmt: skip
"""Bass note and the notes above it."""

VERSE, CHORUS, ENDING = 2, 10, 14
"""The bars at which they begin."""

LINES = [
    (
        2,
        "Morning on the window",
        "m O r:0:1:66 n I N:1:.5:64 A n:1.5:.5:62 D @:2:.5:64 w I n:2.5:1.5:66 d O U:4:2:62",
    ),
    (4, "Silver on the sea", "s I l:0:1:69 v 3:1:.5:66 A n:1.5:.5:64 D @:2:.5:66 s i:2.5:3:64"),
    (
        6,
        "Every little shadow",
        "E v:0:1:66 r i:1:.5:64 l I:1.5:.5:66 t @ l:2:.5:67 S ae d:2.5:1.5:69 O U:4:1.75:71",
    ),
    (8, "Has to let me be", "h ae z:0:.5:69 t u:.5:.5:66 l E t:1:1:64 m i:2:.5:62 b i:2.5:3:64"),
    (10, "First light, find me", "f 3 s t:0:1:71 l A I t:1:2.5:74 f A I n d:4:1:69 m i:5:1.5:69"),
    (
        12,
        "First light, lead me home",
        "f 3 s t:0:1:71 l A I t:1:2.25:74 l i d:3.5:.5:73 m i:4:1:71 h O U m:5:4.5:69",
    ),
]
"""Bar, words, and syllables as `sounds:beat:beats:pitch`."""

THIRDS = {74: 71, 73: 69, 71: 67, 69: 66}
"""What the second voice sings under the first."""


def notes(first_bar: int = 0, *, lower: bool = False) -> list[Note]:
    """The tune from a bar on, or what is sung below it."""
    sung = []
    for bar, _, line in LINES:
        if bar < first_bar:
            continue
        sounds = [syllable.rsplit(":", 3) for syllable in _syllables(line)]
        for spelled, beat, beats, pitch in sounds:
            start = (bar * 4 + float(beat)) * BEAT
            tone = THIRDS[int(pitch)] if lower else int(pitch)
            force = (
                (0.9 if bar >= CHORUS else 0.78)
                + 0.02 * (int(pitch) - 66)
                + (0.05 if float(beat) % 2 == 0 else 0)
            )
            sung.append(Note(start, start + float(beats) * BEAT, tone, spelled, min(force, 1.0)))
    return sung


def _syllables(line: str) -> list[str]:
    """Split behind each pitch: the sounds of a syllable have spaces between them."""
    syllables, words = [], line.split(" ")
    while words:
        end = next(index for index, word in enumerate(words) if ":" in word)
        syllables.append(" ".join(words[: end + 1]))
        words = words[end + 1 :]
    return syllables


def voices(rng: np.random.Generator) -> Samples:
    """The lead, and in the chorus a double and a second voice at its sides; stereo, in their room."""
    track = band.silence(SECONDS)
    lead = sing(notes(), SECONDS, seed=440)
    band.lay(track, lead, 0)
    band.lay(track, sing(notes(CHORUS), SECONDS, seed=441), 0.013, level=0.22, pan=-0.7)
    band.lay(track, sing(notes(CHORUS, lower=True), SECONDS, seed=442), 0.009, level=0.34, pan=0.6)
    track = band.passed(track, "highpass", 130)
    # presence: what lets a voice be understood in a mix
    track += 0.35 * band.passed(track, "bandpass", [2500, 6000])
    return track / np.abs(track).max() + 0.055 * band.room(track, seconds=1.5, dark=5200, rng=rng)


def rhythm(rng: np.random.Generator) -> tuple[Samples, Samples]:
    """Drums, and the kick alone, to which the pad gives way."""
    track, kicks = band.silence(SECONDS), band.silence(SECONDS)
    for bar in range(VERSE, BARS):
        start, full = bar * 4 * BEAT, CHORUS <= bar < ENDING
        if bar >= ENDING:
            if bar == ENDING:
                band.lay(kicks, band.kick(0.9), start)
                band.lay(track, band.hat(0.30, rng, ring=0.6), start, pan=0.3)
            continue
        for beat in (0, 2.5) if not full else (0, 1.5, 2, 3.5):
            band.lay(kicks, band.kick(rng.uniform(0.8, 0.95)), start + beat * BEAT)
        for beat in (1, 3):
            hit = band.snare(rng.uniform(0.55, 0.62), rng) if full else band.rim(rng.uniform(0.16, 0.2))
            band.lay(track, hit, start + beat * BEAT, pan=-0.1)
        for half in range(8):
            late = 0.012 if half % 2 else 0  # a little swing
            force = (0.15 if half % 2 == 0 else 0.08) * rng.uniform(0.85, 1.15) * (1.25 if full else 1)
            ring = 0.16 if full and half == 7 else 0.03
            band.lay(track, band.hat(force, rng, ring), start + half * BEAT / 2 + late, pan=0.35)
        if bar == CHORUS - 1:
            for sixteenth in range(4):
                hit = band.snare(0.25 + 0.09 * sixteenth, rng)
                band.lay(track, hit, start + (3 + sixteenth / 4) * BEAT, pan=-0.1)
    band.lay(track, band.hat(0.32, rng, ring=0.55), CHORUS * 4 * BEAT, pan=0.3)
    band.lay(track, 0.05 * band.swell(2 * BEAT, rng), (CHORUS * 4 - 2) * BEAT)
    return track + kicks, kicks


def harmony(rng: np.random.Generator) -> tuple[Samples, Samples]:
    """Keys and bells; and the pad apart."""
    track, strings = band.silence(SECONDS), band.silence(SECONDS)
    for bar, name in enumerate(CHORDS):
        start, (_, above) = bar * 4 * BEAT, VOICINGS[name]
        full, alone = CHORUS <= bar < ENDING, not VERSE <= bar < ENDING
        length = 4 * BEAT if bar < BARS - 1 else SECONDS - start
        chord = band.pad(above, length + 0.3, 0.55 if full else 0.35 if alone else 0.2)
        band.lay(strings, chord, start, level=0.9 if alone else 0.6 if full else 0.42)
        pattern = (0, 1, 2, 3, 2, 1, 2, 3) if bar < ENDING else (0, 1, 2, 3)
        for half, index in enumerate(pattern):
            force = rng.uniform(0.5, 0.62) * (1.15 if half % 4 == 0 else 0.8)
            moment = start + half * BEAT / 2 + rng.uniform(0, 0.008)
            tone = band.keys(above[index] + (12 if half == 7 else 0), 1.6, force)
            band.lay(track, tone, moment, level=0.5 if alone else 0.34)
    for bar in (0, 1, 3, 5, 7, 9, 14, 15):  # answers where nobody sings
        tones = VOICINGS[CHORDS[bar]][1]
        for beat, index in ((2.5, 3), (3, 2), (3.5, 1)):
            band.lay(track, band.bell(tones[index] + 12, 0.09), (bar * 4 + beat) * BEAT, pan=-0.45)
    return track, strings


def low(rng: np.random.Generator) -> Samples:
    """The bass: long notes in the verse, moving ones in the chorus."""
    track = band.silence(SECONDS)
    for bar in range(VERSE, BARS):
        root, start = VOICINGS[CHORDS[bar]][0], bar * 4 * BEAT
        plan = (
            [(0, 2.4, 0), (2.5, 1.4, 0)]
            if bar < CHORUS
            else [(0, 1.4, 0), (1.5, 0.9, 0), (2.5, 0.9, 7), (3.5, 0.5, 0)]
        )
        plan = [(0, 4.0, 0)] if bar == ENDING else [] if bar > ENDING else plan
        for beat, beats, up in plan:
            band.lay(
                track,
                band.bass(root + up, beats * BEAT, rng.uniform(0.8, 0.95)),
                start + beat * BEAT,
                level=0.5,
            )
    return track


def mixed() -> tuple[Samples, Samples]:
    """Voice and band, mastered together: their sum is the song."""
    rng = np.random.default_rng(2024)
    voice, (drums, kicks), (tune, strings), bass = voices(rng), rhythm(rng), harmony(rng), low(rng)
    press = band.passed(np.abs(kicks[:, :1]), "lowpass", 9, 1)
    strings *= 1 - 0.45 * press / press.max()
    wet = band.room(0.5 * tune + 0.5 * strings + 0.12 * drums, seconds=1.9, dark=4200, rng=rng)
    backing = 0.55 * drums + 0.62 * tune + 0.20 * strings + 0.62 * bass + 0.10 * wet
    return _master(0.68 * voice, backing)


def _master(voice: Samples, backing: Samples) -> tuple[Samples, Samples]:
    """To the loudness wanted, then under one gain that keeps every peak below -1.5 dB; both parts alike."""
    ending = np.clip((SECONDS - np.arange(len(voice)) / RATE) / 1.5, 0, 1)[:, None] ** 1.5
    voice, backing = voice * ending, backing * ending
    for _ in range(4):
        gain = 10 ** ((LOUDNESS - loudness(voice + backing)) / 20)
        voice, backing = voice * gain, backing * gain
        held = _limiter(voice + backing)
        voice, backing = voice * held, backing * held
    return voice, backing


def _limiter(mix: Samples, ceiling: float = 0.80) -> Samples:
    """A gain, shape (n, 1), that falls before each peak and comes back within a tenth of a second."""
    needed = np.minimum(1, ceiling / np.maximum(np.abs(mix).max(1), 1e-9))
    ahead, hop = round(0.004 * RATE), 48
    blocks = np.append(needed, np.ones(-len(needed) % hop)).reshape(-1, hop).min(1)
    reach = ahead // hop + 1
    lowest = np.lib.stride_tricks.sliding_window_view(
        np.pad(blocks, reach, constant_values=1), 2 * reach + 1
    ).min(1)
    gain, value, recover = np.ones(len(lowest)), 1.0, 1 - np.exp(-hop / (0.1 * RATE))
    for index, wanted in enumerate(lowest):
        value = min(wanted, value + (1 - value) * recover)
        gain[index] = value
    smooth = np.convolve(np.pad(gain, 2, mode="edge"), np.ones(5) / 5, "valid")
    smooth = np.minimum(smooth, lowest)
    return np.interp(np.arange(len(mix)), np.arange(len(smooth)) * hop + hop / 2, smooth)[:, None]


def loudness(sound: Samples) -> float:
    """Integrated loudness in LUFS, after ITU-R BS.1770-4; the filters are those it gives for 48 kHz."""
    shelf = [1.53512485958697, -2.69169618940638, 1.19839281085285, 1, -1.69065929318241, 0.73248077421585]
    high = [1, -2, 1, 1, -1.99004745483398, 0.99007225036621]
    power = sosfilt([shelf, high], sound, axis=0) ** 2
    hop = RATE // 10
    tenths = power[: len(power) // hop * hop].reshape(-1, hop, 2).mean(1).sum(1)
    blocks = np.convolve(tenths, np.ones(4) / 4, "valid")
    blocks = blocks[10 * np.log10(blocks + 1e-12) > -70.691 + 0.691]
    gate = 10 * np.log10(blocks.mean()) - 10
    return float(-0.691 + 10 * np.log10(blocks[10 * np.log10(blocks) > gate].mean()))


def lyrics() -> str:
    """The words with the time at which each line begins, as .lrc."""
    stamps = [(bar * 4 * BEAT, words) for bar, words, _ in LINES]
    head = "[ti:First Light]\n[ar:mvpipe]\n"
    return head + "".join(f"[{int(s // 60):02}:{s % 60:05.2f}]{words}\n" for s, words in stamps)


def write(path: Path, sound: Samples) -> None:
    """Sixteen bits, dithered alike every time."""
    dither = np.random.default_rng(1).triangular(-1, 0, 1, sound.shape)
    wavfile.write(path, RATE, np.clip(np.round(sound * 32767 + dither), -32768, 32767).astype(np.int16))


def main() -> None:
    """The song, its words and, if asked, its stems."""
    folders = [Path(word) for word in sys.argv[1:] if not word.startswith("--")]
    into = folders[0] if folders else Path(__file__).parent / "first-light"
    into.mkdir(parents=True, exist_ok=True)
    voice, backing = mixed()
    mix = into / "mix.wav"
    write(mix, voice + backing)
    if "--stems" in sys.argv:
        write(into / "vocals.wav", voice)
        write(into / "accompaniment.wav", backing)
    coder = [
        imageio_ffmpeg.get_ffmpeg_exe(),
        "-v",
        "error",
        "-y",
        "-i",
        str(mix),
        "-c:a",
        "libopus",
        "-b:a",
        "48k",
    ]
    tags = ["-bitexact", "-metadata", "title=First Light", "-metadata", "artist=mvpipe"]
    subprocess.run([*coder, *tags, str(into / "first-light.opus")], check=True)
    if "--stems" not in sys.argv:
        mix.unlink()
    (into / "first-light.lrc").write_text(lyrics(), "utf-8")


if __name__ == "__main__":
    main()
