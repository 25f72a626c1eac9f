"""Secrets to plant: their kinds, the places where traffic carries them, and how they are repeated.

Nothing here uses the code that removes secrets. `traces_in` looks for a secret in bytes in its own
way: as it is, through escapes, in pieces over events, and in base64 and hexadecimal.
"""

import base64
import gzip
import html
import json
import random
import re
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from harness.wire.interaction import Headers, Request

ADDRESS = "https://api.corp-llm.io/v1/chat/completions"
_ALNUM = string.ascii_letters + string.digits
_SIGNS = _ALNUM + "$&+/=!-_*"


def drawn(source: random.Random, letters: str, size: int) -> str:
    """Return `size` of `letters` and digits, with at least one digit and one letter."""
    last = next(letter for letter in letters if letter.isalpha())
    return "".join(source.choice(letters) for _ in range(size - 2)) + f"7{last}"


# Kind of credential -> its value. Only the place shows that it is one.
CREDENTIALS: dict[str, Callable[[random.Random], str]] = {
    "opaque": lambda source: drawn(source, _ALNUM, 40),
    "hexadecimal": lambda source: drawn(source, "0123456789abcdef", 32),
    "with signs": lambda source: "k" + drawn(source, _SIGNS, 22),
    "short": lambda source: drawn(source, _ALNUM, 6),
    "not ASCII": lambda source: f"päss{drawn(source, _ALNUM, 12)}",
    "with a prefix": lambda source: f"sk-{drawn(source, _ALNUM, 30)}",
}


@dataclass(frozen=True)
class Text:
    """A text with a secret in it.

    Fields:
        text: what is planted.
        secrets: the parts of it that must be gone.
    """

    text: str
    secrets: tuple[str, ...]


def _around(form: str, letters: str, size: int, start: str = "") -> Callable[[random.Random], Text]:
    def made(source: random.Random) -> Text:
        secret = start + drawn(source, letters, size)
        return Text(form.replace("*", secret), (secret,))

    return made


def _basic(source: random.Random) -> Text:
    secret = drawn(source, _ALNUM, 9)
    pair = base64.b64encode(f"bob:{secret}".encode()).decode()
    return Text(f"Authorization: Basic {pair}", (pair, secret))


def _docker(source: random.Random) -> Text:
    secret = drawn(source, _ALNUM, 12)
    pair = base64.b64encode(f"bob:{secret}".encode()).decode()
    return Text(f'{{"auths": {{"corp.io": {{"auth": "{pair}"}}}}}}', (pair, secret))


def _token(source: random.Random) -> Text:
    claims = base64.urlsafe_b64encode(json.dumps({"sub": drawn(source, _ALNUM, 9)}).encode())
    secret = f"{claims.decode().rstrip('=')}.{drawn(source, _ALNUM, 43)}"
    return Text(f"id eyJhbGciOiJIUzI1NiJ9.{secret} ok", tuple(secret.split(".")))


_HEX = "0123456789abcdef"
# Kind of text -> a text whose form alone shows the secret in it.
TEXTS: dict[str, Callable[[random.Random], Text]] = {
    "openai key": _around("key sk-proj-* ok", _ALNUM, 40),
    "anthropic key": _around("sk-ant-api03-*", _ALNUM, 60),
    "google key": _around("(AIzaSy*)", _ALNUM, 33),
    "aws key": _around("AKIA*", string.ascii_uppercase + string.digits, 16),
    "github token": _around("ghp_*", _ALNUM, 36),
    "slack token": _around("xoxb-*", _ALNUM, 40),
    "stripe key": _around("rk_live_*", _ALNUM, 24),
    "sendgrid key": _around("SG.Zx81aB3dE6gH9jK2mN5pQ8.*", _ALNUM, 43),
    "groq key": _around("gsk_*", _ALNUM, 40),
    "hugging face token": _around("hf_*", _ALNUM, 34),
    "telegram token": _around("110201543:AA*", _ALNUM, 33),
    "jwt": _token,
    "database address": _around("postgresql://app:*@db.corp.io:5432/x", _ALNUM, 18),
    "mongo address": _around("mongodb+srv://u:*@c0.corp.io/?w=1", _ALNUM, 12),
    "address with a password": _around("see https://bob:*@corp.io/a.git", _ALNUM, 10),
    "address with a token": _around("https://*@git.corp.io/a.git", _ALNUM, 32),
    "sas": _around("https://a.blob.corp.net/c?sv=2026&se=1&sig=*%3D", _ALNUM, 43),
    "aws signature": _around("https://b.s3.corp.com/k?X-Amz-Date=1&X-Amz-Signature=*", _HEX, 62),
    "aws security token": _around("https://b/k?X-Amz-Security-Token=*&a=1", _ALNUM, 80),
    "function key": _around("https://f.azurewebsites.net/api/x?code=*", _ALNUM, 40),
    "address with a key": _around("https://h/p?alt=sse&api_key=*", _ALNUM, 24),
    "slack webhook": _around("https://hooks.slack.com/services/T0A/B0C/*", _ALNUM, 24),
    "discord webhook": _around("https://discord.com/api/webhooks/1182/*", _ALNUM, 60),
    "other webhook": _around("https://chat.corp.io/hooks/*", string.ascii_lowercase, 26),
    "authorization line": _around("Authorization: Bearer *", _ALNUM, 12),
    "basic line": _basic,
    "password line": _around("DB_PASSWORD=*", _ALNUM, 12),
    "password in JSON": _around('{"user": "bob", "password": "*"}', _ALNUM, 12),
    "secret in JSON": _around('{"client_secret":"*"}', _ALNUM, 20),
    "storage account": _around("AccountName=a;AccountKey=*==;Suffix=x", _ALNUM, 86),
    "zhipu key": _around(f"key {'0a1b' * 8}.* ok", _ALNUM, 16),
    "voyage key": _around("pa-*", _ALNUM, 43),
    "google refresh token": _around("1//0*", _ALNUM, 60),
    "vercel key": _around("vck_*", _ALNUM, 48),
    "cloudflare key": _around(f"v1.0-{'0a1b' * 6}-*", _HEX, 146),
    "supabase key": _around("sb_secret_*", _ALNUM, 31),
    "notion key": _around("secret_*", _ALNUM, 43),
    "okta token": _around("SSWS *", _ALNUM, 40, "00"),
    "discord bot token": _around("M*.Gx1y2z.7Hd9sKq2LmX4pRt6VwYbNcZ1aQe", _ALNUM, 23),
    "docker login": _docker,
    "cookie line": _around("Cookie: sid=*; theme=dark", _ALNUM, 24),
    "set-cookie line": _around("set-cookie: session=*; Path=/", _ALNUM, 30),
    "curl": _around("curl -u bob:* https://corp.io", _ALNUM, 16),
    "token scheme": _around('Authorization: Token token="*"', _ALNUM, 20),
    "digest scheme": _around('Digest username="bob", realm="x", response="*"', _HEX, 32),
    "aws4 scheme": _around("AWS4-HMAC-SHA256 SignedHeaders=host, Signature=*", _HEX, 64),
    "pgp key": _around("-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n*\n-----END", _ALNUM, 64),
    "wsl folder": _around("cd /mnt/c/Users/*/src", string.ascii_lowercase, 12),
    "folder of another system": _around("/var/home/*/src", string.ascii_lowercase, 12),
    "long openai key": _around("sk-proj-*", _ALNUM, 156),
    "hubspot key": _around("pat-na1-*-0a1b-4c2d-8e3f-0123456789ab", _HEX, 8),
    "airtable key": _around("patZ9x8Y7w6V5u4T3.*", _HEX, 64),
    "terraform key": _around("Z9x8Y7w6V5u4T3.atlasv1.*", _ALNUM, 60),
    "private key": _around("-----BEGIN PRIVATE KEY-----\n*\n-----END PRIVATE KEY-----", _ALNUM, 64),
}

_CHAT = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hi"}]}


def _body(**more: object) -> bytes:
    return json.dumps({**_CHAT, **more}).encode()


def _post(*headers: tuple[str, str], uri: str = ADDRESS, body: bytes = b"") -> Request:
    kind = ("content-type", "application/json")
    return Request("POST", uri, (kind, *headers), body or _body())


def _pair(value: str) -> str:
    return base64.b64encode(f"bob:{value}".encode()).decode()


def _form(value: str) -> Request:
    body = f"grant=x&password={quote(value, safe='')}&scope=a".encode()
    return Request("POST", ADDRESS, (("content-type", "application/x-www-form-urlencoded"),), body)


def _compressed(value: str) -> Request:
    request = _post(("content-encoding", "gzip"))
    body = gzip.compress(_body(connection={"password": value}), mtime=0)
    return Request("POST", ADDRESS, request.headers, body)


def _multipart(value: str, name: str = '"password"') -> Request:
    part = f"Content-Disposition: form-data; name={name}"
    body = f"--b1\r\n{part}\r\n\r\n{value}\r\n--b1--\r\n".encode()
    return Request("POST", ADDRESS, (("content-type", "multipart/form-data; boundary=b1"),), body)


# A place of a request that only credentials have -> the request with a value there.
PLACES: dict[str, Callable[[str], Request]] = {
    "bearer": lambda value: _post(("Authorization", f"Bearer {value}")),
    "x-api-key": lambda value: _post(("X-API-Key", value)),
    "basic": lambda value: _post(("Authorization", f"Basic {_pair(value)}")),
    "cookie": lambda value: _post(("Cookie", f"theme=a; session={value}")),
    "user of the address": lambda value: _post(
        uri=ADDRESS.replace("//", f"//bob:{quote(value, safe='')}@")
    ),
    "key parameter": lambda value: _post(uri=f"{ADDRESS}?key={quote(value, safe='')}&alt=sse"),
    "code parameter": lambda value: _post(uri=f"{ADDRESS}?code={quote(value, safe='')}"),
    "sig parameter": lambda value: _post(uri=f"{ADDRESS}?sv=1&sig={quote(value, safe='')}"),
    "path": lambda value: _post(uri=ADDRESS.replace("/v1/", f"/v1/{value}/")),
    "tool headers": lambda value: _post(
        body=_body(
            tools=[{"type": "mcp", "server_url": "https://m", "headers": {"X-Api-Key": value}}]
        )
    ),
    "tool authorization": lambda value: _post(
        body=_body(tools=[{"type": "mcp", "server_label": "a", "authorization": value}])
    ),
    "mcp server": lambda value: _post(
        body=_body(mcp_servers=[{"type": "url", "authorization_token": value}])
    ),
    "data source": lambda value: _post(
        body=_body(
            data_sources=[{"parameters": {"authentication": {"type": "api_key", "key": value}}}]
        )
    ),
    "list of headers": lambda value: _post(
        body=_body(extra={"headers": [{"name": "Authorization", "value": f"Bearer {value}"}]})
    ),
    "password": lambda value: _post(body=_body(connection={"user": "bob", "password": value})),
    "secret": lambda value: _post(body=_body(webhook={"secret": value})),
    "token": lambda value: _post(body=_body(token=value)),
    "form": _form,
    "multipart": _multipart,
    "multipart without quotes": lambda value: _multipart(value, "password"),
    "token scheme": lambda value: _post(("Authorization", f'Token token="{value}"')),
    "digest scheme": lambda value: _post(
        ("Authorization", f'Digest username="bob", realm="x", response="{value}"')
    ),
    "compressed body": _compressed,
    "pass": lambda value: _post(body=_body(connection={"user": "bob", "pass": value})),
    "otp": lambda value: _post(body=_body(otp=value)),
    "session": lambda value: _post(body=_body(session=value)),
    "list of keys": lambda value: _post(body=_body(api_key=["none", value])),
    "object of a key": lambda value: _post(body=_body(api_key={"type": "a", "value": value})),
}


# Of the kinds of credentials, a path has these.
IN_PATHS = ("opaque", "hexadecimal", "with a prefix")


def _quoted(value: str) -> str:
    return "".join(f"%{code:02X}" for code in value.encode())


def _inside_base64(value: str) -> str:
    return base64.b64encode(f'{{"k": "{value}"}}'.encode()).decode()


# How a server repeats a credential.
REPEATS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "base64": lambda value: base64.b64encode(value.encode()).decode(),
    "base64 of addresses": lambda value: base64.urlsafe_b64encode(value.encode()).decode(),
    "inside base64": _inside_base64,
    "basic": _pair,
    "hexadecimal": lambda value: value.encode().hex(),
    "HEXADECIMAL": lambda value: value.encode().hex().upper(),
    "quoted": lambda value: quote(value, safe=""),
    "each byte quoted": _quoted,
    "quoted twice": lambda value: quote(quote(value, safe=""), safe=""),
    "HTML": html.escape,
}
# A short credential is only a word: it is not looked for in other encodings.
REPEATS_OF_SHORT = ("as it is", "quoted", "each byte quoted", "HTML")


def _in_pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def _events(pieces: list[str], *, ascii_only: bool = True) -> bytes:
    return b"".join(
        b"data: "
        + json.dumps(
            {"id": "c1", "model": "m", "choices": [{"index": 0, "delta": {"content": piece}}]},
            ensure_ascii=ascii_only,
        ).encode()
        + b"\n\n"
        for piece in pieces
    )


def _escaped(text: str) -> bytes:
    stream = _events(["*"])
    return stream.replace(b"*", "".join(f"\\u{ord(each):04x}" for each in text).encode())


def _arguments(text: str) -> bytes:
    given = json.dumps({"note": text})
    call = {"index": 0, "id": "c", "function": {"name": "f", "arguments": given}}
    return f"data: {json.dumps({'choices': [{'delta': {'tool_calls': [call]}}]})}\n\n".encode()


# How a stream carries a text.
STREAMS: dict[str, Callable[[str], bytes]] = {
    "one event": lambda text: _events([text]),
    "UTF-8": lambda text: _events([text], ascii_only=False),
    "pieces of 3": lambda text: _events(_in_pieces(text, 3)),
    "pieces of 11": lambda text: _events(_in_pieces(text, 11)),
    "escaped": _escaped,
    "arguments": _arguments,
    "error": lambda text: (
        f"data: {json.dumps({'error': {'message': f'bad: {text}'}})}\n\n".encode()
    ),
}
END = b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'


@dataclass(frozen=True)
class Plant:
    """One exchange with secrets in it.

    Fields:
        request: that a client sent.
        response: the body of the stream.
        secrets: none may be found in any file.
        headers: of the response.
    """

    request: Request
    response: bytes
    secrets: tuple[str, ...]
    headers: Headers = field(default=(("content-type", "text/event-stream"),))


# Looking for what is left

_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{8,}")
_HEXADECIMAL = re.compile(rb"(?:[0-9a-fA-F]{2}){4,}")
_PIECE = re.compile(rb'"(?:content|message|note|text)": ?"((?:[^"\\]|\\.)*)"')
_JSON_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_LEVELS = 3


def traces_in(data: bytes, secret: str) -> Iterator[str]:
    """Yield how `secret`, or one half of it, can be read in `data`."""
    shortest = 10
    size = len(secret)
    halves = (secret[: size // 2], secret[size // 2 :]) if size >= 2 * shortest else ()
    for name, text in _readings(data):
        if any(part in text for part in (secret, *halves)):
            yield name


def _readings(data: bytes) -> Iterator[tuple[str, str]]:
    text = data.decode("utf-8", "replace")
    yield from _levels("as it is", text)
    pieces = b"".join(_PIECE.findall(data)).decode("utf-8", "replace")
    yield from _levels("in pieces", pieces)
    for source in (data, pieces.encode()):
        for word in set(_BASE64.findall(source)):
            for start in range(4):
                yield "base64", _decoded(word[start:])
        for word in set(_HEXADECIMAL.findall(source)):
            yield "hexadecimal", bytes.fromhex(word.decode()).decode("utf-8", "replace")


def _levels(name: str, text: str) -> Iterator[tuple[str, str]]:
    for level in range(_LEVELS):
        yield name, text
        yield f"{name}, unquoted", unquote(unquote(text))
        yield f"{name}, HTML", html.unescape(text)
        text = _JSON_ESCAPE.sub(_character, text)
        name = f"{name}, unescaped" if not level else name


def _character(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else match[2]


def _decoded(word: bytes) -> str:
    size = len(word) - len(word) % 4
    return base64.b64decode(word[:size], b"-_" if b"-" in word or b"_" in word else None).decode(
        "utf-8", "replace"
    )
