"""Generate and mutate turns, which are the inputs with which the fuzzer searches normalizers."""
