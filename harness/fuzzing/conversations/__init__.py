"""Generate conversations, which are the inputs with which the fuzzer searches agents."""
