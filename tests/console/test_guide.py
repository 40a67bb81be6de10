"""The guide for operators: a page for each cause, and all of them found from its first page."""

import re
from pathlib import Path

from apps.console.selectors.attention import URGENCY

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "operations"


def test_each_cause_that_needs_somebody_has_its_page():
    assert [cause for cause in URGENCY if not (GUIDE / f"{cause}.md").exists()] == []


def test_every_page_is_named_on_the_first_and_every_link_leads_somewhere():
    pages = {path.name for path in GUIDE.glob("*.md")}
    linked = {page: set(re.findall(r"\]\(([a-z_]+\.md)\)", (GUIDE / page).read_text())) for page in pages}
    assert linked["README.md"] == pages - {"README.md"}
    assert set().union(*linked.values()) <= pages
