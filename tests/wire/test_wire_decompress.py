"""A compressed body becomes the body, within the limit; any other stays as it is."""

import gzip
import zlib
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UnreadableError
from harness.wire import decompress as module
from harness.wire.decompress import (
    decode_body,
    decode_body_if_possible,
    decompress,
    encoding_of,
    why_encoded,
)
from tests.tables import each_row

STREAM = 'data: {"id": "é"}\n\ndata: [DONE]\n\n'.encode()


def brotli(body: bytes) -> bytes:
    package = pytest.importorskip("brotli", reason="the extra `compressed` is not installed")
    return bytes(package.compress(body))


def zstd(body: bytes) -> bytes:
    package = pytest.importorskip("zstandard", reason="the extra `compressed` is not installed")
    return bytes(package.ZstdCompressor().compress(body))


def raw_deflate(body: bytes) -> bytes:
    return zlib.compress(body, wbits=-15)


CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "br": brotli,
    "zstd": zstd,
}


@pytest.mark.parametrize("coding", CODINGS)
@given(body=st.binary(min_size=1, max_size=300) | st.text(min_size=1, max_size=80).map(str.encode))
def test_each_coding_comes_off(coding: str, body: bytes) -> None:
    assert decompress(CODINGS[coding](body * 9), coding.upper(), "x") == body * 9


@each_row("coding", CODINGS)
def test_a_body_larger_than_the_pieces_of_a_decoder_is_complete(coding: str) -> None:
    body = bytes(3_000_000)
    assert decompress(CODINGS[coding](body), coding, "x") == body


def test_a_truncated_body_in_brotli_gives_all_that_was_decoded() -> None:
    body = Random(1).randbytes(200_000)  # noqa: S311 - bytes that do not compress
    compressed = brotli(body)
    assert decompress(compressed[:-1], "br", "x") == body


@pytest.mark.parametrize("compress", [zlib.compress, raw_deflate])
def test_deflate_comes_off_with_and_without_its_wrapper(compress: Callable[[bytes], bytes]) -> None:
    assert decompress(compress(STREAM * 9), " Deflate ", "x") == STREAM * 9


def test_codings_come_off_in_the_order_in_which_they_were_put_on() -> None:
    both = gzip.compress(brotli(STREAM * 9))
    assert decompress(both, "br, gzip", "x") == STREAM * 9


@each_row("coding", [*CODINGS, "deflate", "identity", "compress", ""])
def test_a_body_that_was_decoded_already_stays_and_its_header_goes(coding: str) -> None:
    headers = (("Content-Encoding", coding), ("content-length", "3"), ("a", "b"))
    body, left = decode_body(STREAM, headers, "x")
    assert (body, encoding_of(left), left[-1]) == (STREAM, "", ("a", "b"))
    assert why_encoded(STREAM, headers) == ""


@given(st.binary(max_size=60), st.sampled_from([*CODINGS, "deflate", "", "x"]))
def test_no_bytes_do_more_than_be_refused(body: bytes, coding: str) -> None:
    headers = (("content-encoding", coding),)
    kept, left = decode_body_if_possible(body, headers)
    if why_encoded(body, headers):
        assert (kept, left) == (body, headers)


def test_a_coding_that_nobody_knows_stays_with_its_header() -> None:
    headers = (("content-encoding", "compress"),)
    assert decode_body(b"\x1f\x9d\x90", headers, "x") == (b"\x1f\x9d\x90", headers)
    assert why_encoded(b"\x1f\x9d\x90", headers) == "content encoding compress is not read"


@pytest.mark.parametrize("coding", CODINGS)
def test_a_bomb_is_refused_in_each_coding(coding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BODY_BYTES", 1000)
    bomb = CODINGS[coding](b"0" * 1001)
    with pytest.raises(UnreadableError, match="when expanded"):
        decompress(bomb, coding, "x")
    assert decompress(CODINGS[coding](b"0" * 1000), coding, "x") == b"0" * 1000


@pytest.mark.parametrize(
    ("coding", "body"), [("br", b"\xff\x00\xff"), ("zstd", b"\x28\xb5\x2f\xfd" + b"\xff" * 20)]
)
def test_damaged_bytes_are_refused(coding: str, body: bytes) -> None:
    CODINGS[coding](b"")
    with pytest.raises(UnreadableError, match="damaged"):
        decompress(body, coding, "x")


@pytest.mark.parametrize(("coding", "package"), [("br", "brotli"), ("zstd", "zstandard")])
def test_an_absent_package_is_named_with_the_extra(
    coding: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = CODINGS[coding](STREAM * 9)

    def absent(name: str) -> Any:  # noqa: ANN401 - a module
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(module, "import_module", absent)
    with pytest.raises(UnreadableError, match=f"needs the package {package}") as caught:
        decompress(body, coding, "x")
    assert "toolcall-harness[compressed]" in caught.value.hint
    headers = (("content-encoding", coding),)
    assert decode_body_if_possible(body, headers) == (body, headers)
    assert package in why_encoded(body, headers)
