"""Prepare the server process that forks the workers. No other process imports this module.

The server adopts the processes that a client started and left when its worker process ended, so
that the harness can find and kill them. See `harness.workers.descendants`.
"""

import warnings

from harness.workers.descendants import adopt_orphans

# The server expects the ends of workers only.
warnings.filterwarnings("ignore", "forkserver: waitpid returned unexpected pid")
adopt_orphans()
