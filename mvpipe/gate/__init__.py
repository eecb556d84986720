"""What is measured on a take before it may enter the film."""
