"""The blocks of a page run as its comments say, and their outputs take the place of old ones."""

from pathlib import Path

import pytest

from scripts.doc_blocks import rendered

PAGE = """# A page

<!-- file: say.py -->
```python
print("old")
print("two")
```

<!-- replace: say.py 1-1 -->
```python
print("one")
```

<!-- run: exit 3, first 1, last 1 -->
```console
$ python say.py; echo three; echo four; exit 3
stale
```

```sh
exit 1
```
"""


def test_outputs_are_those_of_the_commands(tmp_path: Path) -> None:
    text = rendered(PAGE, tmp_path)
    assert "exit 3\none\n...\nfour\n```\n" in text
    assert (tmp_path / "say.py").read_text() == 'print("one")\nprint("two")\n'
    assert text == PAGE.replace("stale\n", "one\n...\nfour\n")
    assert rendered(text, tmp_path) == text


def test_another_exit_code_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="exit code 3"):
        rendered(PAGE.replace("exit 3, first", "first"), tmp_path)
