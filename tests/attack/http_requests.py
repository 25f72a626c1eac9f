"""Requests for the attack on the servers: malformed, valid but unusual, and changed at random."""

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

Header = tuple[bytes, bytes]

# The path of stream `n` begins with this and its number.
PATH = b"/s"
BODY = b'{"a":1}'
_LARGE = 70_000


@dataclass(frozen=True)
class Sent:
    """A request line, header lines and a body, to be changed and joined."""

    method: bytes
    target: bytes
    headers: tuple[Header, ...]
    body: bytes = b""
    version: bytes = b"HTTP/1.1"

    def with_header(self, random: Random, name: bytes, value: bytes) -> "Sent":
        """Return the request with a header at a random place."""
        at = random.randint(0, len(self.headers))
        return replace(self, headers=(*self.headers[:at], (name, value), *self.headers[at:]))

    def without(self, name: bytes) -> "Sent":
        """Return the request without the headers called `name`."""
        kept = tuple(each for each in self.headers if each[0].lower() != name)
        return replace(self, headers=kept)

    @property
    def lines(self) -> list[bytes]:
        """The request line and the header lines."""
        first = self.method + b" " + self.target + b" " + self.version
        return [first, *(name + b": " + value for name, value in self.headers)]

    def joined(self) -> bytes:
        """Return the bytes of the request."""
        return head(self.lines) + self.body


def head(lines: Sequence[bytes]) -> bytes:
    """Return the head of a request."""
    return b"\r\n".join([*lines, b"", b""])


def plain(random: Random, host: bytes, stream: int) -> Sent:
    """Return a valid request for a stream."""
    target = b"%b%d/v1/chat/completions" % (PATH, stream)
    headers: tuple[Header, ...] = ((b"Host", host), (b"Accept", b"*/*"))
    if random.random() < 0.3:
        return Sent(b"GET", target, headers)
    return Sent(b"POST", target, (*headers, (b"Content-Length", b"%d" % len(BODY))), BODY)


def chunked(random: Random, request: Sent) -> Sent:
    """Return the request with a body in valid chunks."""
    body, rest = b"", BODY
    while rest:
        size = random.randint(1, len(rest))
        extension = random.choice([b"", b"", b";a", b";a=b", b';a="b c"'])
        body += b"%x%b\r\n%b\r\n" % (size, extension, rest[:size])
        rest = rest[size:]
    end = random.choice(
        [b"0\r\n\r\n", b"000\r\n\r\n", b"0;a\r\n\r\n", b"0\r\nX-Trailer: a\r\n\r\n"]
    )
    coding = random.choice([b"chunked", b"Chunked", b"CHUNKED"])
    request = replace(request, method=b"POST", body=body + end).without(b"content-length")
    return request.with_header(random, b"Transfer-Encoding", coding)


def _any_line(random: Random, request: Sent, change: Callable[[bytes], bytes]) -> bytes:
    """Return the request with one of its header lines changed."""
    if random.random() < 0.5:
        request = chunked(random, request)
    lines = request.lines
    at = random.randint(1, len(lines) - 1)
    lines[at] = change(lines[at])
    return head(lines) + request.body


def _space_before_colon(random: Random, request: Sent) -> bytes:
    space = random.choice([b" ", b"\t", b"  ", b"\x0b", b"\xa0"])
    return _any_line(random, request, lambda line: line.replace(b":", space + b":", 1))


def _folded(random: Random, request: Sent) -> bytes:
    space = random.choice([b" ", b"\t", b"  \t"])
    fold = random.choice([b"\r\n", b"\n"]) + space
    where = random.choice([b": ", b""])
    if where:
        return _any_line(random, request, lambda line: line.replace(where, b":" + fold, 1))
    return _any_line(
        random, request, lambda line: line + fold + random.choice([b"", b"x", b"a: b"])
    )


def _folded_at_the_start(random: Random, request: Sent) -> bytes:
    lines = request.lines
    space = random.choice([b" ", b"\t"])
    return head([lines[0], space + b"x: y", *lines[1:]]) + request.body


def _bare_cr(random: Random, request: Sent) -> bytes:
    text = random.choice([b"\r", b"\rContent-Length: 3", b"\r\r", b"x\ry", b"\r\rHost: a"])
    return _any_line(random, request, lambda line: line + text)


def _bare_cr_in_name(random: Random, request: Sent) -> bytes:
    return _any_line(random, request, lambda line: line[:1] + b"\r" + line[1:])


def _bare_lf(random: Random, request: Sent) -> bytes:
    lines = request.lines
    at = random.randint(0, len(lines) - 2)
    joined = b"\n".join([lines[at], lines[at + 1]])
    return head([*lines[:at], joined, *lines[at + 2 :]]) + request.body


def _bad_length(random: Random, request: Sent) -> bytes:
    values = [
        b"-1",
        b"+7",
        b"0x7",
        b"7.0",
        b"7 7",
        b"",
        b"1e1",
        b"7;",
        b"7_0",
        b"\xd9\xa7",
        b"7" * 30,
        b"7, 8",
        b"7,8",
        b"33554433",
        b"99999999999999999999",
        b"\x0b7",
        b"'7'",
        b"7\x00",
    ]
    value = random.choice(values)
    request = request.without(b"content-length")
    return replace(request.with_header(random, b"Content-Length", value), body=BODY).joined()


def _conflicting_lengths(random: Random, request: Sent) -> bytes:
    request = replace(request.without(b"content-length"), body=BODY)
    for value in random.sample([b"7", b"8", b"0", b"007", b"57"], 2):
        request = request.with_header(
            random, random.choice([b"Content-Length", b"content-length"]), value
        )
    return request.joined()


def _length_and_coding(random: Random, request: Sent) -> bytes:
    request = chunked(random, request)
    value = random.choice([b"0", b"7", b"3", b"%d" % len(request.body)])
    return request.with_header(random, b"Content-Length", value).joined()


def _bad_coding(random: Random, request: Sent) -> bytes:
    values = [
        b"xchunked",
        b"chunked, chunked",
        b"gzip, chunked",
        b"identity",
        b"chunked;q=1",
        b'"chunked"',
        b"\x0bchunked",
        b"",
        b"chunked,",
        b"chunked gzip",
        b"x",
        b"identity, chunked",
        b"chun\xffked",
    ]
    request = chunked(random, request).without(b"transfer-encoding")
    return request.with_header(random, b"Transfer-Encoding", random.choice(values)).joined()


def _two_codings(random: Random, request: Sent) -> bytes:
    other = random.choice([b"chunked", b"identity", b"x"])
    return chunked(random, request).with_header(random, b"transfer-encoding", other).joined()


def _coding_in_1_0(random: Random, request: Sent) -> bytes:
    return replace(chunked(random, request), version=b"HTTP/1.0").joined()


def _bad_chunks(random: Random, request: Sent) -> bytes:
    bodies = [
        b"-1\r\n7\r\n0\r\n\r\n",
        b"0x2\r\n{}\r\n0\r\n\r\n",
        b"2 ;a\r\n{}\r\n0\r\n\r\n",
        b"g\r\n{}\r\n0\r\n\r\n",
        b"\r\n{}\r\n0\r\n\r\n",
        b"2\n{}\n0\n\n",
        b"2\r\n{}x\r\n0\r\n\r\n",
        b"2\r\n{}\n0\r\n\r\n",
        b"2\r\n{}",
        b"2\r\n{}\r\n",
        b"2\r\n{}\r\n0\r\n",
        b"1" * 21 + b"\r\n{}\r\n0\r\n\r\n",
        b"2\r{}\r0\r\r",
        b" 2\r\n{}\r\n0\r\n\r\n",
        b"2;a\nb\r\n{}\r\n0\r\n\r\n",
        b"2\r\n{}\r\n0\r\nbad trailer\r\n\r\n",
        b"2\r\n{}\r\n0\r\nA : b\r\n\r\n",
        b"fffffff\r\n{}\r\n0\r\n\r\n",
        b"",
        b"2;" + b"x" * _LARGE * 2,
        b"0\r\n" + b"a: b\r\n" * _LARGE,
    ]
    return replace(chunked(random, request), body=random.choice(bodies)).joined()


def _bad_host(random: Random, request: Sent) -> bytes:
    host = request.headers[0][1]
    values = [
        b"evil.example",
        b"127.0.0.1.evil.example",
        host + b"@evil.example",
        b"localhost:x",
        b"127.0.0.1:80:80",
        b"",
        b"evil.example:80",
        host + b"/",
        b"0.0.0.0",
        b"127.1",
        b"[::1]",
        b"localhost.evil.example",
        b"127.0.0.1, evil.example",
        b"local\xa0host",
    ]
    return request.without(b"host").with_header(random, b"Host", random.choice(values)).joined()


def _host_missing_or_twice(random: Random, request: Sent) -> bytes:
    if random.random() < 0.5:
        return request.without(b"host").joined()
    return request.with_header(
        random, b"host", random.choice([b"localhost", b"evil.example"])
    ).joined()


def _foreign_page(random: Random, request: Sent) -> bytes:
    host = request.headers[0][1]
    origins = [
        b"http://evil.example",
        b"null",
        b"https://" + host,
        b"http://" + host + b".evil.example",
        b"http://127.0.0.1:1",
        b"http://localhost",
        b"file://",
        b"http://" + host + b"/",
        b"",
        b"chrome-extension://a",
        b"http://" + host + b", http://evil.example",
        b"evil.example",
    ]
    sites = [b"cross-site", b"same-site", b"x", b"", b"none, cross-site"]
    name = random.choice([b"Origin", b"ORIGIN", b"Sec-Fetch-Site"])
    value = random.choice(sites if name == b"Sec-Fetch-Site" else origins)
    return request.with_header(random, name, value).joined()


def _bad_request_line(random: Random, request: Sent) -> bytes:
    method, target = request.method, request.target
    values = [
        b"%b  %b HTTP/1.1",
        b"%b %b  HTTP/1.1",
        b"%b\t%b HTTP/1.1",
        b"%b %b",
        b"%b %b http/1.1",
        b"%b %b HTTP/2.0",
        b"%b %b HTTP/1.10",
        b"%b %b HTTP/1.1 ",
        b" %b %b HTTP/1.1",
        b"%b %b HTTP/1",
        b"%b %b#a HTTP/1.1",
        b"%b %b a HTTP/1.1",
        b"%b %b\xe9 HTTP/1.1",
        b"%b %b\x01 HTTP/1.1",
        b"%b *%b HTTP/1.1",
        b"%b x%b HTTP/1.1",
        b"%b ftp://127.0.0.1%b HTTP/1.1",
        b"%b%b HTTP/1.1",
        b"%b http://evil.example%b HTTP/1.1",
        b"%b %b HTTP/0.9",
        b"\x16\x03%b%b HTTP/1.1",
        b"\x00%b %b",
    ]
    return head([random.choice(values) % (method, target), *request.lines[1:]]) + request.body


def _bad_method(random: Random, request: Sent) -> bytes:
    method = random.choice(
        [b"get", b"CONNECT", b"TRACE", b"BREW", b"PO(ST", b"", b"P\xd6ST", b"PRI"]
    )
    return replace(request, method=method).joined()


def _bad_header(random: Random, request: Sent) -> bytes:
    lines = [
        b"no colon",
        b": no name",
        b"(a): b",
        "é: b".encode(),
        b"a\x00: b",
        b"a: b\x00c",
        b"a b: c",
        b"a[]: b",
        b"\x7fa: b",
        b"a: \x0bb",
        b'"a": b',
        b"a: b\x0c",
        b"a{}: b",
        b"a: " + b"b" * _LARGE,
    ]
    name = random.choice(lines)
    first, *rest = request.lines
    rest.insert(random.randint(0, len(rest)), name)
    return head([first, *rest]) + request.body


def _too_large(random: Random, request: Sent) -> bytes:
    if random.random() < 0.5:
        return replace(request, target=request.target + b"?" + b"x" * _LARGE).joined()
    for _ in range(_LARGE // 50):
        request = replace(request, headers=(*request.headers, (b"X-Name", b"v" * 50)))
    return request.joined()


def _cut_short(random: Random, request: Sent) -> bytes:
    sent = request.joined()
    return sent[: random.randint(1, len(sent) - 1)]


def _outside(random: Random, request: Sent) -> bytes:
    rest = request.target
    targets = [
        b"/..",
        b"//evil.example",
        b"/%2e%2e",
        b"/a/../..",
        b"/.%2e",
        b"/%252e%252e",
        b"\\..",
        b"/\\evil",
        b"/..%2f..",
        b"/a\\..\\..",
        b"/..;a=b",
        b"/%5c..",
        b"/..%00",
        b"/%2f%2fevil",
        b"/..%09",
        b"/%25252e%25252e",
        b"/a/%2e./.%2E",
        b"http://127.0.0.1",
        b"http://evil.example",
        b"/..%5c",
    ]
    return replace(request, target=random.choice(targets) + rest).joined()


REFUSED: tuple[Callable[[Random, Sent], bytes], ...] = (
    _space_before_colon,
    _folded,
    _folded_at_the_start,
    _bare_cr,
    _bare_cr_in_name,
    _bare_lf,
    _bad_length,
    _conflicting_lengths,
    _length_and_coding,
    _bad_coding,
    _two_codings,
    _coding_in_1_0,
    _bad_chunks,
    _bad_host,
    _host_missing_or_twice,
    _foreign_page,
    _bad_request_line,
    _bad_method,
    _bad_header,
    _too_large,
    _cut_short,
)
# Refused by the proxy; other servers forward nothing.
REFUSED_BY_PROXY = (*REFUSED, _outside, _outside, _outside)
# A request of these that is followed by another one is another request, or is complete then.
ENDS_EARLY = (_cut_short, _bad_chunks)


def unusual(random: Random, request: Sent) -> Sent:
    """Return a valid request that is written in an unusual way."""
    host = request.headers[0][1]
    if random.random() < 0.4:
        request = chunked(random, request)
    elif request.body and random.random() < 0.3:
        request = request.with_header(random, b"content-length", b"%d" % len(BODY))
    more: list[Header] = [
        (b"X-Empty", b""),
        (b"X-Space", b"\t a \t b \t"),
        (b"X-Text", b"\xe9\xff"),
        (b"x", b"y" * 9_000),
        (b"Origin", b"http://" + host),
        (b"Sec-Fetch-Site", b"same-origin"),
        (b"X!#$%&'*+-.^_`|~", b":"),
        (b"Upgrade", b"h2c"),
        (b"Connection", b"keep-alive"),
        (b"Content-Encoding", b"x"),
        (b"TE", b"a"),
        (b"Expect", b"100-continue"),
        (b"X-Forwarded-Host", b"evil.example"),
        (b"Accept", b"a,, b"),
    ]
    for name, value in random.sample(more, random.randint(0, 4)):
        request = request.with_header(random, name, value)
    cased = tuple(
        (random.choice([name, name.lower(), name.upper()]), value)
        for name, value in request.headers
    )
    return replace(request, headers=cased)


def changed(random: Random, sent: bytes) -> bytes:
    """Return the bytes with a few of them changed at random."""
    special = b"\r\n \t:;,\x00\x0b\xff/.%\\#0123456789-+x" + string.ascii_letters.encode()[:4]
    for _ in range(random.randint(1, 4)):
        at = random.randint(0, len(sent) - 1)
        width = random.choice([0, 0, 1, 1, 2, 7])
        text = bytes(random.choices(special, k=random.choice([0, 1, 1, 2])))
        sent = (sent[:at] + text + sent[at + width :]) or b"x"
    return sent
