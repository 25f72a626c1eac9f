"""Judge and compare complete runs: the gate, comparisons, rankings, statistics, the database."""
