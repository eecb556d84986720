"""Make the facts in `facts/` from recordings of real servers: `python -m tests.testing.gather FOLDER`.

FOLDER holds one folder a version, one file a scenario, as recorded. It is not needed to run the tests.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.testing import essence

VERSIONS = ("0.3.64", "0.33.0")
HERE = Path(__file__).parent / "facts"

JSON = {"Content-Type": "application/json; charset=utf-8"}

Step = dict[str, Any]


def main(folder: Path) -> None:
    """Write the facts of all scenarios."""
    for name, gather in SCENARIOS.items():
        facts = {}
        for version in VERSIONS:
            steps = json.loads((folder / version / f"{name}.json").read_text("utf-8"))["steps"]
            facts[version] = gather(steps)
        text = json.dumps(_shared(facts), indent=0, sort_keys=True, ensure_ascii=False)
        (HERE / f"{name}.json").write_text(text + "\n", "utf-8")


def _shared(facts: dict[str, Any]) -> dict[str, Any]:
    """What both versions have in common, told once."""
    old, new = (facts[version] for version in VERSIONS)
    if old == new:
        return {"both": old}
    if not isinstance(old, dict):
        return facts
    both = {name: value for name, value in old.items() if new.get(name) == value}
    return {
        "both": both,
        **{v: {name: x for name, x in facts[v].items() if name not in both} for v in VERSIONS},
    }


def answers(steps: list[Step]) -> Iterator[tuple[str, dict[str, Any], Step]]:
    """(what or path, response, step) of every request that was answered."""
    for step in steps:
        if "response" in step:
            request = step["request"]
            yield step.get("what") or f"{request['method']} {request['path']}", step["response"], step


def sockets(steps: list[Step]) -> list[list[str]]:
    """What was told on each WebSocket, in order."""
    return [
        [essence.told(message) for message in step["messages"] if "type" in message or "binary" in message]
        for step in steps
        if "messages" in step
    ]


def info(steps: list[Step]) -> Any:
    found: dict[str, Any] = {}
    for _, response, step in answers(steps):
        request, body = step["request"], response.get("body")
        if request.get("headers") or "rec1" in str(body) or "internal" in request["path"]:
            continue
        key = f"{request['method']} {request['path']}".replace("..", "")
        found[key] = fact = {"status": response["status"]}
        if essence.headers(response["headers"]) != JSON:
            fact["headers"] = essence.headers(response["headers"])
        if "/object_info/" in key:
            fact["schema"] = essence.schema(body or {})
        elif isinstance(body, dict) and "jobs" not in key:
            fact["keys"] = {
                k: sorted(v) if isinstance(v, dict) else type(v).__name__ for k, v in body.items()
            }
        if "/features" in key or (response["status"] in (400, 404, 405, 503) and body):
            fact["body"] = body
    return found


def upload(steps: list[Step]) -> Any:
    return [
        [what, response["status"], _named(response["body"])]
        for what, response, step in answers(steps)
        if step["request"]["method"] == "POST" and "over max" not in what
    ]


def _named(body: Any) -> Any:
    if not isinstance(body, dict):
        return body
    stem = body["subfolder"].split("/")[0] or body["name"].split(".")[0]
    return {name: str(value).replace(stem, "SUB") for name, value in body.items() if name != "asset"} | {
        "asset": sorted(body.get("asset", {}))
    }


def run(steps: list[Step]) -> Any:
    shapes: list[Any] = []
    for what, response, step in answers(steps):
        path = step["request"]["path"]
        if path.startswith("/history/") and response["body"]:
            shapes.append(essence.record(response["body"]))
        if path.startswith("/api/jobs/"):
            shapes.append(essence.job(response["body"]))
        if path.startswith("/view"):
            shapes.append([what, response["status"]])
    return {"sockets": sockets(steps), "shapes": shapes}


def validation(steps: list[Step]) -> Any:
    found: dict[str, Any] = {}
    last = ""
    for what, response, step in answers(steps):
        if step["request"]["method"] == "POST":
            last = what
            body: Any = response.get("body")
            found[what] = [response["status"], essence.refusal(body)]
            if "prompt_id" in what:
                found[what].append(body.get("prompt_id"))
        elif response["body"]:
            found[f"record: {last}"] = essence.record(response["body"])
    return found


def errors(steps: list[Step]) -> Any:
    return [
        essence.record(response["body"]) for _, response, step in answers(steps)
        if step["request"]["path"].startswith("/history/")
    ]  # fmt: skip


def spoken(steps: list[Step]) -> Any:
    return {
        "sockets": sockets(steps),
        "answers": [[what, response["status"]] for what, response, _ in answers(steps)],
    }


def queue(steps: list[Step]) -> Any:
    found: list[Any] = []
    zero = None
    for what, response, step in answers(steps):
        body: Any = response.get("body")
        if step["request"]["path"] == "/queue" and isinstance(body, dict):
            found.append(["queue", *([_relative(item[0], zero) for item in body[k]] for k in body)])
        elif isinstance(body, dict) and "number" in body:
            zero = body["number"] if zero is None else zero
            found.append([what, response["status"], _relative(body["number"], zero)])
        else:
            found.append([what.split("..")[0][:60], response["status"]])
    notes = [step["note"] for step in steps if "note" in step]
    return {
        "steps": found,
        "notes": [note for note in notes if note.startswith(("run order", "GET /history?"))],
    }


def _relative(number: float, zero: float | None) -> float:
    """The counter counted from the scenario's first prompt; numbers the client gave stay."""
    if zero is None or not isinstance(number, int):
        return number
    return number - zero if number > 0 else number + zero


def view(steps: list[Step]) -> Any:
    return [
        [what, response["status"], essence.headers(response["headers"])]
        for what, response, step in answers(steps)
    ]


def statuses(steps: list[Step]) -> Any:
    return [[what.split("..")[0], response["status"]] for what, response, _ in answers(steps)]


SCENARIOS: dict[str, Callable[[list[Step]], Any]] = {
    "01-info": info,
    "02-upload": upload,
    "03-run-success": run,
    "04-validation": validation,
    "05-run-errors": errors,
    "06-interrupt": spoken,
    "07-queue": queue,
    "08-concurrent": spoken,
    "09-view": view,
    "10-origin": statuses,
    "11-reconnect": spoken,
    "14-worker-death": queue,
    "17-flags-cors-upload": view,
}

if __name__ == "__main__":
    main(Path(sys.argv[1]))
