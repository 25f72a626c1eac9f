"""What several drivers share; a script contains the source of what its driver imports."""
