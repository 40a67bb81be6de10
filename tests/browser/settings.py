"""The project's settings for a server beside the tests, which make their passwords quickly."""

from config.settings import *  # noqa: F403

# One that outlives the process, as an installation has it.
SECRET_KEY = "the same after a restart"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
