"""A picture of the report of a real run, for README.md. Needs a chromium on the PATH.

python -m scripts.report_screenshot docs/report.png
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

_SIZE: Final = "1040,580"
_RUN: Final = ("run", "-n", "naive", "-n", "reference", "--cuts", "quick", "-o", ".")
_HARNESS: Final = "from harness.cli import main; main()"


def main(picture: Path) -> None:
    """Run the bundled scenarios, and write a picture of the first page of the report.

    Raises:
        FileNotFoundError: no chromium is on the PATH.
    """
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        raise FileNotFoundError("chromium")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-c", _HARNESS, *_RUN], cwd=folder, check=False)
        options = ("--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size={_SIZE}")
        taken = Path(folder, "page.png")
        page = Path(folder, "index.html").as_uri()
        take = [browser, *options, f"--screenshot={taken}", page]
        subprocess.run(take, check=True, stderr=subprocess.DEVNULL)
        shutil.copyfile(taken, picture)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
