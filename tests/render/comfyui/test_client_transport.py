"""Every failure of HTTP is one of ours, says where and what to do, and holds no secret."""

from __future__ import annotations

import gzip
import logging
import re
import shutil
import socket
import subprocess
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
import requests
from requests import exceptions as foreign

from mvpipe.errors import BackendError, RenderFailed, RenderTimeout, SettingsError, Unreachable
from mvpipe.render.comfyui.address import address, shown, without_secrets
from mvpipe.render.comfyui.answers import Answer, checked, refusal
from mvpipe.render.comfyui.failures import Lasting, NotComfyUI, Refused
from mvpipe.render.comfyui.patience import Patience
from mvpipe.render.comfyui.transport import FOREIGN, Transport, of_exception
from mvpipe.testing.standin import standin
from tests.render.comfyui.rig import QUICK, Rig, frames_of
from tests.render.comfyui.wire import answer, wire

HASTY = Patience(connect_s=0.3, answer_s=0.3)
SECRETS = ("hunter2", "tok-4711", "key-0815")


def transport(url: str, patience: Patience = HASTY, **more: Any) -> Transport:
    return Transport(address(url, **more), patience)


def subclasses(kind: type[BaseException]) -> set[type[BaseException]]:
    return {kind}.union(*(subclasses(sub) for sub in kind.__subclasses__()))


def exception(kind: type[BaseException]) -> Any:
    """One of that kind, however it wants to be made."""
    made = kind.__new__(kind)
    made.args = ("http://me:hunter2@host/?token=tok-4711",)
    return made


class TestTheMap:
    """No exception of requests gets past it, and each becomes what a caller can act on."""

    KINDS = sorted(subclasses(requests.RequestException), key=lambda kind: kind.__name__)
    EXPECTED: ClassVar[dict[str, type[BackendError]]] = {
        "ChunkedEncodingError": Unreachable, "ConnectTimeout": Unreachable, "ConnectionError": Unreachable,
        "ContentDecodingError": NotComfyUI, "HTTPError": Unreachable, "InvalidHeader": Refused,
        "InvalidJSONError": NotComfyUI, "InvalidProxyURL": Refused, "InvalidSchema": Refused,
        "InvalidURL": Refused, "JSONDecodeError": NotComfyUI, "MissingSchema": Refused,
        "ProxyError": Unreachable, "ReadTimeout": RenderTimeout, "RequestException": Unreachable,
        "RetryError": Unreachable, "SSLError": Refused, "StreamConsumedError": Lasting,
        "Timeout": RenderTimeout, "TooManyRedirects": NotComfyUI, "URLRequired": Refused,
        "UnrewindableBodyError": Lasting,
    }  # fmt: skip

    def test_it_is_total(self) -> None:
        assert {kind.__name__ for kind in self.KINDS} == set(self.EXPECTED), (
            "requests has other exceptions now"
        )

    @pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
    def test_each_becomes_one_of_ours(self, kind: type[BaseException]) -> None:
        made = of_exception(exception(kind), "GET http://host/queue")
        assert type(made) is self.EXPECTED[kind.__name__]
        assert str(made).startswith("GET http://host/queue: ")
        assert made.hint
        assert not [word for word in SECRETS if word in f"{made} {made.hint}"]

    def test_what_requests_lets_through_is_mapped_too(self) -> None:
        """urllib3's own errors, and those of host names that cannot be encoded."""
        beneath = FOREIGN[1]
        for kind in subclasses(beneath):
            assert isinstance(of_exception(exception(kind), "GET /x"), BackendError)
        assert isinstance(of_exception(UnicodeError("label too long"), "GET /x"), Refused)

    def test_only_what_may_pass_is_retryable(self) -> None:
        retried = {k for k, kind in self.EXPECTED.items() if kind.retryable}
        assert retried == {
            "ChunkedEncodingError", "ConnectTimeout", "ConnectionError", "HTTPError", "ProxyError",
            "ReadTimeout", "RequestException", "RetryError", "Timeout",
        }  # fmt: skip


class TestStatuses:
    @pytest.mark.parametrize(
        ("status", "kind", "says"),
        [
            (301, NotComfyUI, "sends us to https://elsewhere/x"),
            (400, Lasting, "no such thing"),
            (401, Refused, "refused"),
            (403, Refused, "refused"),
            (404, NotComfyUI, "no such route"),
            (405, NotComfyUI, "no such route"),
            (407, Refused, "refused"),
            (413, Lasting, "too large: no such thing"),
            (429, Unreachable, "not now"),
            (500, Lasting, "no such thing"),
            (502, Unreachable, "does not"),
            (503, Unreachable, "does not"),
            (504, Unreachable, "does not"),
        ],
    )
    def test_a_status_becomes_one_of_ours(self, status: int, kind: type[BackendError], says: str) -> None:
        headers = {"Location": "https://me:hunter2@elsewhere/x?token=tok-4711"}
        got = Answer(where="GET http://h/x", status=status, headers=headers, body=b"no such\nthing")
        with pytest.raises(BackendError, match=re.escape(says)) as caught:
            checked(got)
        assert type(caught.value) is kind
        assert str(status) in str(caught.value)
        assert not [word for word in SECRETS if word in str(caught.value)]

    def test_all_statuses_have_a_failure(self) -> None:
        for status in (*range(100, 200), *range(300, 600)):
            assert isinstance(refusal(Answer(where="x", status=status, headers={}, body=b"")), BackendError)


class TestOnTheWire:
    """What really comes, from servers that really send it."""

    def test_nobody_listens(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        with pytest.raises(Unreachable, match=f"127.0.0.1:{port}/queue: connection refused") as caught:
            transport(f"http://127.0.0.1:{port}").ask("GET", "/queue")
        assert "start ComfyUI" in caught.value.hint

    @pytest.mark.parametrize(
        ("said", "kind"),
        [
            (b"", Unreachable),
            (b"\x16\x03\x01 no http at all\r\n\r\n", Unreachable),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", Unreachable),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", Unreachable),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", Unreachable),
            (answer(200, b"not gzip", "Content-Encoding: gzip"), NotComfyUI),
            (answer(302, b"", "Location: http://127.0.0.1:1/elsewhere"), NotComfyUI),
            (answer(200, b"<html>Welcome to nginx</html>", "Content-Type: text/html"), NotComfyUI),
            (answer(200, b"[1, 2"), NotComfyUI),
            (answer(200, b"[1, 2]"), NotComfyUI),
        ],
    )
    def test_nonsense(self, said: bytes, kind: type[BackendError]) -> None:
        with wire(said) as server, pytest.raises(BackendError) as caught:
            checked_object(transport(server.url))
        assert type(caught.value) is kind
        assert str(caught.value).startswith(f"GET {server.url}/queue: ")

    def test_too_slow(self) -> None:
        with wire(answer(), pause_s=0.6) as server, pytest.raises(RenderTimeout, match="no answer in time"):
            transport(server.url).ask("GET", "/queue")

    def test_a_coded_answer_is_read(self) -> None:
        with wire(answer(200, gzip.compress(b'{"a": 1}'), "Content-Encoding: gzip")) as server:
            assert transport(server.url).ask("GET", "/x").object() == {"a": 1}

    def test_https_spoken_to_http(self) -> None:
        with wire(b"HTTP/1.1 400 Bad Request\r\n\r\n") as server, pytest.raises(Refused) as caught:
            transport(server.url.replace("http:", "https:")).ask("GET", "/queue")
        assert "http://" in caught.value.hint

    def test_no_origin_and_no_redirect_and_our_headers(self) -> None:
        with wire(answer(307, b"", "Location: http://127.0.0.1:1/")) as server:
            found = transport(f"{server.url}/comfy/?token=tok-4711", headers={"X-Api-Key": "key-0815"})
            assert found.ask("POST", "/prompt", body={}).status == 307
        (heard,) = server.heard
        assert heard.startswith(b"POST /comfy/prompt?token=tok-4711 HTTP/1.1\r\n")
        assert b"X-Api-Key: key-0815\r\n" in heard
        assert b"origin" not in heard.lower()
        assert b"sec-fetch" not in heard.lower()


def checked_object(found: Transport) -> dict[str, Any]:
    return checked(found.ask("GET", "/queue")).object()


class TestAddress:
    @pytest.mark.parametrize(
        ("url", "base"),
        [
            ("host:8188", "http://host:8188"),
            ("http://host:8188/", "http://host:8188"),
            ("https://host/comfy/one/", "https://host/comfy/one"),
            ("http://me:hunter2@host:1?token=tok-4711", "http://host:1"),
            ("http://[::1]:8188", "http://[::1]:8188"),
        ],
    )
    def test_what_may_be_shown(self, url: str, base: str) -> None:
        found = address(url, headers={"X-Api-Key": "key-0815"})
        assert (found.base, str(found)) == (base, base)
        assert not [word for word in SECRETS if word in repr(found)]

    def test_a_name_and_password_become_a_header(self) -> None:
        assert address("http://me:hunter%322@host").headers == {"Authorization": "Basic bWU6aHVudGVyMjI="}

    @pytest.mark.parametrize(
        "url",
        ["", "http://", "ftp://host", "http://host:0", "http://host:99999", "http://me:hunter2@host:x/",
         "http://ho st/", "http://host:1/a\nb"],
    )  # fmt: skip
    def test_what_is_no_address_is_refused(self, url: str) -> None:
        with pytest.raises(SettingsError) as caught:
            address(url)
        assert "hunter2" not in str(caught.value)

    @pytest.mark.parametrize(
        "headers",
        [{"Origin": "http://x"}, {"Host": "x"}, {"bad name": "x"}, {"X": "key-0815\r\nY: 1"}, {"X": "ü"},
         {"key-0815: x": "y"}],
    )  # fmt: skip
    def test_headers_that_are_not_the_users_are_refused(self, headers: dict[str, str]) -> None:
        with pytest.raises(SettingsError) as caught:
            address("http://host", headers=headers)
        assert "key-0815" not in str(caught.value)

    def test_a_missing_authority_is_said_at_once(self, tmp_path: Path) -> None:
        with pytest.raises(SettingsError, match="no such file"):
            address("https://host", authority=tmp_path / "none.pem")

    def test_shown_never_shows_a_secret(self) -> None:
        assert shown("http://me:hunter2@host/a?token=tok-4711#x") == "http://host/a"
        assert shown("me:hunter2@host") == "host"
        assert shown("http://host/hunter2@more") == "http://host/more"

    def test_a_servers_command_line_is_kept_without_its_keys(self) -> None:
        argv = ["main.py", "--port", "8188", "--comfy-api-key", "key-0815", "--auth-token=tok-4711",
                "--proxy", "http://me:hunter2@host/", "--listen"]  # fmt: skip
        assert without_secrets(argv) == [
            "main.py", "--port", "8188", "--comfy-api-key", "***", "--auth-token=***",
            "--proxy", "http://host/", "--listen",
        ]  # fmt: skip


class TestSecrets:
    """They reach the server, and nothing else."""

    def test_none_is_in_errors_records_facts_files_or_logs(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        logging.getLogger("urllib3").setLevel(logging.INFO)  # what a person asks urllib3 to tell is theirs
        with standin(
            tmp_path / "server", flags=["--header", "X-Api-Key: key-0815"], prefix="/comfy"
        ) as server:
            plain = server.url.replace("http://", "http://me:hunter2@") + "/?token=tok-4711"
            rig = Rig(server, tmp_path / "client")
            rig.connect(plain, headers={"X-Api-Key": "key-0815"})
            film = rig.make("one")
            server.fault("post-500")
            server.fault("node-error")
            with pytest.raises(RenderFailed) as caught:
                rig.make("two", seed=2)
        requests_ = server.requests()
        assert {line["query"].get("token") for line in requests_} == {"tok-4711"}
        assert {line["headers"].get("authorization") for line in requests_} == {"Basic bWU6aHVudGVyMg=="}
        kept = [str(caught.value), caught.value.hint, repr(rig.made), caplog.text]
        kept += ["".join(traceback.format_exception(caught.value))]
        kept += [path.read_text() for path in (tmp_path / "client" / "records").iterdir()]
        kept += [film.read_bytes().decode("latin-1")]
        for secret in (*SECRETS, "bWU6aHVudGVyMg"):
            assert not [text for text in kept if secret in text]

    def test_a_server_that_is_away_is_named_without_them(self) -> None:
        plain = f"http://me:{SECRETS[0]}@127.0.0.1:9/?token={SECRETS[1]}"  # as a traceback shows this line
        with pytest.raises(Unreachable) as caught:
            transport(plain).ask("GET", "/queue")
        whole = "".join(traceback.format_exception(caught.value)) + caught.value.hint
        assert "http://127.0.0.1:9/queue" in whole
        assert not [word for word in SECRETS if word in whole]


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make a certificate")
class TestHttps:
    @pytest.fixture
    def pems(self, tmp_path: Path) -> tuple[Path, Path]:
        key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
        argv = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key),
                "-out", str(certificate), "-days", "2", "-subj", "/CN=localhost",
                "-addext", "subjectAltName=IP:127.0.0.1"]  # fmt: skip
        subprocess.run(argv, check=True, capture_output=True)
        return certificate, key

    def test_a_film_comes_over_https_with_a_prefix(self, tmp_path: Path, pems: tuple[Path, Path]) -> None:
        with standin(tmp_path / "server", certificate=pems, prefix="/comfy") as server:
            rig = Rig(server, tmp_path / "client", QUICK)
            rig.connect(server.url, authority=pems[0])
            assert frames_of(rig.make("one")) == 22
            assert rig.heard_over_socket()
            with pytest.raises(Refused, match="certificate is not trusted") as caught:
                transport(server.url).ask("GET", "/queue")
        assert "PEM" in caught.value.hint


def test_every_call_has_its_time_outs(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def request(self: requests.Session, *args: Any, **kwargs: Any) -> Any:
        seen.append(kwargs)
        raise foreign.ConnectionError

    monkeypatch.setattr(requests.Session, "request", request)
    found = transport("http://host")
    calls: list[Callable[[], Any]] = [
        lambda: found.ask("GET", "/x"),
        lambda: found.ask("POST", "/x", body={}),
        lambda: found.ask("POST", "/x", file=("a", b"b", {})),
        lambda: found.fetch("/view", query={}).__enter__(),
    ]
    for call in calls:
        with pytest.raises(Unreachable):
            call()
    assert [kwargs["timeout"] for kwargs in seen] == [(0.3, 0.3)] * 4
    assert not [kwargs for kwargs in seen if kwargs["allow_redirects"]]
