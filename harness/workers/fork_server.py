"""Imported by the server process that forks the workers, and by no other process.

It adopts what a client started and left when its worker process ended, so that these processes
can be found and killed. See `harness.workers.descendants`.
"""

import warnings

from harness.workers.descendants import adopt_orphans

# The server expects the ends of workers only.
warnings.filterwarnings("ignore", "forkserver: waitpid returned unexpected pid")
adopt_orphans()
