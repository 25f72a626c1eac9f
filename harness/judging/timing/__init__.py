"""Timing scenarios: a server that pauses, breaks or refuses, and how a client must react."""
