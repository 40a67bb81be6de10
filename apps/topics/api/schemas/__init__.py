"""What this app's endpoints take and answer."""
