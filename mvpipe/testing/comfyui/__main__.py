"""Start the server: prints one JSON line with its ports when it is ready, then serves until it is stopped."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

from mvpipe.testing.comfyui.catalogue import describe
from mvpipe.testing.comfyui.control import Control
from mvpipe.testing.comfyui.faults import Dice
from mvpipe.testing.comfyui.server import Comfy
from mvpipe.testing.comfyui.settings import CARDS, LATER, MODELS, NEW, OLD, PACKS, USUAL_PACKS, Settings


def parser() -> argparse.ArgumentParser:
    """The command line."""
    command = argparse.ArgumentParser(prog="python -m mvpipe.testing.comfyui", description=__doc__)
    add = command.add_argument
    add("--root", type=Path, default=Path("comfyui-standin"), help="its folder; kept over restarts")
    add("--version", default=NEW, choices=(OLD, NEW, LATER), help="which ComfyUI it is")
    add("--host", default="127.0.0.1")
    add("--port", type=int, default=0, help="0 picks a free one")
    add("--control", type=int, default=0, help="port of the private door")
    add("--prefix", default="", help="path a proxy puts in front, such as /comfy")
    add("--header", default="", help="'Name: value' a proxy demands")
    add("--packs", default=",".join(USUAL_PACKS), help=f"of {','.join(PACKS)}")
    add("--model", action="append", default=[], metavar="FOLDER/FILE", help="a model file it has besides")
    add("--without-model", action="append", default=[], metavar="FILE", help="a usual file it has not")
    add("--card", default="24gb", choices=sorted(CARDS))
    add("--step-seconds", type=float, default=0.0, help="of a step at 960x544, 124 frames; the card's own")
    add("--room", type=int, default=0, help="rows of the largest sequence it has memory for; 0: any")
    add("--leak", type=int, default=0, help="MiB that every run leaves in use, until /free")
    add("--speed", type=float, default=1000.0, help="seconds of work done in a real one; inf waits for none")
    add("--no-previews", action="store_true", help="sampling sends no pictures")
    add("--shrink", type=int, default=1, help="clips are so many times smaller than asked for")
    add("--boot-seconds", type=float, default=0.0, help="real seconds until the port opens")
    add("--enable-assets", action="store_true")
    add("--enable-cors-header", action="store_true")
    add("--enable-compress-response-body", action="store_true")
    add("--cache-none", action="store_true")
    add("--max-upload-size", type=float, default=100, help="MiB")
    add("--windows", action="store_true", help="paths in its answers have backslashes")
    add("--argv", action="append", default=[], help="more of the command line that /system_stats tells")
    add("--certificate", default="", help="PEM; with --key it speaks https")
    add("--key", default="")
    add("--fault", action="append", default=[], metavar="NAME[,figure=value...]", help="see --faults")
    add("--dice", default="", metavar="SEED,RATE[,FAULT...]", help="random faults")
    add("--faults", action="store_true", help="list all faults and end")
    add("--parent", type=int, default=0, help="end when this process is gone")
    return command


def settings(given: argparse.Namespace) -> Settings:
    """What the command line says."""
    models = {
        folder: tuple(file for file in files if file not in given.without_model)
        for folder, files in MODELS.items()
    }
    for one in given.model:
        folder, _, file = one.partition("/")
        models[folder] = (*models.get(folder, ()), file)
    seed, rate, *kinds = given.dice.split(",") if given.dice else ("0", "0")
    return Settings(
        root=given.root.resolve(),
        version=given.version,
        host=given.host,
        port=given.port,
        control=given.control,
        prefix=given.prefix.rstrip("/"),
        header=given.header,
        packs=tuple(pack for pack in given.packs.split(",") if pack),
        models=models,
        card=given.card,
        step_s=given.step_seconds,
        room=given.room,
        leak_mib=given.leak,
        speed=given.speed,
        previews=not given.no_previews,
        shrink=given.shrink,
        boot_s=given.boot_seconds,
        assets=given.enable_assets,
        cors=given.enable_cors_header,
        compress=given.enable_compress_response_body,
        cache=not given.cache_none,
        upload_mib=given.max_upload_size,
        argv=tuple(given.argv),
        certificate=given.certificate,
        key=given.key,
        windows=given.windows,
        dice=Dice(seed=int(seed), rate=float(rate), kinds=tuple(kinds)) if given.dice else None,
    )


def order(comfy: Comfy, text: str) -> None:
    """Have a fault as the command line writes it: `die,step=2,times=1`."""
    name, *figures = text.split(",")
    values = {}
    for figure in figures:
        key, _, value = figure.partition("=")
        try:
            values[key] = json.loads(value)
        except ValueError:
            values[key] = value
    comfy.faults.order(name, **values)


async def serve(comfy: Comfy) -> None:
    """Open both ports, say so, and stay."""
    await comfy.open()
    control = Control(comfy, comfy.settings.host, comfy.settings.control).start()
    ready = {"port": comfy.port, "control": control, "pid": os.getpid(), "root": str(comfy.settings.root)}
    print(json.dumps(ready), flush=True)  # noqa: T201  # a program of its own
    await asyncio.Event().wait()


def watch(parent: int) -> None:
    """End when whoever started us is gone, so that no server is left behind."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(0)


def main() -> None:
    """Serve."""
    given = parser().parse_args()
    if given.faults:
        print(describe())  # noqa: T201
        return
    kind = settings(given)
    fresh = not (kind.root / "faults.json").exists()  # a killed server comes back with what was left
    comfy = Comfy(kind)
    for text in given.fault if fresh else ():
        order(comfy, text)
    if given.parent and sys.platform != "win32":
        threading.Thread(target=watch, args=(given.parent,), daemon=True).start()
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    try:
        asyncio.run(serve(comfy))
    except KeyboardInterrupt:
        os._exit(0)


if __name__ == "__main__":
    main()
