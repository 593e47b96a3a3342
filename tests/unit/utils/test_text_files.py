"""A text is the same whatever editor wrote it."""

import codecs

import pytest

from utils.text_files import as_text, read_text

TEXT = "Zoë\nsecond line\n"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    "code", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
def test_marks_encodings_and_line_ends_are_no_part_of_a_text(tmp_path, code, end):
    path = tmp_path / "x.txt"
    path.write_bytes(TEXT.replace("\n", end).encode(code))
    assert read_text(path) == TEXT


def test_a_mark_in_front_of_utf_16_of_either_order_is_taken_off():
    assert as_text(codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be")) == TEXT
    assert as_text(codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le")) == TEXT


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf", b"a", b"ab"])
def test_short_texts_are_texts(data):
    assert as_text(data) == data.decode("utf-8-sig")


def test_what_is_no_text_is_refused_unless_a_sign_for_it_will_do():
    with pytest.raises(UnicodeDecodeError):
        as_text("Müller".encode("latin-1"))
    assert as_text("Müller".encode("latin-1"), "replace") == "M\ufffdller"
