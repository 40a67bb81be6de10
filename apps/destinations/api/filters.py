"""Which destinations, and which dead letters, a list shows."""

from typing import ClassVar

from django.db.models import QuerySet
from django_filters import CharFilter, ChoiceFilter, FilterSet

from apps.destinations.models import Destination, Type
from apps.destinations.selectors.cause import STATES
from apps.destinations.selectors.standing import in_state
from apps.leases.models import DeadLetter, Death


class DestinationFilter(FilterSet):
    name = CharFilter(label="Only the destination of this name.")
    type = ChoiceFilter(choices=Type.choices, label="Destinations of this type.")
    topic = CharFilter(field_name="topic__name", label="Destinations of the topic of this name.")
    state = ChoiceFilter(choices=[(state, state) for state in STATES], method="of_state", label="In this state now.")

    class Meta:
        model = Destination
        fields: ClassVar[list[str]] = ["name", "type", "topic", "state"]

    def of_state(self, rows: QuerySet[Destination], name: str, state: str) -> QuerySet[Destination]:
        return in_state(rows, state)[0]


class DeadLetterFilter(FilterSet):
    state = ChoiceFilter(choices=Death.choices, label="Only those given up, or only those handed out again.")
    fingerprint = CharFilter(label="Those whose error differs in numbers and ids only.")

    class Meta:
        model = DeadLetter
        fields: ClassVar[list[str]] = ["state", "fingerprint"]
