import msgspec
import pytest

from core import parse
from core.errors import Invalid
from core.notes import MAX_NOTE, Note, note


class Pause(parse.Body):
    reason: Note = msgspec.UNSET


def read(body):
    return note(parse.decode(body, Pause).reason, "reason")


def test_it_keeps_what_other_fields_refuse():
    assert read(rb'{"reason": "broken\u0000pipe \ud83d\ude00"}') == "broken\ufffdpipe 😀"
    assert read(b'{"reason": "%s"}' % (b"x" * 5000)) == "x" * MAX_NOTE


def test_null_and_nothing_are_no_note():
    assert read(b'{"reason": null}') is None
    assert read(b"{}") is None


@pytest.mark.parametrize("written", [b"1", b"{}", b'["x"]', rb'"\ud83d"'])
def test_what_is_no_text_is_refused(written):
    with pytest.raises(Invalid):
        read(b'{"reason": %s}' % written)
