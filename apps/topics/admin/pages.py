"""The list of topics, and the page of one with its partitions and events."""

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from unfold.decorators import display
from unfold.views import ChangeList

from apps.topics.admin import events, publishing
from apps.topics.models import Repair, Sweep, Topic
from apps.topics.selectors.browsing import TopicNow, cold_now, topics_now
from core import words
from core.admin import LookedUpList, demand, may
from core.csv_file import CsvAdmin, batches


class TopicList(LookedUpList):
    def look_up(self, request: HttpRequest, rows: list[Any]) -> None:
        """Adds to the rows of this page how their partitions stand."""
        found = topics_now(row.pk for row in rows)
        for row in rows:
            row.now = found.get(row.pk)


@admin.register(Topic)
class TopicAdmin(CsvAdmin):
    list_display = ("name", "partitions", "records", "bytes", "rate", "last_append", "created")
    search_fields = ("name",)
    sortable_by = ("name", "partitions", "created")
    csv_titles = ("topic", "partitions", "hotRecords", "hotBytes", "appendsPerSecond", "lastAppend", "created")

    def csv_rows(self, request: HttpRequest, found: QuerySet[Topic]) -> Iterator[tuple[Any, ...]]:
        for some in batches(found):
            stand = topics_now(row.pk for row in some)
            for row in some:
                now = stand.get(row.pk, NOTHING)
                yield row.name, row.partitions, now.hot_records, now.hot_bytes, now.rate, now.last_at, row.created_at

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:  # type: ignore[override]
        return TopicList

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        event = "<int:number>/events/<int:partition>/<int:offset>/"
        return [
            path("<int:number>/events/csv/", view(self.file), name="topics_topic_events_csv"),
            path("<int:number>/publish/", view(self.publish), name="topics_topic_publish"),
            path(event, view(self.event), name="topics_topic_event"),
            path(f"{event}raw/", view(self.raw), name="topics_topic_event_raw"),
            *super().get_urls(),
        ]

    @display(description="hot records")
    def records(self, row: Topic) -> str:
        return words.count(_now(row).hot_records)

    @display(description="hot bytes")
    def bytes(self, row: Topic) -> str:
        return words.size(_now(row).hot_bytes)

    @display(description="append rate")
    def rate(self, row: Topic) -> str:
        return words.rate(_now(row).rate)

    @display(description="last append")
    def last_append(self, row: Topic) -> str:
        return words.ago(_now(row).last_at)

    @display(description="made", ordering="created_at")
    def created(self, row: Topic) -> str:
        return words.ago(row.created_at)

    def show(self, request: HttpRequest, row: Topic) -> HttpResponse:
        now = topics_now([row.pk]).get(row.pk, NOTHING)
        sweep = Sweep.objects.filter(topic_id=row.pk).first()
        repairs = Repair.objects.filter(topic_id=row.pk).order_by("-id")[:5]
        cold = cold_now(row.pk)
        kept = {"cold": cold, "is_cold": any(part.segments for part in cold), "sweep": sweep, "repairs": repairs}
        may_publish = may(request, publishing.PUBLISH)
        context = {"topic": row, "now": now, "may_publish": may_publish, **kept, **events.browse(request, row, now)}
        return self.page(request, "topics/topic.html", f"Topic {row.name}", context)

    def publish(self, request: HttpRequest, number: int) -> HttpResponse:
        back = reverse("admin:topics_topic_change", args=[number])
        return publishing.publish(request, get_object_or_404(Topic, pk=number), back)

    def file(self, request: HttpRequest, number: int) -> StreamingHttpResponse:
        topic = get_object_or_404(Topic, pk=number)
        return events.file(request, topic, topics_now([number]).get(number, NOTHING))

    def event(self, request: HttpRequest, number: int, partition: int, offset: int) -> HttpResponse:
        demand(request, self.view_permission)
        return events.show(request, get_object_or_404(Topic, pk=number), partition, offset)

    def raw(self, request: HttpRequest, number: int, partition: int, offset: int) -> HttpResponse:
        return events.raw(request, get_object_or_404(Topic, pk=number), partition, offset)


NOTHING = TopicNow(())


def _now(row: Topic) -> TopicNow:
    return row.__dict__["now"] or NOTHING
