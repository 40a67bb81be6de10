from django.apps import AppConfig


class DestinationsConfig(AppConfig):
    name = "apps.destinations"
    label = "destinations"
