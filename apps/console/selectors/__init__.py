"""Reads over several systems at once, for the pages that no single one owns."""
