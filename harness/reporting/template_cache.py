"""Keep compiled templates where Python keeps the bytecode of modules.

To compile the templates of a report takes as long as to judge some hundred cells. As for modules,
the bytecode is used only if it was made from the same source, and a folder that cannot be written
to costs time only.
"""

import sys
from importlib.util import cache_from_source
from pathlib import Path

from jinja2.bccache import Bucket, BytecodeCache

from harness.files.write import write_file


class TemplateCache(BytecodeCache):
    """Stores the bytecode of each template in a file of `__pycache__`."""

    def get_cache_key(self, name: str, filename: str | None = None) -> str:  # noqa: ARG002 - of jinja2
        """Return the path of the bytecode of a template, or "" if the template has no file."""
        return cache_from_source(filename) if filename and Path(filename).is_file() else ""

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill `bucket` if its file was made from the same source by the same jinja2."""
        try:
            bucket.bytecode_from_string(Path(bucket.key).read_bytes())
        except OSError:  # not written yet
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Write the file of `bucket`, unless Python may write no bytecode."""
        if bucket.key and not sys.dont_write_bytecode:
            try:
                write_file(Path(bucket.key), bucket.bytecode_to_string())
            except OSError:
                return
