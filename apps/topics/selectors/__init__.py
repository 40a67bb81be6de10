"""Reads: which topic a name means, and what stands in its log."""
