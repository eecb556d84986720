"""The storyboard: read with positions, checked, and turned into what the pipeline uses."""
