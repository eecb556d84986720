"""Song -> vocals -> hearing -> plan: what is heard decides where is cut."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mvpipe.build.graph import Node, Progress, Work
from mvpipe.build.key import Task, file_digest
from mvpipe.build.vault import Entry
from mvpipe.errors import MediaError
from mvpipe.film import Song
from mvpipe.production import REST, STEM
from mvpipe.project import Project
from mvpipe.request import Request, given_vocals

if TYPE_CHECKING:
    from mvpipe.sound.resample import Block
    from mvpipe.sound.separate import Separator

HEARING, WORDS, SINGERS = "hearing.npz", "words.json", "singers.json"


@dataclass
class Chooser:
    """Finds the separator once, when it is needed, and remembers what to tell the person.

    `auto` stays with what it chose for a song, so that a run that goes on makes the same film; it moves to
    the better separator only when its weights are here.
    """

    project: Project
    request: Request
    say: Callable[[str], None]
    notice: str = ""

    def __call__(self, song: Song) -> Separator:
        """The separator for this song."""
        from mvpipe.sound import choose, weights

        asked, loaded = self.request, self.request.loaded
        wanted = asked.separator or loaded.storyboard.sound.separator
        repo = asked.demucs_repo or loaded.repo
        before = self.project.journal.choice("separator")
        stays = wanted == choose.AUTO and before and before["song"] == song.digest
        if stays and weights.find(choose.BEST, cache=asked.cache, repo=repo) is None:
            self.notice, wanted = before["notice"], before["name"]
        separator, notice = choose.choose(
            wanted, cache=asked.cache, repo=repo, device=asked.device, say=self.say
        )
        self.notice = notice or self.notice
        fallback = {"song": song.digest, "name": separator.name, "notice": self.notice}
        self.project.journal.choose("separator", fallback if self.notice else None)
        return separator


def prep_nodes(request: Request, choose: Callable[[Song], Separator] | None) -> list[Node]:
    """The graph from the song's file to what is heard in it.

    Parameters
    ----------
    request : what the user wants
    choose : finds the separator when it is needed; None where the user brings a stem
    """
    nodes = [_song(request.song), _vocals(request, choose), _hearing(request.song)]
    if request.loaded.lyrics and request.loaded.aligner:
        nodes.append(_words(request))
    if request.loaded.voices:
        nodes.append(_singers(request))
    return nodes


def song_of(entry: Entry, path: Path) -> Song:
    """The song of a `song` entry, in the file where it is now."""
    return Song(**{**entry.facts["song"], "path": path})


def _song(path: Path) -> Node:
    def bind(_: Mapping[str, Entry]) -> Work:
        return Work(task=Task(name="song", version=1, inputs={"file": _digest(path)}), make=make)

    def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
        from mvpipe.sound.read import measure

        song, notes = measure(path, progress=progress)
        facts = dataclasses.asdict(song)
        del facts["path"]
        return {"song": facts, "notes": list(notes)}

    return Node(name="song", bind=bind)


def _vocals(request: Request, choose: Callable[[Song], Separator] | None) -> Node:
    def bind(entries: Mapping[str, Entry]) -> Work:
        song = song_of(entries["song"], request.song)
        if choose is None:
            return _adopt(song, given_vocals(request))
        separator = choose(song)
        task = Task(name="vocals", version=1, inputs={"song": song.digest}, params=dict(separator.identity()))

        def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
            from mvpipe.sound.separate import separate

            stem = separate(song, folder / STEM, separator=separator, progress=progress)
            return {"separator": stem.separator, "channels": stem.channels}

        return Work(task=task, make=make)

    return Node(name="vocals", needs=("song",), bind=bind)


def _adopt(song: Song, vocals: Path | None) -> Work:
    assert vocals is not None
    inputs = {"song": song.digest, "given": _digest(vocals)}

    def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
        from mvpipe.sound.adopt import adopt

        said: list[str] = []
        stem = adopt(song, vocals, folder / STEM, say=said.append)
        return {"separator": stem.separator, "channels": stem.channels, "notes": said}

    params = {"separator": "given", "version": 1}
    return Work(task=Task(name="vocals", version=1, inputs=inputs, params=params), make=make)


def accompaniment_node(song: Song, vocals: Entry) -> Node:
    """The song without its voice; only where a shot is rendered to it."""
    inputs = {"song": song.digest, "vocals": vocals.digest(STEM)}

    def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
        from mvpipe.sound.accompany import accompany

        separator = vocals.facts["separator"]
        stem = accompany(song, vocals.path(STEM), folder / REST, separator=separator, progress=progress)
        return {"separator": stem.separator, "channels": stem.channels}

    def bind(_: Mapping[str, Entry]) -> Work:
        from mvpipe.sound.accompany import VERSION

        return Work(task=Task(name="accompaniment", version=VERSION, inputs=inputs), make=make)

    return Node(name="accompaniment", bind=bind)


def minus_note(separator: str) -> str:
    """What to say of an accompaniment: how it was made, and what is still heard in it."""
    if separator == "given":
        return (
            "accompaniment: the song minus the vocal you brought: where its level or effects are not those "
            "of the mix, some of it stays audible"
        )
    return f"accompaniment: the song minus the voice that {separator} found: what it missed stays audible"


def _hearing(path: Path) -> Node:
    def bind(entries: Mapping[str, Entry]) -> Work:
        from mvpipe.sound import hearing

        song, vocals = song_of(entries["song"], path), entries["vocals"].path(STEM)

        def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
            from mvpipe.sound import listen, read, wav

            mix = _counted(read.blocks(song), song.samples, progress)
            heard = listen.listen(mix, wav.blocks(vocals), sample_rate=song.sample_rate)
            hearing.save(heard, folder / HEARING)
            return {"voice_share": round(heard.voice_share, 4)}

        inputs = {"song": song.digest, "vocals": entries["vocals"].digest(STEM)}
        return Work(task=Task(name="hearing", version=hearing.VERSION, inputs=inputs), make=make)

    return Node(name="hearing", needs=("song", "vocals"), bind=bind)


def _words(request: Request) -> Node:
    """When each word of the lyrics is sung, by the network that the storyboard names."""
    lyrics, aligner = request.loaded.lyrics, request.loaded.aligner
    assert lyrics is not None
    assert aligner is not None

    def bind(entries: Mapping[str, Entry]) -> Work:
        from mvpipe.sound import spelled

        vocals = entries["vocals"].path(STEM)

        def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
            from mvpipe.storyboard.lyrics import read_lyrics

            lines = read_lyrics(lyrics)
            found = spelled.align_stem(lines, vocals, aligner, device=request.device, progress=progress)
            spelled.save(found, folder / WORDS)
            return {"likely": round(found.likely, 4)}

        inputs = {"vocals": entries["vocals"].digest(STEM), "lyrics": _digest(lyrics)}
        inputs |= {path.name: _digest(path) for path in sorted(aligner.glob("*.json"))}
        inputs |= {path.name: _digest(path) for path in sorted(aligner.glob("*.safetensors"))}
        return Work(task=Task(name="words", version=spelled.VERSION, inputs=inputs), make=make)

    return Node(name="words", needs=("vocals",), bind=bind)


def _singers(request: Request) -> Node:
    """Who sings each phrase, by the recordings that the storyboard names."""
    voices = request.loaded.voices

    def bind(entries: Mapping[str, Entry]) -> Work:
        from mvpipe.sound import singers

        stem, heard = entries["vocals"].path(STEM), entries["hearing"].path(HEARING)

        def make(folder: Path, progress: Progress) -> Mapping[str, Any]:
            from mvpipe.sound import hearing, read, wav
            from mvpipe.sound.timbre import timbre

            songs = {name: read.measure(path)[0] for name, path in voices.items()}
            alone = {name: timbre(read.blocks(one), one.sample_rate) for name, one in songs.items()}
            known, heard_in = singers.Singers(alone), hearing.load(heard)
            sung = singers.tell(known, timbre(wav.blocks(stem), heard_in.sample_rate), heard_in.phrases)
            singers.save(sung, known.alike, folder / SINGERS)
            progress(1, 1)
            return {"told": sum(bool(one.name) for one in sung), "phrases": len(sung)}

        inputs = {"vocals": entries["vocals"].digest(STEM), "hearing": entries["hearing"].digest(HEARING)}
        inputs |= {f"voice:{name}": _digest(path) for name, path in voices.items()}
        return Work(task=Task(name="singers", version=singers.VERSION, inputs=inputs), make=make)

    return Node(name="singers", needs=("vocals", "hearing"), bind=bind)


def _counted(blocks: Iterator[Block], samples: int, progress: Progress) -> Iterator[Block]:
    done = 0
    for block in blocks:
        done += len(block)
        progress(done, samples)
        yield block


def _digest(path: Path) -> str:
    try:
        return file_digest(path)
    except OSError as exc:
        raise MediaError(f"{path}: {(exc.strerror or str(exc)).lower()}") from exc
