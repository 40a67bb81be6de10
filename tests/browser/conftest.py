"""A real browser (Debian's Chromium) against the live server.

Screenshots of every page go to TOWPATH_SCREENSHOTS, when that is set, to be looked at.
"""

import importlib
import os
import re
from pathlib import Path

import axe_playwright_python
import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.db import connections
from playwright.sync_api import sync_playwright
from psycopg.conninfo import make_conninfo

from tests.serving import Server

CHROMIUM = Path(os.environ.get("TOWPATH_CHROMIUM", "/usr/bin/chromium"))
PASSWORD = "correct horse battery"
WIDTHS = (1280, 390)
AXE = Path(axe_playwright_python.__file__).parent / "axe.min.js"


@pytest.fixture(scope="package")
def browser():
    if not CHROMIUM.exists():
        pytest.skip(f"there is no Chromium at {CHROMIUM} (TOWPATH_CHROMIUM names another place)")
    # Playwright keeps an event loop in this thread; the tests' own queries are made between its steps.
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        chromium = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def disconnected(browser):
    """Under Playwright's event loop this thread has a connection of its own; one left open would keep the test database."""
    yield
    connections.close_all()


@pytest.fixture
def server(disconnected, transactional_db, live_server, settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher", *settings.PASSWORD_HASHERS]
    importlib.import_module("apps.console.migrations.0001_roles").make_roles(apps, None)
    return live_server


@pytest.fixture
def person(server):
    def make(name: str, role: str) -> User:
        user = User.objects.create_user(name, password=PASSWORD, is_staff=True)
        user.groups.add(Group.objects.get(name=role))
        return user

    return make


class Complaints(list):
    """What the browser said against a page: errors of scripts, and requests to anywhere else."""

    def listen(self, page, home: str) -> None:
        page.on("pageerror", lambda error: self.append(error.stack))
        page.on("console", lambda message: message.type == "error" and self.append(f"{message.text} {message.location}"))
        page.on("request", lambda request: request.url.startswith((home, "data:")) or self.append(request.url))


class Visits:
    """Logs people in by the form, each in a browser context of their own."""

    def __init__(self, browser, person, home: str) -> None:
        self.browser, self.person, self.home = browser, person, home
        self.contexts, self.complaints = [], Complaints()

    def __call__(self, role: str = "Operator", width: int = 1280, zone: str = "Europe/Berlin", name: str | None = None):
        context = self.browser.new_context(
            viewport={"width": width, "height": 900}, timezone_id=zone, base_url=self.home
        )  # fmt: skip
        context.set_default_timeout(60_000)
        self.contexts.append(context)
        page = context.new_page()
        self.complaints.listen(page, self.home)
        name = name or role.lower()
        if not User.objects.filter(username=name).exists():
            self.person(name, role)
        page.goto("/admin/")
        page.fill("input[name=username]", name)
        page.fill("input[name=password]", PASSWORD)
        page.click("button[type=submit]")
        page.wait_for_url(re.compile(r"/admin/$"))
        return page

    def end(self) -> Complaints:
        for context in self.contexts:
            context.close()
        return self.complaints


@pytest.fixture
def visit(browser, person, server):
    """Logs somebody in by the form and gives the page; the test fails if the browser complained meanwhile."""
    visits = Visits(browser, person, server.url)
    yield visits
    assert visits.end() == []


@pytest.fixture
def real_server(transactional_db, server):
    """A process of its own, as installations run it: what waits, streams and workers need."""
    database = settings.DATABASES["default"]
    parts = {name.lower(): database[name] for name in ("USER", "PASSWORD", "HOST", "PORT") if database[name]}
    with Server(make_conninfo(dbname=database["NAME"], **parts), "tests.browser.settings") as running:
        yield running


@pytest.fixture
def visit_real(browser, person, real_server):
    visits = Visits(browser, person, f"http://127.0.0.1:{real_server.port}")
    yield visits
    # The browser itself reports each connection that is cut, which some tests do on purpose.
    assert [each for each in visits.end() if "ERR_" not in each and "403" not in each] == []


def follow(page, link) -> None:
    """Clicks the first such link and waits for the page behind it: what is asked in between may meet a page half gone."""
    with page.expect_navigation():
        (page.locator(link) if isinstance(link, str) else link).first.click()


def is_cut(page) -> list[str]:
    """What does not fit: the page scrolling sideways, or text over the edge of its box."""
    return page.evaluate(
        """() => {
            const found = [];
            const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
            if (wide > 1) found.push(`the page is ${wide} px too wide`);
            const boxes = '.tp-card, .tp-tile, .tp-note, .tp-button, .tp-attention li, #result_list td';
            for (const box of document.querySelectorAll(boxes))
                if ((box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1)
                    && box.clientWidth && !box.querySelector('.tp-scroll'))
                    found.push(`${box.className}: ${box.textContent.trim().slice(0, 40)}`);
            return found;
        }"""
    )


def faults(page, rules: str) -> list[str]:
    """What axe calls serious or critical, with the elements."""
    if not page.evaluate("typeof window.axe !== 'undefined'"):
        page.evaluate(AXE.read_text())
    found = page.evaluate(f"() => axe.run({{runOnly: {rules}, resultTypes: ['violations']}})")["violations"]
    return [
        f"{fault['id']}: {fault['help']}: {[node['html'][:160] for node in fault['nodes'][:3]]}"
        for fault in found
        if fault["impact"] in ("serious", "critical")
    ]


def is_accessible(page, name: str) -> None:
    for theme, rules in (("light", "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']"), ("dark", "['color-contrast']")):
        put_on(page, theme)
        assert faults(page, rules) == [], f"{name}, {theme}"
    put_on(page, "light")


def put_on(page, theme: str) -> None:
    page.evaluate("theme => document.documentElement.classList.toggle('dark', theme === 'dark')", theme)


def photograph(page, name: str) -> None:
    """The page at both widths, nothing of it cut, no serious fault by axe; with screenshots wanted, in both themes."""
    folder = os.environ.get("TOWPATH_SCREENSHOTS")
    is_accessible(page, name)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        for theme in ("light", "dark") if folder else ("light",):
            put_on(page, theme)
            assert is_cut(page) == [], f"{name} at {width} px"
            if folder:
                page.screenshot(path=f"{folder}/{name}-{width}-{theme}.png", full_page=True)
    page.set_viewport_size({"width": WIDTHS[0], "height": 900})
