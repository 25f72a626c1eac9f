"""Run the checks of `harness doctor` and `harness lint`, and make the kill table."""
