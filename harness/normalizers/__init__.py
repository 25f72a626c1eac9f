"""Define clients under test (normalizers), which turn the bytes of one response into deltas."""
