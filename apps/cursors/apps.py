from django.apps import AppConfig


class CursorsConfig(AppConfig):
    name = "apps.cursors"
    label = "cursors"
