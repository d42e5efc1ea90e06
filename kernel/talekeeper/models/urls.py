"""An endpoint's base URL, read strictly: what is odd about it is refused before anything is resolved."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import SplitResult, urlsplit

from talekeeper.errors import ParameterError

Network = Literal["public", "private", "loopback", "link-local"]
"""Where an endpoint's addresses may lie: every address its name resolves to must be of this kind."""

NETWORKS: tuple[Network, ...] = ("public", "private", "loopback", "link-local")

_LONGEST = 2048
# Printable ASCII without the characters that parsers of URLs disagree about (RFC 3986, appendix A).
_PLAIN = re.compile(r"[!$&'()*+,./0-9:;=@A-Z_a-z~\[\]%?#-]+")
_NAME = re.compile(r"(?=.{1,253}\Z)(?:[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?\.?)+")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.IGNORECASE)
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class BaseUrl:
    """`scheme://host[:port]/path` without a slash at its end; `/chat/completions` and the like are added to it."""

    scheme: Literal["http", "https"]
    host: str
    port: int
    path: str

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.path}"


def read_base_url(text: str, field: str) -> BaseUrl:
    """Reads a base URL; raises `ParameterError` naming `field`, without showing a password that stood in it.

    Refused: a scheme other than http and https, a user name or password, a query, a fragment, blanks, line breaks,
    control characters and backslashes, letters outside ASCII, a port out of range, dot segments in the path.
    """
    cure = "write it like https://host.example/v1"
    if not _PLAIN.fullmatch(text) or len(text) > _LONGEST:
        raise ParameterError(field, "holds a character that a URL cannot have", cure=cure)
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise ParameterError(field, "is no URL", cure=cure) from None
    if fault := _fault(parts, port):
        raise ParameterError(field, fault, cure=cure)
    scheme: Literal["http", "https"] = "https" if parts.scheme == "https" else "http"
    return BaseUrl(
        scheme, (parts.hostname or "").rstrip("."), _PORTS[scheme] if port is None else port, parts.path.rstrip("/")
    )


def _fault(parts: SplitResult, port: int | None) -> str:
    if parts.scheme not in _PORTS:
        return "begins with neither http:// nor https://"
    if "@" in parts.netloc:
        return "holds a user name or password"
    if parts.query or parts.fragment:
        return "has a query or a fragment"
    if port == 0:
        return "has port 0"
    if "%" in parts.path or any(part in {".", ".."} for part in parts.path.split("/")):
        return "has a path with dots or percent signs in it"
    return "" if _is_host(parts.netloc, parts.hostname or "") else "has no valid host name or address"


def _is_host(netloc: str, host: str) -> bool:
    """A name, an IPv4 address in its usual form, or an IPv6 address in brackets.

    Systems read a host that ends in a number as an address, in octal, hexadecimal and shortened forms as well
    (url.spec.whatwg.org, "ends in a number"); only the plain form is let through.
    """
    try:
        if netloc.startswith("["):
            return ipaddress.IPv6Address(host).scope_id is None
        if _NUMBER.fullmatch(host.rstrip(".").rpartition(".")[2]):
            return bool(ipaddress.IPv4Address(host))
    except ValueError:
        return False
    return _NAME.fullmatch(host) is not None


def named_network(host: str) -> Network:
    """The network that writing this host says by itself: loopback or private for such an address, else public.

    Link-local addresses, where clouds keep their metadata, are never meant by merely being written.
    """
    if host == "localhost":
        return "loopback"
    try:
        found = network_of(host)
    except ValueError:
        return "public"
    return "public" if found == "link-local" or found is None else found


def network_of(address: str) -> Network | None:
    """The kind of an address; None for one that is no host's (unspecified, multicast, reserved).

    An IPv4 address carried inside an IPv6 one (mapped, 6to4, Teredo, NAT64) counts as what it carries. Raises
    `ValueError` for text that is no address.
    """
    read = ipaddress.ip_address(address)
    if isinstance(read, ipaddress.IPv6Address):
        read = _carried(read)
    if read.is_unspecified or read.is_multicast or any(read in net for net in _UNUSABLE if net.version == read.version):
        return None
    if read.is_loopback:
        return "loopback"
    if read.is_link_local:
        return "link-local"
    if any(read in net for net in _PRIVATE if net.version == read.version):
        return "private"
    return "public" if read.is_global else None


# RFC 1918, the carriers' shared space (RFC 6598), unique local addresses (RFC 4193).
_PRIVATE = tuple(
    ipaddress.ip_network(net) for net in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
)
# Site-local addresses (RFC 3879) and a translator's own (RFC 8215), which older Pythons take for global.
_UNUSABLE = tuple(ipaddress.ip_network(net) for net in ("fec0::/10", "64:ff9b:1::/48"))
# RFC 6052, and RFC 4291's retired "compatible" addresses: the last 32 bits are an IPv4 address.
_IPV4_AT_END = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("::/96"))


def _carried(read: ipaddress.IPv6Address) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    if read.ipv4_mapped is not None:
        return read.ipv4_mapped
    if read.sixtofour is not None:
        return read.sixtofour
    if read.teredo is not None:
        return read.teredo[1]
    if any(read in net for net in _IPV4_AT_END) and not (read.is_loopback or read.is_unspecified):
        return ipaddress.IPv4Address(int(read) & 0xFFFFFFFF)
    return read
