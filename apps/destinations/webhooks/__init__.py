"""Webhooks: what is sent, signed how, to which addresses, and what an answer means."""
