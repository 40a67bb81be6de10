"""CloudEvents 1.0 as this service takes and gives them."""
