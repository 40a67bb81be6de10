from django.apps import AppConfig

from core import arrays


class TopicsConfig(AppConfig):
    name = "apps.topics"
    label = "topics"

    def ready(self) -> None:
        arrays.register()
