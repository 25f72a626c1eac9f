"""Write the emulated cassettes of the bundled scenarios, as `harness cassettes` does.

    python -m scripts.emulated_cassettes [PATH...]

Cassettes name this file as their source.
"""

from harness.cli.cassettes import cassettes_command

if __name__ == "__main__":
    cassettes_command()
