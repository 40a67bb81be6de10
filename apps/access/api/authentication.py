"""Bearer tokens of every kind through one class."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rest_framework.request import Request


class BearerAuthentication:
    def authenticate(self, request: "Request") -> None:
        return None

    def authenticate_header(self, request: "Request") -> str:
        return 'Bearer realm="towpath"'
