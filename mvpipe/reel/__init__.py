"""From takes to the film: conform, assemble, mux, prove."""
