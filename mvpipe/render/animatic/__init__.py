"""The embedded backend: storyboard cards with a drawn face that sings, on any CPU."""
