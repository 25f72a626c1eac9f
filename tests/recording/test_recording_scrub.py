"""Scrubbing: no credential survives it, nothing else is lost, twice is once."""

from hypothesis import example, given
from hypothesis import strategies as st

from harness.recording.secrets.credentials import (
    is_secret_name,
    scrub_address,
    scrub_headers,
    unscrubbed_parts,
)
from harness.recording.secrets.scrubber import clean_text
from harness.wire.interaction import Interaction, Request
from tests.tables import each_row

SECRET = [
    "Authorization",
    "Proxy-Authorization",
    "cf-aig-authorization",
    "Cookie",
    "Set-Cookie",
    "X-API-Key",
    "api-key",
    "Api_Key",
    "apikey",
    "xi-api-key",
    "x-goog-api-key",
    "Ocp-Apim-Subscription-Key",
    "X-Auth-Token",
    "authToken",
    "access_token",
    "X-Amz-Security-Token",
    "X-Amz-Signature",
    "X-Amz-Credential",
    "sig",
    "signature",
    "key",
    "token",
    "client_secret",
    "password",
    "CF-Access-Client-Secret",
    "OpenAI-Organization",
    "openai-project",
    "x-auth",
    "anthropic-organization-id",
    "chatgpt-account-id",
    "x-goog-user-project",
]
HARMLESS = [
    "Content-Type",
    "Date",
    "x-request-id",
    "x-ratelimit-remaining-tokens",
    "anthropic-ratelimit-tokens-limit",
    "openai-processing-ms",
    "alt",
    "api-version",
    "max_tokens",
    "Idempotency-Key",
    "author",
    "signed-at",
    "",
]
OPENAI = "https://api.openai.com/v1/chat/completions"


@each_row("name", SECRET)
def test_a_secret_name_is_known_however_it_is_spelled(name: str) -> None:
    spellings = (name, name.lower(), name.upper(), name.replace("-", "_"))
    assert all(map(is_secret_name, spellings))


@each_row("name", HARMLESS)
def test_other_names_stay(name: str) -> None:
    assert not is_secret_name(name)
    assert scrub_headers(((name, "v"),)) == ((name, "v"),)


@each_row(
    ("uri", "scrubbed"),
    [
        (OPENAI, OPENAI),
        ("https://user:hunter2@h/p?api-key=S", "https://h/p?api-key=REDACTED"),
        ("https://a@b:c@h/p", "https://h/p"),
        ("//user:pw@h/p", "//h/p"),
        ("user:pw@h/p", "h/p"),
        ("https://h/p?alt=sse&KEY=S&q=a@b", "https://h/p?alt=sse&KEY=REDACTED&q=a@b"),
        ("https://h/@scope/p", "https://h/@scope/p"),
        ("https://h/p?api%2Dkey=S;sig=S=", "https://h/p?api%2Dkey=REDACTED;sig=REDACTED"),
        ("https://h/p?auth[token]=S#access_token=S", None),
        ("https://h/p?token=", "https://h/p?token="),
        ("https://[h/p?token=S", "https://[h/p?token=REDACTED"),
    ],
)
def test_an_address(uri: str, scrubbed: str | None) -> None:
    wanted = scrubbed or "https://h/p?auth[token]=REDACTED#access_token=REDACTED"
    assert scrub_address(uri) == wanted


@given(st.text(alphabet="ab:/@?#&;=%key\n", max_size=40))
@example("a@//b@c")
@example("a@b://c@d")
@example("a&key=/?&%:@")
def test_what_is_scrubbed_stays_as_it_is(uri: str) -> None:
    assert scrub_address(scrub_address(uri)) == scrub_address(uri)


@given(
    user=st.text(alphabet="abc:%@!", max_size=8),
    name=st.sampled_from(SECRET),
    rest=st.text(alphabet="xyz=?/", max_size=8),
)
def test_no_credential_survives_in_an_address(user: str, name: str, rest: str) -> None:
    found = scrub_address(f"https://HUNTER2{user}@host/p?a=1&{name}=HUNTER2{rest}&b=2")
    assert found == f"https://host/p?a=1&{name}=REDACTED&b=2"


def test_what_leaks_is_told_and_what_is_scrubbed_does_not() -> None:
    redirect = ("Location", "https://h/?sig=S")
    request = Request(uri="https://u:p@h/", headers=(("Cookie", "s"), ("api-key", "REDACTED")))
    open_ = Interaction(request, 200, (redirect,), b"", ())
    told = ("header Cookie", "header Location", "the address contains a credential")
    assert unscrubbed_parts(open_) == told
    request = Request(uri=scrub_address(request.uri), headers=scrub_headers(request.headers))
    assert unscrubbed_parts(Interaction(request, 200, scrub_headers((redirect,)), b"", ())) == ()


@each_row(
    ("name", "value", "scrubbed"),
    [
        ("x-original-url", "/p?key=S", "/p?key=REDACTED"),
        ("x-envoy-original-path", "/p?key=S T", "/p?key=REDACTED"),
        ("X-Request-URL", "https://u:S@h/p", "https://h/p"),
        ("x-made-up", "/p?a=1&api_key=S", "/p?a=1&api_key=REDACTED"),
        ("x-made-up", "//u:S@h/", "//h/"),
        ("Link", "<https://h/?sig=S>; rel=next", "<https://h/?sig=REDACTED; rel=next"),
        ("Link", "<https://u:S@h/>,<https://u:S@i/>", "<https://h/>,<https://i/>"),
        ("User-Agent", "Bot/1 (+https://h/; a@h)", "Bot/1 (+https://h/; a@h)"),
    ],
)
def test_an_address_in_any_header_is_scrubbed(name: str, value: str, scrubbed: str) -> None:
    assert scrub_headers(((name, value),)) == ((name, scrubbed),)
    told = (f"header {name}",) if value != scrubbed else ()
    assert (
        unscrubbed_parts(Interaction(Request(headers=((name, value),)), 200, (), b"", ())) == told
    )
    assert (
        unscrubbed_parts(Interaction(Request(headers=((name, scrubbed),)), 200, (), b"", ())) == ()
    )


def test_pseudo_headers_go() -> None:
    given = ((":path", "/p?key=S"), (":authority", "h"))
    assert scrub_headers(given) == ()
    assert "header :path" in unscrubbed_parts(Interaction(Request(), 200, given, b"", ()))


@given(st.text(alphabet="ab:/@?#&;=%key, <>\n", max_size=40))
def test_headers_that_are_scrubbed_stay_as_they_are(value: str) -> None:
    once = scrub_headers((("x-made-up", value),))
    assert scrub_headers(once) == once


@given(st.text(st.characters(), max_size=20))
@example("\ud83d half a pair")
@example(b"caf\xe9".decode("utf-8", "surrogateescape"))
def test_a_text_without_secrets_does_not_change(text: str) -> None:
    assert clean_text(text, "the model", ()) == text


def test_half_a_pair_hides_no_secret() -> None:
    key = "sk-proj-" + "aB3dE6gH9jK2mN5pQ8sT" * 2
    assert key not in clean_text(f"\ud83d {key}", "the model", ())
