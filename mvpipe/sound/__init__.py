"""From a song to shots: read, separate, listen, cut."""
