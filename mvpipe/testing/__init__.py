"""Servers that behave like the real ones, for tests and rehearsals; nothing else of mvpipe needs them."""
