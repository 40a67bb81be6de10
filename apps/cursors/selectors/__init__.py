"""Reads: places in a topic, and what consumer groups find there."""

from apps.cursors.selectors.places import Bounds, Place, bounds, positions

__all__ = ["Bounds", "Place", "bounds", "positions"]
