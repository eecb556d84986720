"""What is essential in an answer or a message, by one function for recordings and for the stand-in.

Times, ids, lengths and tracebacks are left out; names, shapes, types, orders and words of errors stay.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

HEADERS = {
    "Accept-Ranges", "Access-Control-Allow-Credentials", "Access-Control-Allow-Headers",
    "Access-Control-Allow-Methods", "Access-Control-Allow-Origin", "Allow", "Cache-Control",
    "Content-Disposition", "Content-Encoding", "Content-Type", "Etag", "Last-Modified",
    "Transfer-Encoding", "Vary", "X-Content-Type-Options",
}  # fmt: skip
"""Headers whose presence is compared; the value of some of them too."""

VALUES = {"Allow", "Content-Type", "Cache-Control", "Vary", "X-Content-Type-Options"}


def headers(given: dict[str, str]) -> dict[str, str]:
    """Presence of the headers that matter, and the values of a few."""
    found = {name.title(): value for name, value in given.items()}
    return {name: found[name] if name in VALUES else "" for name in sorted(HEADERS & found.keys())}


USUAL = {
    "status": {"status"},
    "progress_state": {"prompt_id", "nodes"},
    "progress": {"value", "max", "prompt_id", "node"},
    "executing": {"node", "display_node", "prompt_id"},
    "executed": {"node", "display_node", "output", "prompt_id"},
    "execution_start": {"prompt_id", "timestamp"},
    "execution_cached": {"nodes", "prompt_id", "timestamp"},
    "execution_success": {"prompt_id", "timestamp"},
    "execution_error": {
        "prompt_id", "node_id", "node_type", "executed", "exception_message", "exception_type", "traceback",
        "current_inputs", "current_outputs", "timestamp",
    },
    "execution_interrupted": {"prompt_id", "node_id", "node_type", "executed", "timestamp"},
    "a node's state": {
        "value", "max", "state", "node_id", "prompt_id", "display_node_id", "parent_node_id", "real_node_id"
    },
}  # fmt: skip
"""The keys each kind of message has as a rule; `shape` tells where one differs."""


def shape(kind: str, data: dict[str, Any]) -> str:
    """How the keys differ from the usual ones: ` +more -less`, or nothing."""
    usual = USUAL.get(kind, set())
    more, less = sorted(data.keys() - usual), sorted(usual - data.keys())
    return "".join(f" +{name}" for name in more) + "".join(f" -{name}" for name in less)


def told(message: dict[str, Any]) -> str:
    """A WebSocket message in a few words."""
    if "binary" in message:
        return f"binary {message['binary']['event']}"
    kind, data = message["type"], message["data"]
    writers: dict[str, Callable[[], str]] = {
        "status": lambda: f" {data['status']['exec_info']['queue_remaining']}",
        "execution_cached": lambda: f" {','.join(sorted(data['nodes'], key=int))}",
        "progress_state": lambda: _state(data["nodes"]),
        "progress": lambda: f" {data['node']} {data['value']:g}/{data['max']:g}",
        "executing": lambda: f" {data['node']}",
        "executed": lambda: f" {data['node']} {_keys(data['output'])}",
        "execution_error": lambda: f" {data['node_id']} {data['exception_type']}",
        "execution_interrupted": lambda: f" {data['node_id']}",
    }
    told_more: str = writers[kind]() if kind in writers else ""
    return f"{kind}{told_more}{shape(kind, data)}"


def _state(nodes: dict[str, Any]) -> str:
    name, last = list(nodes.items())[-1]
    state = f" {len(nodes)} {name} {last['value']:g}/{last['max']:g} {last['state']}"
    return state + shape("a node's state", last)


def _keys(value: dict[str, Any]) -> str:
    return ",".join(sorted(value))


def refusal(body: Any) -> Any:
    """A refused or accepted prompt: everything but ids, numbers and tracebacks."""
    if not isinstance(body, dict):
        return body
    found: dict[str, Any] = {"keys": _keys(body)}
    if "error" in body:
        found["error"] = body["error"]
    errors = body.get("node_errors") or {}
    found["nodes"] = {
        node: {**entry, "errors": [_reason(reason) for reason in entry["errors"]]}
        for node, entry in errors.items()
    }
    return found


def _reason(reason: dict[str, Any]) -> dict[str, Any]:
    extra = {
        name: value
        for name, value in reason["extra_info"].items()
        if name not in ("traceback", "input_config")
    }
    config = reason["extra_info"].get("input_config")
    if "input_config" in reason["extra_info"]:
        extra["input_config"] = _bare(config)
    return {**reason, "extra_info": extra}


def _bare(config: Any) -> Any:
    """An input's schema without its words for people."""
    if not isinstance(config, list):
        return config
    spare = {"tooltip", "multiselect", "advanced", "display"}
    options = {
        name: value for name, value in (config[1] if len(config) > 1 else {}).items() if name not in spare
    }
    return [config[0], options]


def record(body: dict[str, Any]) -> dict[str, Any]:
    """A history record: its shape, its end, its files without their ids."""
    (entry,) = body.values()
    messages = entry["status"]["messages"]
    return {
        "keys": _keys(entry),
        "prompt": [type(part).__name__ for part in entry["prompt"]],
        "extra": sorted(set(entry["prompt"][3] or {}) & {"client_id", "create_time"}),
        "status": [entry["status"]["status_str"], entry["status"]["completed"], _keys(entry["status"])],
        "messages": [kind + shape(kind, data) for kind, data in messages],
        "error": messages[-1][1].get("exception_type"),
        "outputs": {node: sorted(shown) for node, shown in entry["outputs"].items()},
        "meta": {node: _keys(facts) for node, facts in entry["meta"].items()},
    }


def job(body: dict[str, Any]) -> dict[str, Any]:
    """A job: its state and which facts it has."""
    shown = body.get("preview_output")
    return {"status": body["status"], "keys": _keys(body), "preview": _keys(shown) if shown else ""}


def schema(body: dict[str, Any]) -> Any:
    """A node class: its inputs with their forms, its outputs."""
    if not body:
        return {}
    (entry,) = body.values()
    return {
        "inputs": {
            group: {name: _form(spec) for name, spec in inputs.items()}
            for group, inputs in entry["input"].items()
            if group != "hidden"
        },
        "order": {group: names for group, names in entry["input_order"].items() if group != "hidden"},
        "output": entry["output"],
        "output_name": entry["output_name"],
        "output_node": entry["output_node"],
    }


def _form(spec: list[Any]) -> str:
    kind = "list" if isinstance(spec[0], list) else spec[0]
    options = spec[1] if len(spec) > 1 else {}
    bounds = "".join(f" {name}={options[name]}" for name in ("default", "min", "max") if name in options)
    if kind == "COMFY_AUTOGROW_V3":
        template = options["template"]
        bounds = f" {template['prefix']}{template['min']}..{template['max']}"
    if kind in ("list", "COMBO", "COMFY_DYNAMICCOMBO_V3"):
        bounds = ""
    return f"{kind}{bounds}"
