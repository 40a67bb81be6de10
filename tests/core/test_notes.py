import msgspec
import pytest

from core import parse
from core.errors import Invalid
from core.notes import MAX_NOTE, Note, needed_note, note


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


@pytest.mark.parametrize("written", [b'""', b'"  "', rb'"\t\n"', rb'"\u00a0\u2003"', b"null"])
def test_where_one_is_needed_a_blank_one_is_refused(written):
    body = parse.decode(b'{"reason": %s}' % written, Pause)
    with pytest.raises(Invalid) as refused:
        needed_note(body.reason, "reason")
    assert refused.value.details == {"field": "reason"}
    assert needed_note(parse.decode(b'{"reason": " why "}', Pause).reason, "reason") == " why "
