"""Lines that modules run while they are imported, for which no cell can be measured.

Reads names of modules and their files as JSON from standard input, and prints the lines of each
file. It imports nothing of the suite before it measures.
"""

import importlib
import json
import sys

from coverage import Coverage


def main() -> None:
    """Import the modules and print the lines."""
    files: dict[str, str] = json.load(sys.stdin)
    tracer = Coverage(data_file=None, include=list(files.values()))
    tracer.start()
    for name in files:
        importlib.import_module(name)
    tracer.stop()
    data = tracer.get_data()
    print(json.dumps({file: sorted(data.lines(file) or ()) for file in files.values()}))


if __name__ == "__main__":
    main()
