"""The only place that starts a process or opens a media container."""
