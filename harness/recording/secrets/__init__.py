"""Find secrets in bytes with one table of detectors, and replace them.

Recording, importing and auditing use only this table. A secret is also found if it is escaped, or
if a stream splits it over its events.
"""
