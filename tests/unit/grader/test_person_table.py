"""One table, in every form in which people and their programs write it."""

import itertools

import pytest

from grader.errors import CourseError, UsageError
from grader.person_table import as_number, plain_title, read_table

COLUMNS = {"id": ("student id",), "name": ("name",), "email": ("email", "e mail")}
ROWS = [["student_id", "name", "email"], ["ada", "Lovelace, Ada", "a@x"], ["b;en", "Örs", "b@x"]]
FOUND = [
    {"id": "ada", "name": "Lovelace, Ada", "email": "a@x"},
    {"id": "b;en", "name": "Örs", "email": "b@x"},
]


def entries(folder, data):
    path = folder / "class.csv"
    path.write_bytes(data)
    return [entry for _, entry in read_table(path).entries(COLUMNS)]


def written(delimiter=",", end="\n", before=""):
    lines = [delimiter.join(f'"{cell}"' for cell in row) for row in ROWS]
    return before + end.join([*lines, ""])


FORMS = list(itertools.product([",", ";", "\t"], ["\n", "\r\n", "\r"], [False, True]))


@pytest.mark.parametrize("code", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(("delimiter", "end", "says"), FORMS)
def test_delimiters_line_ends_and_encodings_change_nothing(tmp_path, delimiter, end, says, code):
    text = written(delimiter, end, f"sep={delimiter}{end}" if says else "")
    assert entries(tmp_path, text.encode(code)) == FOUND


def test_the_first_line_says_the_delimiter_whatever_the_titles_hold(tmp_path):
    assert entries(tmp_path, written("|", before="SEP=|\n").encode()) == FOUND
    assert entries(tmp_path, written(";", before='"sep=;"\n').encode()) == FOUND


@pytest.mark.parametrize(
    "titles",
    [
        "Student ID,NAME,E-Mail",
        " student_id , Name ,email ",
        "\u00a0Student\u00a0Id,name,\u200bemail",
        'student-id,"Name",E_MAIL',
    ],
)
def test_titles_are_known_in_capitals_with_spaces_and_signs(tmp_path, titles):
    text = f'{titles}\nada , "Lovelace, Ada",a@x\n'
    assert entries(tmp_path, text.encode()) == FOUND[:1]


def test_a_title_in_quotes_decides_nothing_about_what_divides_titles(tmp_path):
    text = 'student_id;name;"one, two, three, four"\nada;"Lovelace, Ada";5\n'
    assert [entry["name"] for entry in entries(tmp_path, text.encode())] == ["Lovelace, Ada"]


def test_lines_without_content_are_left_out_and_lines_keep_their_numbers(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text('\nstudent_id;name\n;;\nada;"two\nlines"\n\n ; \nben\n')
    assert list(read_table(path).entries(COLUMNS)) == [
        (4, {"id": "ada", "name": "two\nlines"}),
        (8, {"id": "ben", "name": ""}),
    ]
    path.write_text("sep=;\nstudent_id;name\nada;x\n")
    assert [number for number, _ in read_table(path).entries(COLUMNS)] == [3]


def test_a_comma_outside_quotes_is_told_with_its_line_before_it_moves_cells(tmp_path):
    with pytest.raises(CourseError, match=r"line 3 has more cells than the 3 columns .* in quotes"):
        entries(tmp_path, b"student_id,name,email\nben,B,b@x\nada,Lovelace, Ada,a@x\n")


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "is empty"),
        (b"\xef\xbb\xbf\r\n;;;\r\n", "is empty"),
        ("student_id\nMüller".encode("latin-1"), "not UTF-8 text. Save it as CSV in UTF-8"),
        (b"PK\x03\x04\xff\xfe\xfd", "Save it as CSV in UTF-8"),
    ],
)
def test_what_is_no_table_is_told_with_what_to_do(tmp_path, data, told):
    with pytest.raises(CourseError, match=told):
        entries(tmp_path, data)


def test_a_table_that_is_missing_is_told_as_a_mistyped_name(tmp_path):
    with pytest.raises(UsageError, match=r"no.csv cannot be read \(No such file.*Check its name"):
        read_table(tmp_path / "no.csv")


def test_numbers_have_a_point_or_a_comma_and_words_are_none():
    texts = ["20", "20.00", "20,00", " 3,5 ", "EX", "N/A", "", "20 points", "1,2,3", "(read only)"]
    assert [as_number(text) for text in texts] == [20, 20, 20, 3.5, *[None] * 6]


def test_a_title_is_plain_whatever_stands_between_its_words():
    assert {plain_title(x) for x in ("SIS_Login-ID", " sis  login id", "Sis Login\u00a0Id")} == {
        "sis login id"
    }
