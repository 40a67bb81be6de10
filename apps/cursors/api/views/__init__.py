"""The doors of consumer groups."""
