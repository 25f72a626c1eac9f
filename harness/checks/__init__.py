"""The checks of `harness doctor` and `harness lint`, and the kill table."""
