"""The wire contract of each API: what its streams must have, as data, and the judge of it."""
