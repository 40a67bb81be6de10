from uuid import uuid4

import pytest

from apps.access.models import ApiKey
from apps.access.scopes import Grant, Principal, as_regex, matches
from core.errors import Forbidden, NotFound


def holder(*grants):
    return Principal("api-key", uuid4(), "key", grants)


NAMES = ["orders", "Orders", "orders.v1", "ordersXv1", "orders/g1", "orders/x", "billing/g1", "job:42", "my-orders", "a_b"]
REACHED = [
    ("orders", {"orders", "orders/g1", "orders/x"}),
    ("orders.*", {"orders.v1"}),
    ("orders*", {"orders", "orders.v1", "ordersXv1", "orders/g1", "orders/x"}),
    ("orders/g*", {"orders/g1"}),
    ("orders/*", {"orders/g1", "orders/x"}),
    ("*/g1", {"orders/g1", "billing/g1"}),
    ("*orders", {"orders", "orders/g1", "orders/x", "my-orders"}),
    ("*", set(NAMES)),
    ("job:*", {"job:42"}),
    ("a_b", {"a_b"}),
    ("*x", set()),
]


@pytest.mark.parametrize(("pattern", "reached"), REACHED)
def test_a_pattern_reaches_exactly_these_names(pattern, reached):
    assert {name for name in NAMES if matches(pattern, name)} == reached


@pytest.mark.parametrize(("pattern", "reached"), REACHED)
@pytest.mark.django_db
def test_a_list_in_sql_shows_the_same_names(pattern, reached):
    ApiKey.objects.bulk_create(ApiKey(uid=uuid4(), name=n, prefix=n, digest=b"", grants=[]) for n in NAMES)
    principal = holder(Grant("read:events", (pattern,)))
    shown = ApiKey.objects.filter(principal.named("read:events")).values_list("name", flat=True)
    assert set(shown) == reached


def test_a_list_is_empty_without_the_scope_and_whole_without_patterns():
    principal = holder(Grant("read:events"), Grant("read:queues", ("a", "*")))
    assert principal.names("read:events") is None
    assert principal.names("read:queues") is None
    assert principal.names("read:channels") == "(?!)"


def test_several_patterns_and_several_grants_of_a_scope_add_up():
    principal = holder(Grant("read:events", ("a", "b")), Grant("read:events", ("c",)))
    assert [principal.allows("read:events", name) for name in "abcd"] == [True, True, True, False]
    assert holder(Grant("read:events", ("a",)), Grant("read:events")).allows("read:events", "z/g")


def test_a_lacking_scope_is_forbidden_and_a_name_outside_is_not_found():
    principal = holder(Grant("read:events", ("orders",)))
    with pytest.raises(Forbidden):
        principal.require("manage:events", "orders")
    with pytest.raises(NotFound):
        principal.require("read:events", "orders", "billing")
    principal.require("read:events", "orders", "orders/any")


@pytest.mark.parametrize(
    ("patterns", "template", "reached"),
    [
        (("job:*",), "job:{subject}", True),
        (("*",), "{subject}", True),
        (("jo*",), "job:{subject}", True),
        (("job:4*",), "job:{subject}", False),
        (("job:*x",), "job:{subject}x", False),
        (("job:",), "job:{subject}", False),
        (("job:*",), "{type}:{subject}", False),
        (("job:42",), "job:42", True),
        (("job:43",), "job:42", False),
        ((), "{type}", True),
    ],
)
def test_a_target_with_placeholders_needs_its_fixed_prefix(patterns, template, reached):
    principal = holder(Grant("write:channels", patterns))
    if reached:
        principal.require_target("write:channels", template)
    else:
        with pytest.raises(NotFound):
            principal.require_target("write:channels", template)
    with pytest.raises(Forbidden):
        principal.require_target("write:queues", template)


def test_the_regular_expression_escapes_what_names_may_hold():
    assert as_regex(["a.b-c:d_e"]) == r"^(?:a\.b-c:d_e(?:/.*)?)$"
