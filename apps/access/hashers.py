"""How the secrets of OAuth clients are hashed."""

from django.contrib.auth.hashers import PBKDF2PasswordHasher


class RandomSecretHasher(PBKDF2PasswordHasher):
    """One round: a secret of 128 random characters needs no stretching, and a token request should not cost a second."""

    algorithm = "random_secret"
    iterations = 1
