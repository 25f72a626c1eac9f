"""Define the mutators: each changes an interaction into one that a provider might have sent."""
