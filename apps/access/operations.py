"""Making and ending credentials. Secrets are returned once, by what makes them, and cannot be read again."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from oauth2_provider.generators import generate_client_secret
from oauth2_provider.models import AccessToken, Application

from apps.access import audit, credentials
from apps.access.audit import Actor
from apps.access.models import ApiKey, OAuthClient
from apps.access.scopes import Grant, check_grants, grants_as_json
from core import sql
from core.errors import Conflict, NameTaken, NotFound
from core.ids import uuid7
from core.names import check_name

FORGET_AUDIT = sql.statement(__file__, "forget_audit")

AT_ONCE = 5_000


def create_api_key(
    name: str, grants: Iterable[Grant], *, expires_at: datetime | None = None, actor: Actor = None
) -> tuple[ApiKey, str]:
    """The new key's row and the key itself. Raises NameTaken while a key of this name is in force, InvalidField."""
    stored = grants_as_json(check_grants(grants))
    token, prefix = credentials.new_key()
    with transaction.atomic():
        try:
            with transaction.atomic():
                key = ApiKey.objects.create(
                    uid=uuid7(),
                    name=check_name(name),
                    prefix=prefix,
                    digest=credentials.digest(token),
                    grants=stored,
                    expires_at=expires_at,
                )
        except IntegrityError:
            raise NameTaken(f"There is an API key {name!r} in force.", field="name") from None
        audit.record(actor, "create", "api-key", name, object_id=key.uid, after={"prefix": prefix, "grants": stored})
    return key, token


def revoke_api_key(key: ApiKey, *, actor: Actor = None, reason: str = "") -> None:
    """Ends a key: at once in this process, within 5 s in all others. Doing it again changes nothing."""
    with transaction.atomic():
        if ApiKey.objects.filter(pk=key.pk, revoked_at__isnull=True).update(revoked_at=Now()):
            audit.record(actor, "revoke", "api-key", key.name, object_id=key.uid, reason=reason)
            credentials.forget()


def rotate_api_key(key: ApiKey, *, actor: Actor = None) -> str:
    """A new secret for the same key; the old one ends as if revoked. Raises Conflict for a revoked key."""
    token, prefix = credentials.new_key()
    with transaction.atomic():
        changed = ApiKey.objects.filter(pk=key.pk, revoked_at__isnull=True).update(
            prefix=prefix, digest=credentials.digest(token)
        )
        if not changed:
            raise Conflict("This key is revoked.")
        audit.record(actor, "rotate", "api-key", key.name, object_id=key.uid, after={"prefix": prefix})
        credentials.forget()
    return token


def create_oauth_client(name: str, grants: Iterable[Grant], *, actor: Actor = None) -> tuple[OAuthClient, str]:
    """The new client's row (its client_id is `application.client_id`) and its secret. Raises NameTaken, InvalidField."""
    stored = grants_as_json(check_grants(grants))
    secret = generate_client_secret()
    with transaction.atomic():
        application = Application.objects.create(
            name=check_name(name),
            client_type=Application.CLIENT_CONFIDENTIAL,
            authorization_grant_type=Application.GRANT_CLIENT_CREDENTIALS,
            client_secret=secret,
        )
        try:
            with transaction.atomic():
                client = OAuthClient.objects.create(uid=uuid7(), application=application, name=name, grants=stored)
        except IntegrityError:
            raise NameTaken(f"There is an OAuth client {name!r}.", field="name") from None
        audit.record(actor, "create", "oauth-client", name, object_id=client.uid, after={"grants": stored})
    return client, secret


def rotate_oauth_secret(client: OAuthClient, *, keep_tokens: bool = False, actor: Actor = None) -> str:
    """A new secret: with the old one no token can be had any more, and those it has end as a revoked key does.
    Raises NotFound.

    `keep_tokens`: they run out by themselves instead, within the hour.
    """
    secret: str = generate_client_secret()
    with transaction.atomic():
        application = Application.objects.select_for_update().filter(pk=client.application_id).first()
        if application is None:
            raise NotFound("There is no such client.")
        application.client_secret = secret
        application.save(update_fields=["client_secret", "updated"])
        if not keep_tokens:
            AccessToken.objects.filter(application=application).delete()
            credentials.forget()
        after = {"tokensKept": keep_tokens}
        audit.record(actor, "rotate", "oauth-client", client.name, object_id=client.uid, after=after)
    return secret


def disable_oauth_client(client: OAuthClient, *, actor: Actor = None, reason: str = "") -> None:
    """The client gets no more tokens, and those it has end as a revoked key does. Doing it again changes nothing."""
    with transaction.atomic():
        if OAuthClient.objects.filter(pk=client.pk, disabled_at__isnull=True).update(disabled_at=Now()):
            audit.record(actor, "disable", "oauth-client", client.name, object_id=client.uid, reason=reason)
            credentials.forget()


def enable_oauth_client(client: OAuthClient, *, actor: Actor = None, reason: str = "") -> None:
    with transaction.atomic():
        if OAuthClient.objects.filter(pk=client.pk, disabled_at__isnull=False).update(disabled_at=None):
            audit.record(actor, "enable", "oauth-client", client.name, object_id=client.uid, reason=reason)


def delete_oauth_client(client: OAuthClient, *, actor: Actor = None, reason: str = "") -> None:
    """The client and its tokens are gone, with the same delay as a revoked key. Raises NotFound."""
    with transaction.atomic():
        application = Application.objects.select_for_update().filter(pk=client.application_id).first()
        if application is None:
            raise NotFound("There is no such client.")
        audit.record(actor, "delete", "oauth-client", client.name, object_id=client.uid, reason=reason)
        application.delete()
        credentials.forget()


def forget() -> int:
    """Audit records go after TOWPATH_AUDIT_DAYS, access tokens and sessions a day after their end. Bounded; how many."""
    gone = len(sql.run((FORGET_AUDIT, {"limit": AT_ONCE, "days": settings.TOWPATH["AUDIT_DAYS"]}))[0])
    ended = Now() - timedelta(days=1)
    tokens = AccessToken.objects.filter(expires__lt=ended).order_by("id").values_list("id", flat=True)[:AT_ONCE]
    sessions = Session.objects.filter(expire_date__lt=ended).values_list("session_key", flat=True)[:AT_ONCE]
    gone += int(AccessToken.objects.filter(id__in=list(tokens)).delete()[0])
    return gone + int(Session.objects.filter(session_key__in=list(sessions)).delete()[0])
