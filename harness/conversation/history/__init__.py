"""History: which parts of a turn the next request contains, in which form, and how many."""
