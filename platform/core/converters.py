"""How numbers are written in paths."""

from django.urls.converters import IntConverter


class Number(IntConverter):
    """Without leading zeros, so that a thing has one address."""

    regex = "0|[1-9][0-9]{0,8}"
