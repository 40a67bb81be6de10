"""What has left the hot window: segments in an object store, readable at the same offsets."""
