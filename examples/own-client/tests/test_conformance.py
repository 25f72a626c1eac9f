from harness import conformance_suite

test_conformance = conformance_suite("own-client")
