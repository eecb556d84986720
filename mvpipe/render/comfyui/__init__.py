"""Takes from MiniMax H3 on a ComfyUI server: graphs from templates, checked, sent, listened to, fetched."""
