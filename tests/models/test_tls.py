from __future__ import annotations

import shutil
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from talekeeper.errors import ModelUnreachable
from talekeeper.models import Request
from talekeeper.models.client import Client
from talekeeper.models.http import Means
from talekeeper.models.urls import BaseUrl
from talekeeper.testing import ScriptedServer, say

MakeClient = Callable[..., Client]
NAME = "models.example"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for `models.example` and its key, made here so that no key lies in the tree."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("the openssl command makes the certificate")
    folder = tmp_path_factory.mktemp("tls")
    command = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem"), "-days", "2"]
    command += ["-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}"]
    subprocess.run(command, check=True, capture_output=True)
    return folder


def _means(certificate: Path) -> Means:
    trusted = ssl.create_default_context(cafile=str(certificate / "cert.pem"))
    return Means(resolve=lambda _host, _port: ["127.0.0.1"], tls=trusted)


def _server_side(certificate: Path, asked: list[str]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    context.sni_callback = lambda _socket, name, _context: asked.append(name)
    return context


def test_the_handshake_is_for_the_name_though_the_address_is_connected_to(
    make_client: MakeClient, question: Request, certificate: Path
) -> None:
    asked: list[str] = []
    script = [say("In private. " * 2000)]

    with ScriptedServer(script, tls=_server_side(certificate, asked)) as server:
        url = BaseUrl("https", NAME, server.port, "/v1")
        reply = make_client(url, means=_means(certificate)).complete(question)

    assert reply.text == "In private. " * 2000
    assert asked == [NAME]
    assert server.requests[0].headers["host"] == f"{NAME}:{server.port}"


@pytest.mark.parametrize(
    ("host", "trusted", "told"), [("other.example", True, "match|mismatch"), (NAME, False, "self.signed")]
)
def test_a_certificate_that_does_not_fit_ends_the_call(
    make_client: MakeClient, question: Request, certificate: Path, host: str, trusted: bool, told: str
) -> None:
    server = ScriptedServer([say("x")], tls=_server_side(certificate, []))
    means = _means(certificate) if trusted else Means(resolve=lambda _host, _port: ["127.0.0.1"])

    with server, pytest.raises(ModelUnreachable, match=told):
        make_client(BaseUrl("https", host, server.port, "/v1"), means=means, retries=0).complete(question)

    assert server.requests == []


def test_an_endpoint_that_speaks_no_tls_is_unreachable(make_client: MakeClient, question: Request) -> None:
    means = Means(resolve=lambda _host, _port: ["127.0.0.1"])

    with ScriptedServer([say("x")]) as server, pytest.raises(ModelUnreachable, match="no connection"):
        make_client(BaseUrl("https", NAME, server.port, "/v1"), means=means, retries=0).complete(question)

    assert server.requests == []
