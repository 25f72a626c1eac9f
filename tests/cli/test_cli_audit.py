"""`harness audit`: says where a secret is and of what kind, and never what it is."""

import json
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from harness.cli.audit import audit_command
from harness.errors import UsageError
from harness.recording.secrets import second_net
from harness.wire.cassette import Cassette, Origin
from harness.wire.cassette_file import save_cassette
from harness.wire.interaction import Interaction, Read, Request

BODY = b'data: {"t": "sk-aB3dE6gH9"}\n\ndata: {"t": "jK2mN5pQ8sT"}\n\n'
CLEAN = Interaction(Request(), 200, (), b"data: {}\n\n", (Read(10),))


def audit(*paths: Path, form: str = "pretty") -> tuple[int, str]:
    result = CliRunner().invoke(
        audit_command,
        [*map(str, paths), "--format", form],
        catch_exceptions=False,
        standalone_mode=False,
    )
    return result.return_value, result.stdout


def saved(folder: Path, **changes: object) -> Path:
    interaction = msgspec.structs.replace(CLEAN, **changes)
    save_cassette(Cassette("a", (interaction,), Origin("recorded")), folder / "a.yaml")
    return folder


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"body": BODY, "reads": (Read(len(BODY)),)},
            "response body: key of 20 characters at byte",
        ),
        ({"request": Request(body=b"carol@corp.io")}, "request body: e-mail address"),
        ({"request": Request(uri="http://h/?u=carol%40corp.io")}, "the address: e-mail address"),
        ({"request": Request(headers=(("x", "/home/carol/x"),))}, "header x: home folder"),
        ({"headers": (("set-cookie", "a=b"),)}, "header set-cookie"),
    ],
)
def test_audit_prints_location_and_kind_of_a_secret(
    changes: dict[str, object], told: str, tmp_path: Path
) -> None:
    code, output = audit(saved(tmp_path, **changes))
    assert code == 1
    assert told in output
    assert "1 cassette, 1 with secrets" in output
    for secret in ("aB3dE", "carol"):
        assert secret not in output
    assert list(json.loads(audit(tmp_path, form="json")[1])["found"]) == [str(tmp_path / "a.yaml")]


def test_audit_passes_a_clean_cassette(tmp_path: Path) -> None:
    assert audit(saved(tmp_path)) == (0, "1 cassette, 0 with secrets\n")


def test_audit_fails_when_a_file_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("interactions: 1")
    code, output = audit(tmp_path)
    assert code == 1
    assert "cannot be read" in output
    with pytest.raises(UsageError):
        audit(tmp_path / "none")


def test_audit_uses_detect_secrets_if_it_is_installed(tmp_path: Path) -> None:
    pytest.importorskip("detect_secrets")
    word = "q7Zx81aB3dE6gH9jK2mN5pWvUt4"
    for changes in (
        {"request": Request(uri=f"http://h/a.{word}")},
        {"headers": (("server", word),)},
        {"request": Request(body=f"an AKC{word}".encode())},
    ):
        code, output = audit(saved(tmp_path, **changes))
        assert code == 1
        assert "according to detect-secrets" in output
        assert word not in output


def test_audit_says_if_detect_secrets_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(second_net, "is_installed", lambda: False)
    result = CliRunner().invoke(audit_command, [str(saved(tmp_path))], standalone_mode=False)
    assert result.return_value == 0
    assert "pip install 'toolcall-harness[audit]'" in result.stderr
