import pytest

from core.errors import InvalidField
from core.sequence import MAX_OFFSET, parse_sequence, sequence, sequence_before


@pytest.mark.parametrize("place", [(0, 0), (3, 120), (255, MAX_OFFSET)])
def test_it_reads_back(place):
    assert parse_sequence(sequence(*place), "sequence") == place


def test_it_sorts_as_text():
    assert sequence(3, 99) < sequence(3, 100)


def test_before_the_first_there_is_none():
    assert sequence_before(3, 0) is None
    assert sequence_before(3, 120) == "003.00000000000000000119"


@pytest.mark.parametrize(
    "text",
    ["", "3.120", "003.120", "003.0000000000000000012\uff10", "256.00000000000000000000", f"000.{2**63:020d}", "-01.0"],
)
def test_what_no_event_could_have_is_refused(text):
    with pytest.raises(InvalidField):
        parse_sequence(text, "sequence")
