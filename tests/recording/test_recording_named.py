"""A secret is found by the name before it, however a text assigns it; ordinary texts stay."""

from harness.recording.secrets.scan import secrets_in, without_secrets
from tests.tables import each_row

PASSWORD = "Rw7pKq2xVt9z"  # noqa: S105 - a made-up one
TOKEN = "h7Kq2mXw9Lp4Zr8Vt3Yd6Bn1"  # noqa: S105 - a made-up one
LETTERS = "qWfRtYzKpLmNvBxCgHjD"

# Text with `*` -> the secret there.
ASSIGNED = {
    "a member": ('{"smtp_password": "*"}', PASSWORD),
    "a variable": ("export DB_PASSWORD=*", PASSWORD),
    "a numbered variable": ("SERVICE_TOKEN_2='*'", TOKEN),
    "a camel-case name": ("const x = { clientSecret: '*' }", TOKEN),
    "a base": ("secret_key_base: *", TOKEN),
    "a hash of Ruby": (':api_key => "*"', TOKEN),
    "an item": ("x-api-key:\n    - *\n", TOKEN),
    "a pair of headers": ('[["X-Vault-Token", "*"]]', TOKEN),
    "a pair of names": ('{"name": "DB_PASSWORD", "value": "*"}', PASSWORD),
    "a pair of telemetry": ('{"key":"x-api-key","value":{"stringValue":"*"}}', TOKEN),
    "an item of a container": ("- name: API_TOKEN\n  value: *\n", TOKEN),
    "an attribute": ('<add key="ApiKey" value="*"/>', TOKEN),
    "an element": ("<dbPassword>*</dbPassword>", PASSWORD),
    "a list of properties": ("<key>Password</key>\n<string>*</string>", PASSWORD),
    "a call": ('builder.password("*")', PASSWORD),
    "a list": ('{"api_keys": ["none", "*"]}', TOKEN),
    "an object": ('{"api_key": {"kind": "a", "value": "*"}}', TOKEN),
    "a sentence": ("the password for the test host is *", PASSWORD),
    "another language": ("Пароль: *", PASSWORD),
    "a wide colon": ("密码：*", PASSWORD),
    "a prompt": ("AWS Secret Access Key [None]: *", TOKEN),
    "an unknown scheme": ("Authorization: Token *", TOKEN),
    "letters only": ("password: *", LETTERS),
    "digits only": ('"password": "*"', "8473625190"),
    "curl, quoted": ("curl -u 'bob:* and more' https://corp.io", PASSWORD),
    "curl, escaped": ('{"cmd": "curl -u \\"bob:*\\" https://corp.io"}', PASSWORD),
    "curl, a key as the user": ("curl -u *: https://corp.io", TOKEN),
    "a data source": ("app:*@tcp(10.2.0.4:3306)/orders", PASSWORD),
    "a file of passwords": ("db.corp.io:5432:orders:app:*\n", PASSWORD),
    "a file of cookies": ("corp.io\tTRUE\t/\tTRUE\t1790000000\tsid\t*\n", TOKEN),
    "a piped password": ("echo '*' | sudo -S id", PASSWORD),
    "a folder of an agent": ("~/.claude/projects/-Users-*-work/1.jsonl", "marchetti"),
}
ORDINARY = (
    "The password is required. The token is invalid.",
    '{"required": ["api_key", "secret"], "password": {"type": "string", "minLength": 12}}',
    '{"token": " the", "logprob": -0.03, "bytes": [32, 116]}',
    "cache-key: linux-node-8f3a5c7e9b1d2f4a6c8e",
    '{"next_page_token": "CAUQAAh7Kq2mXw9Lp4Zr8"}',
    "password = config.database.password2",
    "authorization: required",
    '{"session": "3a0a8d38-9883-4303-83ab-87c869928491"}',
    "token = getToken(request1)",
    "password: InvalidPasswordError",
    "AWS4-HMAC-SHA256 is the algorithm; Authorization: AWS4-HMAC-SHA256",
    "パスワードは12文字以上で入力してください。",
    "curl -u $USER:$PASSWORD https://corp.io",
)


@each_row(("name", "planted"), ASSIGNED.items())
def test_a_named_secret_is_replaced(name: str, planted: tuple[str, str]) -> None:  # noqa: ARG001
    text, secret = planted[0].replace("*", planted[1]), planted[1]
    clean = without_secrets(text.encode(), "here")
    assert secret.encode() not in clean
    assert len(clean) == len(text.encode())
    assert not secrets_in(clean)


@each_row("text", ORDINARY)
def test_an_ordinary_text_stays(text: str) -> None:
    assert secrets_in(text.encode()) == ()


def test_a_known_prefix_stays() -> None:
    assert without_secrets(b"api_key: sk-aB3dE6gH9jK2mN5pQ8sT", "here").startswith(b"api_key: sk-x")
