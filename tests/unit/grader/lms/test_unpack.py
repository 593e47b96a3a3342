"""What comes out of a download: plain files alone, whatever the archive says."""

import stat
import struct
import zipfile
from datetime import UTC, datetime

import pytest

from grader.errors import CourseError
from grader.lms import unpack as module
from grader.lms.unpack import unpack
from tests.unit.grader.lms.downloads import NOON, Item, write_zip

GOOD = "good.ipynb"


@pytest.fixture
def into(tmp_path):
    folder = tmp_path / "into"
    folder.mkdir()
    return folder


def unpacked(tmp_path, into, items):
    """Contents by entry, and reasons by entry."""
    files, refused = unpack(write_zip(tmp_path / "x.zip", items), into)
    assert {path.parent for path in into.rglob("*")} <= {into}
    return {f.entry: f.path.read_bytes() for f in files}, {r.entry: r.reason for r in refused}


@pytest.mark.parametrize(
    ("name", "item", "reason"),
    [
        ("../out.ipynb", b"x", "leads out"),
        ("a/../../out.ipynb", b"x", "leads out"),
        ("/etc/out.ipynb", b"x", "root of a disk"),
        ("C:/out.ipynb", b"x", "root of a disk"),
        ("C:\\out.ipynb", b"x", "root of a disk"),
        ("\\\\server\\out.ipynb", b"x", "root of a disk"),
        ("..\\out.ipynb", b"x", "leads out"),
        ("a\\..\\out.ipynb", b"x", "leads out"),
        ("red\x1b[31m.ipynb", b"x", "control characters"),
        ("turned\u202ebnypi.ipynb", b"x", "control characters"),
        ("l" * 256 + ".ipynb", b"x", "longer than"),
        ("link.ipynb", Item(b"/etc/passwd", mode=stat.S_IFLNK | 0o777), "a link"),
        ("pipe.ipynb", Item(b"", mode=stat.S_IFIFO | 0o644), "not a plain file"),
        ("bomb.ipynb", b"0" * (8 << 20), "200 times"),
        ("GOOD.ipynb", b"x", "the same name"),
    ],
)
def test_a_bad_entry_is_refused_with_its_reason_and_the_others_go_on(
    tmp_path, into, name, item, reason
):
    files, refused = unpacked(tmp_path, into, {GOOD: b"good", name: item, "last.ipynb": b"last"})
    assert files == {GOOD: b"good", "last.ipynb": b"last"}
    assert reason in refused[name.replace("\\", "/")]


@pytest.mark.parametrize("mark", "\u200e\u200f\u061c\u200b\u200c\u200d\u2060\ufeff\xad\u2028")
def test_a_mark_that_nobody_sees_takes_no_name_away(tmp_path, into, mark):
    name = f"a{mark}/{mark}b{mark}.ipynb"
    assert unpacked(tmp_path, into, {name: b"x"}) == ({name: b"x"}, {})


def test_a_zip_file_made_by_powershell_has_folders_too(tmp_path, into):
    items = {"all\\Ada_1\\x.ipynb": b"x", "all\\Ada_1\\": b"", "__MACOSX\\._x": b""}
    assert unpacked(tmp_path, into, items) == ({"all/Ada_1/x.ipynb": b"x"}, {})


@pytest.mark.parametrize("way", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_what_is_packed_in_an_unusual_way_is_refused_and_the_others_go_on(tmp_path, into, way):
    archive = write_zip(tmp_path / "x.zip", {GOOD: b"good"})
    with zipfile.ZipFile(archive, "a") as opened:
        opened.writestr("odd.ipynb", b"x" * 500, compress_type=way)
    damaged = archive.read_bytes().partition(b"odd.ipynb")
    archive.write_bytes(damaged[0] + damaged[1] + damaged[2][:12] + bytes(8) + damaged[2][20:])
    files, refused = unpack(archive, into)
    assert [file.entry for file in files] == [GOOD]
    assert "packed in a way" in refused[0].reason


def test_a_file_that_is_too_large_is_refused(tmp_path, into, monkeypatch):
    monkeypatch.setattr(module, "MOST_BYTES", 1000)
    files, refused = unpacked(tmp_path, into, {"large": bytes(1001), "fits": bytes(1000)})
    assert list(files) == ["fits"]
    assert list(refused) == ["large"]


def test_sizes_that_the_archive_understates_are_not_believed(tmp_path, into, monkeypatch):
    archive = write_zip(tmp_path / "x.zip", {"liar": b"x" * 5000})
    data = archive.read_bytes().replace(struct.pack("<I", 5000), struct.pack("<I", 500))
    archive.write_bytes(data)
    monkeypatch.setattr(module, "MOST_BYTES", 1000)
    files, refused = unpack(archive, into)
    assert (files, [entry.entry for entry in refused]) == ([], ["liar"])
    assert list(into.iterdir()) == []


def test_when_all_together_are_too_large_what_fits_is_taken(tmp_path, into):
    archive = write_zip(tmp_path / "x.zip", {"a": bytes(1000), "b": bytes(1000), "c": bytes(400)})
    files, refused = unpack(archive, into, 1500)
    assert [file.entry for file in files] == ["a", "c"]
    assert [(x.entry, "all files together" in x.reason) for x in refused] == [("b", True)]


def test_too_many_entries_are_refused_altogether(tmp_path, into, monkeypatch):
    monkeypatch.setattr(module, "MOST_ENTRIES", 2)
    with pytest.raises(CourseError, match="3 files, more than 2"):
        unpacked(tmp_path, into, {"a": b"", "b": b"", "c": b""})


def test_a_damaged_file_is_refused_and_the_others_go_on(tmp_path, into):
    archive = write_zip(tmp_path / "x.zip", {"damaged": b"abcd" * 99, GOOD: b"good"})
    data = bytearray(archive.read_bytes())
    data[40] ^= 0xFF
    archive.write_bytes(data)
    files, refused = unpack(archive, into)
    assert [file.entry for file in files] == [GOOD]
    assert "damaged" in refused[0].reason


@pytest.mark.parametrize("content", [b"", b"not a ZIP file", b"PK\x03\x04" + bytes(60)])
def test_what_is_no_zip_file_is_refused_in_a_sentence(tmp_path, into, content):
    path = tmp_path / "x.zip"
    path.write_bytes(content)
    with pytest.raises(CourseError, match="cannot be read as a ZIP file"):
        unpack(path, into)


def test_a_download_that_is_missing_is_named(tmp_path, into):
    with pytest.raises(CourseError, match="There is no file"):
        unpack(tmp_path / "none.zip", into)


def test_folders_and_what_macos_adds_are_passed_over(tmp_path, into):
    items = {"a/": b"", "__MACOSX/a/x": b"", "a/._x.ipynb": b"", ".DS_Store": b"", "a/x": b"x"}
    assert unpacked(tmp_path, into, items) == ({"a/x": b"x"}, {})


def test_a_name_in_utf_8_without_the_flag_is_read(tmp_path, into):
    archive = write_zip(tmp_path / "x.zip", {"Mueller Joerg": b"x"})
    data = archive.read_bytes().replace(b"Mueller Joerg", "Müller Jörg".encode())
    archive.write_bytes(data)
    assert [file.entry for file in unpack(archive, into)[0]] == ["Müller Jörg"]


def test_the_time_is_the_one_in_utc_where_the_archive_has_it(tmp_path, into):
    told = datetime(2026, 3, 1, 4, 5, 6, tzinfo=UTC)
    entry = zipfile.ZipInfo("x", (2020, 1, 1, 0, 0, 0))
    entry.extra = struct.pack("<HHBi", 0x5455, 5, 1, int(told.timestamp()))
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr(entry, b"")
    assert unpack(tmp_path / "x.zip", into)[0][0].time == told


def test_without_it_the_time_is_the_local_one(tmp_path, into):
    archive = write_zip(tmp_path / "x.zip", {"x": Item(b"", NOON)})
    assert unpack(archive, into)[0][0].time == NOON


def test_a_file_without_a_name_is_refused_alone(tmp_path, into):
    archive = write_zip(tmp_path / "x.zip", {"q": b"x", GOOD: b"good"})
    archive.write_bytes(archive.read_bytes().replace(b"q", b"\0"))  # what follows a zero is no name
    files, refused = unpack(archive, into)
    assert [file.entry for file in files] == [GOOD]
    assert len(refused) == 1


def spoiled(tmp_path, place):
    """A ZIP file that says a name twice, as UTF-8: at the file (0) or in the list (1) it is not."""
    name = "é".encode()
    archive = write_zip(tmp_path / "x.zip", {"é_1_2_a.ipynb": b"{}", GOOD: b"good"})
    before, between, behind = archive.read_bytes().split(name)
    names = [b"\xff\xfe" if n == place else name for n in range(2)]
    archive.write_bytes(before + names[0] + between + names[1] + behind)
    return archive


def test_a_list_of_files_with_a_name_that_nobody_can_read_is_refused_in_a_sentence(tmp_path, into):
    with pytest.raises(CourseError, match=r"cannot be read as a ZIP file .*Download it again"):
        unpack(spoiled(tmp_path, 1), into)


def test_a_file_with_another_name_that_nobody_can_read_is_refused_alone(tmp_path, into):
    files, refused = unpack(spoiled(tmp_path, 0), into)
    assert [file.entry for file in files] == [GOOD]
    assert "damaged" in refused[0].reason
