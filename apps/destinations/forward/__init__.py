"""The internal workers behind destinations that push: what a durable consumer's own process does, done here."""
