"""The doors of this app."""
