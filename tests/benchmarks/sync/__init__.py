"""What the sync gate is measured on: made voices, made faces, and what was asked of each."""
