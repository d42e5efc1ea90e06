from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.errors import ModelUnreachable, ParameterError
from talekeeper.models import Request
from talekeeper.models.client import Client
from talekeeper.models.http import Means
from talekeeper.models.urls import BaseUrl, named_network, network_of, read_base_url
from talekeeper.testing import ScriptedServer, raw, say

MakeClient = Callable[..., Client]


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://api.example/v1", BaseUrl("https", "api.example", 443, "/v1")),
        ("HTTPS://API.Example./v1/", BaseUrl("https", "api.example", 443, "/v1")),
        ("http://127.0.0.1:11434/v1", BaseUrl("http", "127.0.0.1", 11434, "/v1")),
        ("http://[::1]:8080", BaseUrl("http", "::1", 8080, "")),
        ("http://my_box:80/a/b", BaseUrl("http", "my_box", 80, "/a/b")),
    ],
)
def test_a_base_url_is_read(text: str, url: BaseUrl) -> None:
    assert read_base_url(text, "base_url") == url


def test_a_base_url_is_written_as_short_as_it_can_be() -> None:
    written = [str(read_base_url(text, "base_url")) for text in ("http://h:80/v1/", "https://[::1]:80")]

    assert written == ["http://h/v1", "https://[::1]:80"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "api.example/v1",
        "//api.example/v1",
        "file:///etc/passwd",
        "ftp://api.example",
        "gopher://127.0.0.1:6379/_x",
        "javascript:alert(1)",
        "http+unix://%2Fvar%2Frun/v1",
        "https://api.example/v1\r\nX-Evil: 1",
        "https://api.example/v1\n",
        " https://api.example",
        "https://api.example/\tv1",
        "https://api.example\\@evil.example/",
        "https://user:hunter2hunter2@api.example/v1",
        "https://api.example@evil.example",
        "https://api.example/v1?key=hunter2hunter2",
        "https://api.example/v1#x",
        "https://api.example/../v1",
        "https://api.example/%2e%2e/v1",
        "https://api.example:0/v1",
        "https://api.example:99999/v1",
        "https://api.example:port/v1",
        "https://",
        "https://:443/v1",
        "https://bücher.example/v1",
        "https://a..b/v1",
        "https://-a.example/v1",
        "https://[::1",
        "https://[fe80::1%25eth0]/v1",
        "https://[v1.x]/v1",
        "http://2130706433/v1",
        "http://0x7f000001/v1",
        "http://0x7f.1/v1",
        "http://127.1/v1",
        "http://0177.0.0.1/v1",
        "http://127.0.0.1./v1",
        "http://1.2.3.4.5/v1",
        "http://evil.example.0x/v1",
        "https://a\0b/v1",
        "https://" + "a" * 3000,
    ],
)
def test_an_odd_base_url_is_refused_without_being_shown(text: str) -> None:
    with pytest.raises(ParameterError) as caught:
        read_base_url(text, "base_url")

    assert str(caught.value).startswith("base_url: ")
    assert "hunter2" not in str(caught.value)


@given(st.text(max_size=40) | st.text("ab01x.:[]/@-_%#?\\ é\n", max_size=25))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        url = read_base_url("https://" + text, "base_url")
    except ParameterError:
        return

    assert read_base_url(str(url), "base_url") == url
    assert str(url).isascii()
    assert httpx.URL(str(url)).host == url.host.lower()


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("8.8.8.8", "public"),
        ("2606:4700::1111", "public"),
        ("127.0.0.1", "loopback"),
        ("127.255.255.254", "loopback"),
        ("::1", "loopback"),
        ("10.1.2.3", "private"),
        ("172.16.0.1", "private"),
        ("192.168.1.1", "private"),
        ("100.64.0.1", "private"),
        ("fd00::1", "private"),
        ("169.254.169.254", "link-local"),
        ("fe80::1", "link-local"),
        ("0.0.0.0", None),  # noqa: S104 -- an address to refuse, not to listen at
        ("::", None),
        ("224.0.0.1", None),
        ("ff02::1", None),
        ("255.255.255.255", None),
        ("240.0.0.1", None),
        ("192.0.2.1", None),
        ("2001:db8::1", None),
        ("fec0::1", None),
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:169.254.169.254", "link-local"),
        ("::127.0.0.1", "loopback"),
        ("64:ff9b::7f00:1", "loopback"),
        ("64:ff9b::a00:1", "private"),
        ("64:ff9b::808:808", "public"),
        ("64:ff9b:1::7f00:1", None),
        ("2002:7f00:1::", "loopback"),
        ("2001:0:808:808::80ff:fffe", "loopback"),
    ],
)
def test_an_address_has_one_network(address: str, network: str | None) -> None:
    assert network_of(address) == network


@pytest.mark.parametrize(
    ("host", "network"),
    [
        ("localhost", "loopback"),
        ("127.0.0.1", "loopback"),
        ("::1", "loopback"),
        ("192.168.1.9", "private"),
        ("8.8.8.8", "public"),
        ("169.254.169.254", "public"),
        ("0.0.0.0", "public"),  # noqa: S104 -- an address to refuse, not to listen at
        ("localhost.evil.example", "public"),
        ("2130706433", "public"),
        ("127.1", "public"),
    ],
)
def test_writing_a_host_says_which_network_is_meant(host: str, network: str) -> None:
    assert named_network(host) == network


@pytest.mark.parametrize(
    ("network", "addresses", "kind"),
    [
        ("public", ["127.0.0.1"], "loopback"),
        ("public", ["8.8.8.8", "127.0.0.1"], "loopback"),
        ("public", ["169.254.169.254"], "link-local"),
        ("public", ["::ffff:10.0.0.1"], "private"),
        ("public", ["0.0.0.0"], "unusable"),  # noqa: S104 -- an address to refuse, not to listen at
        ("loopback", ["10.0.0.1"], "private"),
        ("private", ["127.0.0.1"], "loopback"),
        ("loopback", ["8.8.8.8"], "public"),
    ],
)
def test_a_name_with_an_address_outside_its_network_is_not_connected_to(
    make_client: MakeClient, question: Request, network: str, addresses: list[str], kind: str
) -> None:
    with ScriptedServer([say("x")]) as server:
        url = BaseUrl("http", "models.example", server.port, "/v1")
        client = make_client(url, network=network, means=Means(resolve=lambda _host, _port: addresses))
        with pytest.raises(ModelUnreachable, match=f"models.example has the {kind} address") as caught:
            client.complete(question)

    assert server.requests == []
    assert ("network =" in str(caught.value)) == (kind != "unusable")


@pytest.mark.parametrize(
    "host", ["2130706433", "127.1", "0x7f000001", "::ffff:127.0.0.1", "::ffff:7f00:1", "localhost"]
)
def test_other_ways_to_write_this_machine_are_seen_through(
    make_client: MakeClient, question: Request, host: str
) -> None:
    with ScriptedServer([say("x")]) as server:
        url = BaseUrl("http", host, server.port, "/v1")
        with pytest.raises(ModelUnreachable, match=r"loopback|Invalid"):
            make_client(url, network="public", retries=0).complete(question)

    assert server.requests == []


def test_a_name_is_resolved_once_and_the_checked_address_connected_to(
    make_client: MakeClient, question: Request
) -> None:
    asked: list[str] = []

    def rebinding(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["169.254.169.254"]

    with ScriptedServer([say("x")]) as server:
        url = BaseUrl("http", "models.example", server.port, "/v1")
        make_client(url, means=Means(resolve=rebinding)).complete(question)

    assert asked == ["models.example"]
    assert server.requests[0].headers["host"] == f"models.example:{server.port}"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(make_client: MakeClient, question: Request, status: int) -> None:
    with ScriptedServer([say("secret")]) as other:
        step = raw("", "text/html", status=status, location=f"{other.base_url}/chat/completions")
        with ScriptedServer([step]) as server, pytest.raises(ModelUnreachable, match="redirect"):
            make_client(server, key=None).complete(question)

    assert other.requests == []
    assert len(server.requests) == 1


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
def test_a_proxy_in_the_environment_is_not_used(
    make_client: MakeClient, question: Request, monkeypatch: Any, variable: str
) -> None:
    with ScriptedServer([say("direct")]) as server, ScriptedServer([say("by proxy")]) as proxy:
        monkeypatch.setenv(variable, f"http://127.0.0.1:{proxy.port}")
        reply = make_client(server).complete(question)

    assert reply.text == "direct"
    assert proxy.requests == []
