"""Checks of model files, by their names, sizes and headers."""

from __future__ import annotations

from mvpipe.doctor import weights
from mvpipe.doctor.check import Case, Finding, NotVisible, check, fail, ok, seen, warn
from mvpipe.doctor.facts import Damaged, ModelFile, Unseen
from mvpipe.doctor.headers import Header
from mvpipe.doctor.known import SHA256, fits_known, known_bytes
from mvpipe.render.comfyui.graph import classes_of
from mvpipe.wording import counted


def _named(case: Case, name: str) -> ModelFile:
    """A file by its base name; raises NotVisible."""
    found = next((one for one in seen(case.facts.models) if one.name == name), None)
    if found is None:
        raise NotVisible(f"{name or 'no file'}: not below the models folder")
    return found


def _header(file: ModelFile) -> Header:
    if not isinstance(file.header, Header):
        raise NotVisible(f"{file.name}: its header cannot be read")
    return file.header


def _wrong(case: Case, said: dict[str, str], well: str) -> Finding:
    """Fail for files the graph uses, warn for others. `said`: base name -> what is wrong."""
    if not said:
        return ok(well)
    used = [says for name, says in said.items() if name in case.wanted.files]
    return fail("; ".join(used)) if used else warn(f"not used by this graph: {'; '.join(said.values())}")


@check("files-whole")
def whole(case: Case) -> Finding | None:
    """Whether files end where their headers say."""
    said = {one.name: says for one in seen(case.facts.models) if (says := _cut_short(one))}
    return _wrong(case, said, f"{counted(len(seen(case.facts.models)), 'file')}, none cut short")


def _cut_short(file: ModelFile) -> str:
    if isinstance(file.header, Damaged):
        return f"{file.name}: {file.header.why}"
    if file.header is None or file.size >= file.header.whole:
        return ""
    return f"{file.name}: cut short: {file.size} bytes where its header says {file.header.whole}"


@check("files-leftovers")
def leftovers(case: Case) -> Finding | None:
    """Downloads that were not finished."""
    left = [one.path for one in seen(case.facts.models) if one.header is None]
    return warn(f"unfinished downloads: {', '.join(left)}") if left else ok("no unfinished download")


@check("files-size")
def sizes(case: Case) -> Finding | None:
    """Whether files have their published sizes."""
    said = {
        one.name: f"{one.name}: {one.size} bytes, not {' or '.join(map(str, known_bytes(one.name)))}"
        for one in seen(case.facts.models)
        if fits_known(one.name, one.size) is False
    }
    if said:
        return warn("; ".join(said.values()))
    known = sum(fits_known(one.name, one.size) is True for one in seen(case.facts.models))
    return ok(f"{known} of {len(seen(case.facts.models))} have a published size, and have it")


@check("files-hash")
def hashes(case: Case) -> Finding | None:
    """Whether files have their published sums."""
    models = case.facts.models
    summed = () if isinstance(models, Unseen) else tuple(one for one in models if one.sha256)
    if not summed:
        return None  # nobody said --hash
    if wrong := [one for one in summed if not one.sha256.startswith(SHA256.get(one.name, ""))]:
        return fail("; ".join(f"{one.name}: {one.sha256[:16]}, not {SHA256[one.name]}" for one in wrong))
    return ok("; ".join(f"{one.name}: {_published(one)}" for one in summed))


def _published(file: ModelFile) -> str:
    return "as published" if file.name in SHA256 else f"{file.sha256[:16]}, none is published"


@check("weights-h3")
def are_h3(case: Case) -> Finding | None:
    """Whether the weights are H3's."""
    file = _named(case, case.wanted.weights)
    return ok(file.name) if weights.is_h3(_header(file)) else fail(f"{file.name}: not H3's diffusion model")


@check("weights-task")
def task(case: Case) -> Finding | None:
    """What the weights are for."""
    name, found = case.wanted.weights, weights.task_of(case.wanted.weights)
    if not found:
        raise NotVisible(f"{name}: neither ref2va nor fl2va in its name, and nothing else tells them apart")
    return (
        ok(f"{found}, by its name alone")
        if found == "ref2va"
        else fail(f"{name}: for {found}, by its name alone")
    )


@check("weights-adaln")
def adaln(case: Case) -> Finding | None:
    """Pruned or full."""
    width = weights.adaln_width(_header(_named(case, case.wanted.weights)))
    kinds = {weights.PRUNED: "pruned", weights.FULL: "full"}
    if width is None:
        raise NotVisible("no AdaLN projection in its header")
    if width not in kinds:
        return warn(f"AdaLN of width {width}: neither the pruned files' 8 nor the full files' 2688")
    return ok(f"{kinds[width]}: AdaLN of width {width}")


@check("lora-keys")
def lora_keys(case: Case) -> Finding | None:
    """How many of a LoRA's keys load."""
    if not case.wanted.loras:
        return None
    base = _header(_named(case, case.wanted.weights))
    worst, says = ok, []
    for name in case.wanted.loras:
        lora = _header(_named(case, name))
        found = weights.match(lora, base)
        says.append(f"{name}: {len(found.fits) + len(found.misfits)} of {found.count} modules are there")
        if not found.fits:
            worst = fail
            says[-1] += (
                f"; its keys begin as {found.lost[0] if found.lost else next(iter(lora.tensors), '')!r}"
            )
        elif found.lost and worst is ok:
            worst = warn
    return worst("; ".join(says))


@check("lora-adaln")
def lora_adaln(case: Case) -> Finding | None:
    """Whether a LoRA's AdaLN was trained on such weights."""
    base = weights.adaln_width(_header(_named(case, case.wanted.weights)))
    widths = {name: weights.adaln_of_lora(_header(_named(case, name))) for name in case.wanted.loras}
    if wrong := [
        f"{name}: trained on AdaLN of width {w}" for name, w in widths.items() if w not in (None, base)
    ]:
        return fail(f"{'; '.join(wrong)}, and the weights have {base}: that part is left out without a word")
    touches = any(width is not None for width in widths.values())
    return ok("of the weights' own width" if touches else "no LoRA changes AdaLN")


@check("lora-rank")
def lora_rank(case: Case) -> Finding | None:
    """A LoRA's rank and alpha."""
    if not case.wanted.loras:
        return None
    says = []
    for name in case.wanted.loras:
        header = _header(_named(case, name))
        found, alpha = weights.ranks(header), header.alpha
        if not found:
            return fail(f"{name}: no pairs of lora_A and lora_B: not a LoRA that ComfyUI reads")
        scale = (
            f", alpha {alpha:g}: scale {alpha / found[0]:g}" if alpha is not None else ", no alpha: scale 1"
        )
        says.append(f"{name}: rank {' and '.join(map(str, found))}{scale}")
        if alpha == 0:
            return fail(f"{says[-1]}: it does nothing")
    return ok("; ".join(says))


@check("audio-vae")
def audio_vae(case: Case) -> Finding | None:
    """Whether the sound's VAE is H3's."""
    file = _named(case, case.wanted.file("audio_vae"))
    names = _header(file).tensors.keys()
    if set(weights.MUSIC_VAE) <= names:
        return fail(f"{file.name}: MiniMax Music's, by its keys: ComfyUI would take it for that")
    return (
        ok(file.name) if weights.AUDIO_VAE in names else fail(f"{file.name}: not H3's audio VAE, by its keys")
    )


@check("video-vae")
def video_vae(case: Case) -> Finding | None:
    """Whether the picture's VAE is H3's."""
    file = _named(case, case.wanted.file("video_vae"))
    fits = set(weights.VIDEO_VAE) <= _header(file).tensors.keys()
    return ok(file.name) if fits else fail(f"{file.name}: not H3's video VAE, by its keys")


@check("text-encoder")
def text_encoder(case: Case) -> Finding | None:
    """Which text encoder."""
    named, on_cpu = case.wanted.file("text_encoder"), _encodes_on_cpu(case)
    if _nvfp4_on_amd(case) and not on_cpu:
        return warn(f"{named}: 4-bit weights that no Radeon takes: render: {{text_device: cpu}}")
    file = _named(case, named)
    if weights.MUSIC_ENCODER in _header(file).tensors:
        return fail(f"{file.name}: MiniMax Music's, by its keys")
    if "minimax_h3" not in file.name:
        return warn(f"{file.name}: not named as H3's")
    return ok(f"{file.name}{', on the processor' * on_cpu}")


def _nvfp4_on_amd(case: Case) -> bool:
    from mvpipe.doctor.checks_machine import is_radeon

    return "nvfp4" in case.wanted.file("text_encoder") and is_radeon(case)


def _encodes_on_cpu(case: Case) -> bool:
    loaders = (node["inputs"] for node in case.wanted.graph.values() if "clip_name" in node["inputs"])
    return any(inputs.get("device") == "cpu" for inputs in loaders)


@check("gguf-bf16")
def gguf_bf16(case: Case) -> Finding | None:
    """BF16 tensors in a GGUF, with a loader known to misread them."""
    if not case.wanted.weights.endswith(".gguf"):
        return None
    found = weights.bf16_tensors(_header(_named(case, case.wanted.weights)))
    if not found:
        return ok("no BF16 tensor in it")
    if "LoaderGGUF" in classes_of(case.wanted.graph) or _has_rebuilt_loader(case):
        return warn(f"{len(found)} BF16 tensors, and LoaderGGUF, a rebuilt loader that read them as bytes")
    return ok(f"{len(found)} BF16 tensors; city96's and KJ's loaders are not known to misread them")


def _has_rebuilt_loader(case: Case) -> bool:
    """Whether mvpipe would have to take LoaderGGUF, for want of another."""
    try:
        nodes = case.server.nodes
    except NotVisible:
        return False
    return "LoaderGGUF" in nodes and not {"UnetLoaderGGUF", "GGUFLoaderKJ"} & nodes.keys()
