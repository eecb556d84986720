"""A song and a storyboard become a finished, proved music video."""

__version__ = "0.1.0"
