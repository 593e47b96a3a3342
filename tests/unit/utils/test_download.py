"""Fetching a file from a server that breaks in the ways servers do."""

import hashlib
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from utils import download
from utils.download import DownloadError, blob_id, cache_folder, fetch, has_sha256, is_blob

HELLO = b"hello\n"
HELLO_BLOB = "ce013625030ba8dba906f756967f9e9ca394464a"  # git hash-object
EMPTY_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
IS_HELLO = is_blob(HELLO_BLOB)
FETCH = "import sys; from pathlib import Path; from utils.download import fetch, is_blob; "
FETCH += "fetch(sys.argv[1], is_blob(sys.argv[2]), Path(sys.argv[3]))"


class Handler(BaseHTTPRequestHandler):
    """/good, /other content, /half of it, a /slow one that never ends."""

    def do_GET(self):
        self.server.asked += 1
        if self.path == "/gone":
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", "6")
        self.end_headers()
        content = b"other\n" if self.path == "/other" else HELLO
        self.wfile.write(content[:3] if self.path in {"/half", "/slow"} else content)
        if self.path == "/slow":
            self.wfile.flush()
            self.server.stopped.wait(30)

    def log_message(self, *_):
        """Say nothing."""


class Server(ThreadingHTTPServer):
    daemon_threads = False  # closing waits for them, so that no socket stays open


@pytest.fixture
def server():
    with Server(("127.0.0.1", 0), Handler) as found:
        found.asked, found.stopped = 0, threading.Event()
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        yield found
        found.stopped.set()
        found.shutdown()
        thread.join()


def url(server, name):
    return f"http://127.0.0.1:{server.server_port}/{name}"


def test_a_file_is_known_by_its_blob_id_and_by_its_sha256(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(HELLO)
    digest = hashlib.sha256(HELLO).hexdigest()
    assert is_blob(HELLO_BLOB)(path) and has_sha256(digest)(path)
    path.write_bytes(HELLO + b"!")
    assert not is_blob(HELLO_BLOB)(path) and not has_sha256(digest)(path)


def test_a_file_that_is_checked_by_its_sha256_is_fetched_once(server, tmp_path):
    check = has_sha256(hashlib.sha256(HELLO).hexdigest())
    path = fetch(url(server, "good"), check, tmp_path / "file")
    assert fetch("http://127.0.0.1:1/nobody", check, path).read_bytes() == HELLO
    with pytest.raises(DownloadError, match="not the one"):
        fetch(url(server, "good"), has_sha256("0" * 64), tmp_path / "other")


def test_a_blob_id_is_gits(tmp_path):
    (tmp_path / "a").write_bytes(HELLO)
    (tmp_path / "b").write_bytes(b"")
    assert blob_id(tmp_path / "a") == HELLO_BLOB
    assert blob_id(tmp_path / "b") == EMPTY_BLOB


def test_a_file_is_fetched_once(server, tmp_path, capsys):
    path = tmp_path / "deep" / "file"
    for _ in range(3):
        assert fetch(url(server, "good"), IS_HELLO, path) == path
    assert path.read_bytes() == HELLO
    assert server.asked == 1
    shown = capsys.readouterr()
    assert "100%" in shown.out
    assert shown.err == ""


@pytest.mark.parametrize("name", ["other", "half", "gone"])
def test_anything_but_the_right_content_is_refused_and_leaves_nothing(server, tmp_path, name):
    path = tmp_path / "file"
    with pytest.raises(DownloadError):
        fetch(url(server, name), IS_HELLO, path)
    assert list(tmp_path.iterdir()) == []
    assert fetch(url(server, "good"), IS_HELLO, path).read_bytes() == HELLO


def test_a_corrupt_file_in_the_cache_is_fetched_again(server, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"hellO\n")
    fetch(url(server, "good"), IS_HELLO, path)
    assert path.read_bytes() == HELLO


def test_a_corrupt_file_stays_refused_when_there_is_no_other(server, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"hellO\n")
    with pytest.raises(DownloadError, match=r"file could not be fetched from 127\.0\.0\.1:.*404"):
        fetch(url(server, "gone"), IS_HELLO, path)


def test_a_process_killed_in_the_middle_leaves_no_half_file(server, tmp_path):
    path = tmp_path / "file"
    command = [sys.executable, "-c", FETCH, url(server, "slow"), HELLO_BLOB, str(path)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while not list(tmp_path.iterdir()):  # until it writes
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert not path.exists()
    assert fetch(url(server, "good"), IS_HELLO, path).read_bytes() == HELLO


def test_a_stop_before_the_rename_leaves_nothing(server, tmp_path, monkeypatch):
    def stopped(_half, _path):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", stopped)
    with pytest.raises(KeyboardInterrupt):
        fetch(url(server, "good"), IS_HELLO, tmp_path / "file")
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_removed_after_a_day(server, tmp_path, monkeypatch):
    path, left = tmp_path / "file", tmp_path / "file-abc.part"
    left.write_bytes(b"he")
    fetch(url(server, "good"), IS_HELLO, path)
    assert left.exists()  # it may belong to a process that runs
    path.unlink()
    now = time.time()
    monkeypatch.setattr(download.time, "time", lambda: now + 25 * 3600)
    fetch(url(server, "good"), IS_HELLO, path)
    assert [found.name for found in tmp_path.iterdir()] == ["file"]


def test_many_may_fetch_the_same_file_at_once(server, tmp_path):
    path = tmp_path / "file"
    with ThreadPoolExecutor(6) as pool:
        jobs = [pool.submit(fetch, url(server, "good"), IS_HELLO, path) for _ in range(6)]
        assert {job.result().read_bytes() for job in jobs} == {HELLO}
    assert [found.name for found in tmp_path.iterdir()] == ["file"]


def test_no_connection_is_an_error_that_says_so(tmp_path, server):
    address = url(server, "good")
    server.shutdown()
    server.server_close()
    with pytest.raises(DownloadError, match=r"file could not be fetched from .*refused"):
        fetch(address, IS_HELLO, tmp_path / "file")


def test_a_file_that_never_ends_is_refused(server, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "MOST", 5)
    with pytest.raises(DownloadError, match="larger than 5 bytes"):
        fetch(url(server, "good"), IS_HELLO, tmp_path / "file")
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_falls_silent_is_given_up(server, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT", 0.2)
    with pytest.raises(DownloadError, match="timed out"):
        fetch(url(server, "slow"), IS_HELLO, tmp_path / "file")


def test_a_folder_that_cannot_be_written_is_an_error_that_says_so(server, tmp_path):
    (tmp_path / "no folder").write_text("")
    with pytest.raises(DownloadError, match="file could not be fetched"):
        fetch(url(server, "good"), IS_HELLO, tmp_path / "no folder" / "file")


def test_the_cache_folder_is_the_users_and_can_be_chosen(monkeypatch, tmp_path):
    monkeypatch.delenv("COURSE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / download.OWN_FOLDER
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(download.sys, "platform", "darwin")
    assert cache_folder().parent == Path.home() / "Library" / "Caches"
    monkeypatch.setenv("COURSE_CACHE", "~/here")
    assert cache_folder() == Path.home() / "here"
