"""Recordings of small models on this machine: what is asked, in which ways, of which servers."""
