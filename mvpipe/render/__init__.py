"""From a shot to a take: slates, and the backends that make them."""
