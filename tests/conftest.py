"""The fixture world shared by all tests; builders are in tests/factories.py."""
