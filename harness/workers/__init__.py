"""Run third-party code in worker processes, with limits, on this machine or on a cluster."""
