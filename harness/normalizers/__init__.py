"""Clients under test (normalizers): they turn the bytes of one interaction into deltas."""
