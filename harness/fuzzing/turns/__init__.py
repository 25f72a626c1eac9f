"""Generated and mutated turns: the inputs for normalizers."""
