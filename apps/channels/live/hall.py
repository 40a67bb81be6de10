"""Who follows what in this process. Everything here runs on the event loop."""

from collections import Counter
from typing import TYPE_CHECKING

from apps.channels.live.feed import Feed
from apps.channels.live.watch import Watch
from core.streams import Backstage

if TYPE_CHECKING:
    from apps.channels.live.follower import Follower


class Hall:
    def __init__(self) -> None:
        self._feeds: dict[str, Feed] = {}
        self._watch: Watch | None = None

    def enter(self, follower: "Follower", backstage: Backstage) -> None:
        feed = self._feeds.get(follower.channel)
        if feed is None:
            feed = self._feeds[follower.channel] = Feed(follower.channel, follower.position, backstage)
        feed.followers.add(follower)
        if self._watch is None:
            self._watch = Watch(self, backstage)

    def leave(self, follower: "Follower") -> None:
        feed = self._feeds.get(follower.channel)
        if feed is None or follower not in feed.followers:
            return
        feed.followers.discard(follower)
        if not feed.followers:
            self._feeds.pop(follower.channel).close()

    def followers(self) -> "list[Follower]":
        return [follower for feed in self._feeds.values() for follower in feed.followers]

    def counts(self) -> Counter[str]:
        return Counter({channel: len(feed.followers) for channel, feed in self._feeds.items()})


hall = Hall()
