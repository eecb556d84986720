"""What is known of a machine before the night, and of a failure after it."""
