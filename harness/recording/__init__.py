"""The world -> wire: recordings of others, and what they are recordings of."""
