"""OpenAPI from what the code says anyway: msgspec structs, the view's `scopes`, its path; a view adds what only it knows.

    @extend_schema(
        operation_id="make_topic",
        request=MakeTopic,                              # a parse.Body struct, or {media type: struct or schema}
        parameters=query_of(BrowseQuery),               # a parse.Query struct: a parameter per field, with range and default
        responses={201: Topic, 409: problem("NAME_TAKEN")},     # Answer structs, page_of(Topic), list[Topic], dicts, None
        examples=[sent("A topic", {"name": "orders"}), answered("Made", {"name": "orders", …}, status=201)],
    )
    def post(self, request): …

By itself come: tag and description (the docstring of the method or the view) with the scope, security, path parameters,
the errors that every call may answer, and the queues' envelope around all of it. For the filters of a FilterSet:
parameters=filters_of(TopicFilter). A query or a body that is not described here is refused (access/api/permissions.py).
"""

import re
from collections.abc import Mapping
from typing import Any, get_args, get_origin

import msgspec
from django.conf import settings
from drf_spectacular.drainage import warn
from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent, build_parameter_type
from drf_spectacular.utils import Direction, OpenApiExample, OpenApiParameter, OpenApiResponse

from core.http import is_enveloped


class Answer(msgspec.Struct, rename="camel", kw_only=True):
    """Base of structs that describe answers. A field with a default may be missing."""


class ErrorBody(Answer):
    code: str
    message: str
    details: dict[str, Any]


class Problem(Answer):
    error: ErrorBody
    request_id: str


class EnvelopedProblem(Problem):
    code: int
    message: str
    data: None


NULL = {"type": "null"}
COMMON_PROBLEMS = {
    400: "Something in the request is malformed, misspelt, given twice or out of range.",
    401: "No valid token.",
    403: "The token lacks the scope.",
    404: "There is no such thing, or it is outside the token's patterns.",
    413: "The body is over the limit.",
    415: "Not the content type, or a Content-Encoding.",
    503: "Busy, unavailable or uncertain; try again after Retry-After.",
}


def problem(*codes: str, description: str = "") -> OpenApiResponse:
    """An error in the common shape, for one status and these codes."""
    return OpenApiResponse(Problem, description=description or ", ".join(codes))


def page_of(item: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """The struct of a list's answer."""
    fields = [("items", list[item]), ("nextCursor", str | None)]  # type: ignore[valid-type]
    return msgspec.defstruct(f"{item.__name__}Page", fields)


class AnyOf:
    """An answer of several forms: `{200: AnyOf(Claimed, Claims, None)}`; None: null."""

    def __init__(self, *forms: type[msgspec.Struct] | None) -> None:
        self.forms = forms


class AnyOfExtension(OpenApiSerializerExtension):
    target_class = "core.openapi.AnyOf"

    def get_name(self, auto_schema: AutoSchema, direction: str) -> str:
        return "Or".join(form.__name__ if form else "Nothing" for form in self.target.forms)

    def get_identity(self, auto_schema: AutoSchema, direction: str) -> str:
        return self.get_name(auto_schema, direction)

    def map_serializer(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        return {
            "anyOf": [auto_schema.resolve_serializer(form, direction).ref if form else NULL for form in self.target.forms]
        }


def sent(name: str, value: Any, media_type: str = "application/json") -> OpenApiExample:
    return OpenApiExample(name, value, request_only=True, media_type=media_type)


def answered(name: str, value: Any, status: int = 200) -> OpenApiExample:
    """Without the envelope, which is put around it where the path has one."""
    return OpenApiExample(name, value, response_only=True, status_codes=[str(status)])


class StructExtension(OpenApiSerializerExtension):
    """Teaches drf-spectacular to take a msgspec struct where it takes a serializer."""

    target_class = "msgspec.Struct"
    match_subclasses = True

    def get_name(self, auto_schema: AutoSchema, direction: str) -> str:
        return str(self.target.__name__)

    def get_identity(self, auto_schema: AutoSchema, direction: str) -> str:
        return str(self.target.__name__)

    def map_serializer(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        _, schemas = msgspec.json.schema_components([self.target], ref_template="#/components/schemas/{name}")
        own = _untitled(schemas.pop(self.target.__name__))
        for name, schema in schemas.items():
            self._register(auto_schema, name, _untitled(schema))
        return own

    def _register(self, auto_schema: AutoSchema, name: str, schema: dict[str, Any]) -> None:
        component = ResolvedComponent(name=name, type=ResolvedComponent.SCHEMA, object=name, schema=schema)
        if component not in auto_schema.registry:
            auto_schema.registry.register(component)
        elif auto_schema.registry[component].schema not in (None, schema):
            warn(f"Two structs are called {name}.")


def _untitled(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "title"}


class Schema(AutoSchema):
    """DRF's DEFAULT_SCHEMA_CLASS."""

    def get_operation_id(self) -> str:
        words = re.findall(r"\w+", self.path.removeprefix("/v1").replace("-", "_").replace("{", "by_"))
        return "_".join([self.method.lower(), *words])

    def get_tags(self) -> list[str]:
        first = self.path.removeprefix("/v1/").lstrip("/").split("/")[0]
        return [settings.API_SECTIONS.get(first, first)]

    def get_summary(self) -> str:
        return str(self.get_operation_id()).replace("_", " ").capitalize()

    def get_description(self) -> str:  # type: ignore[override]
        scopes = self._scopes()
        needed = f"Scope: {' or '.join(f'`{scope}`' for scope in scopes)}." if scopes else "No token is needed."
        return f"{super().get_description() or ''}\n\n{needed}".strip()

    def get_auth(self) -> list[dict[str, Any]]:
        scopes = self._scopes()
        return [{"bearer": []}, *({"oauth2": [scope]} for scope in scopes)] if scopes else [{}]

    def get_request_serializer(self) -> None:
        """A body is taken where @extend_schema says so."""

    def _scopes(self) -> tuple[str, ...]:
        scope = getattr(self.view, "scopes", {}).get(self.method, ())
        return (scope,) if isinstance(scope, str) else scope

    def _resolve_path_parameters(self, variables: list[str]) -> list[dict[str, Any]]:
        return [build_parameter_type(variable, self._path_schema(variable), location="path") for variable in variables]

    def _path_schema(self, variable: str) -> dict[str, Any]:
        if f"<number:{variable}>" in self.path_regex:
            return {"type": "integer", "minimum": 0}
        if f"<uuid:{variable}>" in self.path_regex:
            return {"type": "string", "format": "uuid"}
        return {"type": "string", "minLength": 1}

    def map_parsers(self) -> list[str]:
        return ["application/json"]

    def map_renderers(self, attribute: str) -> list[str]:
        return ["application/json"] if attribute == "media_type" else []

    def _is_list_view(self, serializer: Any = None) -> bool:
        return False

    def _get_request_for_media_type(self, serializer: Any, direction: Direction = "request") -> tuple[Any, bool]:
        if isinstance(serializer, type) and issubclass(serializer, msgspec.Struct):
            return self.resolve_serializer(serializer, direction).ref, True  # type: ignore[arg-type]
        schema, _ = super()._get_request_for_media_type(serializer, direction)
        return schema, schema is not None

    def _get_response_bodies(self, direction: Direction = "response") -> dict[str, Any]:
        named = super()._get_response_bodies(direction)
        has_body = self._get_request_body() is not None
        common = {
            str(status): self._get_response_for_code(OpenApiResponse(Problem, description=text), str(status))
            for status, text in COMMON_PROBLEMS.items()
            if (status not in (401, 403, 404) or self._scopes()) and (status not in (413, 415) or has_body)
        }
        return dict(sorted({**common, **named}.items()))

    def _get_response_for_code(
        self, serializer: Any, status_code: str, media_types: Any = None, direction: Direction = "response"
    ) -> dict[str, Any]:
        if get_origin(serializer) is list:
            items = self._get_response_for_code(get_args(serializer)[0], status_code, media_types, direction)
            return {**items, "content": {kind: _array(media) for kind, media in items["content"].items()}}
        found: dict[str, Any] = super()._get_response_for_code(serializer, status_code, media_types, direction)
        if not is_enveloped(self.path):
            return found
        if int(status_code) >= 400:
            ref = self.resolve_serializer(EnvelopedProblem, "response").ref  # type: ignore[arg-type]
            return {**found, "content": {"application/json": {"schema": ref}}}
        content = found.get("content", {"application/json": {"schema": NULL}})
        return {**found, "content": {kind: _enveloped(media) for kind, media in content.items()}}


def _array(media: Mapping[str, Any]) -> dict[str, Any]:
    return {**media, "schema": {"type": "array", "items": media["schema"]}}


def _enveloped(media: Mapping[str, Any]) -> dict[str, Any]:
    properties = {"code": {"const": 0}, "message": {"type": "string"}, "data": media["schema"]}
    wrapped: dict[str, Any] = {"schema": {"type": "object", "properties": properties, "required": list(properties)}}
    if "examples" in media:
        wrapped["examples"] = {
            name: {**example, "value": {"code": 0, "message": "ok", "data": example["value"]}}
            for name, example in media["examples"].items()
        }
    return wrapped


def query_of(shape: type[msgspec.Struct]) -> list[OpenApiParameter]:
    """The query parameters that a parse.Query struct stands for."""
    (_,), schemas = msgspec.json.schema_components([shape])
    schema = schemas[shape.__name__]
    return [
        OpenApiParameter(name, found, required=name in schema.get("required", ()), description=found.pop("description", ""))
        for name, found in schema["properties"].items()
    ]


def filters_of(filterset: Any) -> list[OpenApiParameter]:
    """The query parameters of a django-filter FilterSet."""
    return [
        OpenApiParameter(name, _filter_schema(found), description=str(found.label or ""))
        for name, found in filterset.base_filters.items()
    ]


_FILTER_SCHEMAS: dict[str, dict[str, Any]] = {
    "NumberFilter": {"type": "integer"},
    "BooleanFilter": {"type": "boolean"},
    "IsoDateTimeFilter": {"type": "string", "format": "date-time"},
    "UUIDFilter": {"type": "string", "format": "uuid"},
}


def _filter_schema(found: Any) -> dict[str, Any]:
    if "choices" in found.extra:
        return {"type": "string", "enum": [value for value, _ in found.extra["choices"]]}
    return _FILTER_SCHEMAS.get(type(found).__name__, {"type": "string", "minLength": 1})
