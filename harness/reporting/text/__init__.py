"""Write a run as text: for terminals, Markdown, JUnit, CSV, and coding agents."""
