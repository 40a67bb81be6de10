"""The pages for readers: README.md and docs."""

import re

import pytest

from tests.architecture.sources import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_between_pages_leads_to_a_file(page):
    links = [link.split("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()) if "://" not in link]
    assert [link for link in links if link and not (page.parent / link).is_file()] == []


def test_every_setting_from_the_environment_stands_in_the_page_on_production():
    settings = (ROOT / "platform" / "config" / "settings.py").read_text()
    names = set(re.findall(r"_(?:setting|flag|list)\(\s*\"([A-Z_]+)\"", settings))
    assert len(names) > 20
    page = (ROOT / "docs" / "production.md").read_text()
    assert sorted(name for name in names if f"`{name}`" not in page) == []
