"""Find and replace secrets in bytes: one table of detectors, views of a body, and replacement.

Recording, importing and auditing use only this table. A secret is also found if it is escaped, or
if a stream splits it over its events.
"""
