"""Rows as commands read them: tables, and the examples of a stream, batch by batch."""
