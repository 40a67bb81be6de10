"""What a call about a destination may be refused for."""

from core.errors import Invalid


class NotADurableConsumer(Invalid):
    """Only a destination of type DURABLE_CONSUMER can be pulled from."""

    code = "NOT_A_DURABLE_CONSUMER"


class NotAWebhook(Invalid):
    """Only a destination of type WEBHOOK has this."""

    code = "NOT_A_WEBHOOK"
