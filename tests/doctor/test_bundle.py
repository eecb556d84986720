"""A bundle tells what failed and nothing of whom: planted secrets, homes, users, hosts never appear."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mvpipe.doctor.bundle import bundle_files, write_bundle
from mvpipe.doctor.faults import explain
from mvpipe.doctor.redact import Redactor, of_this_machine
from mvpipe.errors import SettingsError

REDACTOR = Redactor(
    home="/home/mira.okada", names=("mira.okada", "renderbox", "gpu.okada.example"), secrets=("pa55",)
)

PLANTED = {
    "home": ("/home/mira.okada/ComfyUI/main.py", "mira.okada"),
    "another home": ("File \"/home/jon_doe/x.py\"", "jon_doe"),
    "mac": ("/Users/annabel/ComfyUI/models", "annabel"),
    "windows": (r"C:\Users\Annabel\ComfyUI", "Annabel"),
    "windows, escaped": (r"C:\\Users\\Annabel\\ComfyUI", "Annabel"),
    "host": ("connected to renderbox:8188", "renderbox"),
    "prompt of a shell": ("kai@workstation7:~$ python main.py", "workstation7"),
    "url": ("GET http://gpu.okada.example:8188/queue", "okada"),
    "unknown host in a url": ("GET https://secret-lab.example.org/x", "secret-lab"),
    "url with a password": ("http://u:hunter2@127.0.0.1:8188/x", "hunter2"),
    "url with a token": ("http://127.0.0.1:8188/x?token=abcdef123", "abcdef123"),
    "flag": ("main.py --api-key abcdef123", "abcdef123"),
    "environment": ("HF_TOKEN=abcdef123", "abcdef123"),
    "header": ("Authorization: Bearer abcdef123", "abcdef123"),
    "json": ('{"api_key": "abcdef123"}', "abcdef123"),
    "cookie": ("Cookie: sid=abcdef123", "abcdef123"),
    "hugging face": ("hf_abcdefghijklmnop", "abcdefghijklmnop"),
    "openai": ("sk-proj-abcdefghijklmnop", "abcdefghijklmnop"),
    "github": ("ghp_abcdefghijklmnopqrstuvwx", "abcdefghijkl"),
    "jwt": ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefg", "eyJzdWIi"),
    "mail": ("written by mira@okada.example", "mira@"),
    "address": ("listening on 192.168.17.44", "192.168.17.44"),
    "mac address": ("wlan0 3c:52:82:aa:bb:cc", "3c:52:82"),
    "ipv6": ("from 2001:db8:85a3:0:0:8a2e:370:7334", "8a2e"),
    "header in quotes": ("'Authorization': 'Basic dXNlcjpwdw'", "dXNlcjpwdw"),
    "a user of two words": (r"C:\Users\Ann Smith\ComfyUI", "Smith"),
    "a disk": ("/media/annabel/Disk1/models", "annabel"),
    "a share": (r"\\nas-annabel\share\models", "annabel"),
    "short ipv6": ("from 2001:db8::7334", "7334"),
    "a link's own ipv6": ("from fe80::a1b2:c3ff:fed4:7890", "7890"),
    "with its interface": ("from fe80::a1b2:c3ff:fed4:7890%wlp3s0", "wlp3s0"),
    "as a network": ("route 2001:db8:77aa::/48", "77aa"),
    "ipv6 in a url": ("GET http://[fe80::a1b2:c3ff:fed4:7890]:8188/x", "7890"),
    "ipv6 in a url without a port": ("GET http://me:word@[fe80::a1b2:c3ff:fed4:7890]/x", "7890"),
    "ipv6 and interface in a url": ("GET http://[fe80::a1b2:c3ff:fed4:7890%25wlp3s0]:8188/x", "wlp3s0"),
    "a card's number": ("GPU-8f1c1e9e-1111-2222-3333-444455556666", "444455556666"),
    "a secret that is known": ("it is pa55 here", "pa55"),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_it_never_appears(name: str) -> None:
    text, secret = PLANTED[name]
    assert secret in text
    cleaned = REDACTOR.clean(f"before {text} after")
    assert secret.lower() not in cleaned.lower()
    assert cleaned.startswith("before")
    assert cleaned.endswith("after") or name in ("flag", "cookie")


@given(before=st.text(max_size=30), name=st.sampled_from(sorted(PLANTED)), after=st.text(max_size=30))
def test_whatever_stands_around_it(before: str, name: str, after: str) -> None:
    text, secret = PLANTED[name]
    if name == "a secret that is known" or not (before + after).strip():
        assert secret not in REDACTOR.clean(f"{before} {text} {after}")


def test_what_matters_is_kept() -> None:
    text = "torch.OutOfMemoryError at /home/mira.okada/comfy/ops.py:12, http://127.0.0.1:8188, step 3 of 8"
    assert REDACTOR.clean(text) == (
        "torch.OutOfMemoryError at ~/comfy/ops.py:12, http://127.0.0.1:8188, step 3 of 8"
    )
    for text in ("http://[::1]:8188/queue, at 12:30:45.6", "torch::jit::load, c10::Half, ::1"):
        assert REDACTOR.clean(text) == text


def test_the_whole_bundle(tmp_path: Path) -> None:
    log = "\n".join(text for text, _ in PLANTED.values()) + "\nlora key not loaded: x at /home/mira.okada/y"
    facts = {
        "argv": [text for text, _ in PLANTED.values()],
        "nested": {"api_key": "zzz999", "on renderbox": 1},
    }
    files = bundle_files(log, explain(log), [], facts, REDACTOR)
    write_bundle(tmp_path / "report.zip", files)
    with zipfile.ZipFile(tmp_path / "report.zip") as packed:
        whole = "\n".join(packed.read(name).decode() for name in packed.namelist()).lower()
        assert {"README.txt", "log.txt", "explained.json", "facts.json", "versions.json"} == set(
            packed.namelist()
        )
        told = json.loads(packed.read("explained.json"))
    for _, secret in PLANTED.values():
        assert secret.lower() not in whole
    assert "zzz999" not in whole
    assert "renderbox" not in whole
    assert "lora-keys" in [one["id"] for one in told["recognised"]]
    with pytest.raises(SettingsError, match="already"):
        write_bundle(tmp_path / "report.zip", files)


def test_this_machine_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/srv/people/zelda")
    monkeypatch.setattr("platform.node", lambda: "hyrule.example.net")
    found = of_this_machine(addresses=["http://link:bow@castle:8188"])
    cleaned = found.clean("zelda on hyrule at /srv/people/zelda/x, link bow castle")
    for name in ("zelda", "hyrule", "castle", "bow"):
        assert name not in cleaned
