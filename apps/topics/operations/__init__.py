"""Changes to topics and their logs."""
