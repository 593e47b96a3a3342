"""A hub with a domain for each student: a hostile student's pages reach nobody else's.

It starts while a process of a student's, left by an earlier hub, holds one of its ports.
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from jupyterhub import orm

from hub.accounts import ensure_account
from tests.browser.chrome import Chrome, wait_for
from tests.browser.hostile_server import make_hostile, register
from tests.browser.jupyterlab import is_listening, wait_for_start_page
from tests.browser.test_hub import ADA, BEN, browser, hand_ins, log_in, stays_out, submit
from tests.course.hub_class import HubClass, a_class, require_accounts, running_hub

DOMAIN = "hub.localhost"  # browsers find all below localhost on this machine, and trust it
LEFT = "import socket, time; s = socket.create_server(('127.0.0.1', {})); time.sleep(10_000)"

REMOVE_WORKERS = (
    "navigator.serviceWorker.getRegistrations()"
    ".then(found => Promise.all(found.map(worker => worker.unregister())))"
)


@pytest.fixture(scope="module")
def hub(chromium: str) -> Iterator[HubClass]:
    """A hub that runs, and was started while Ben's process listened where its proxy does."""
    python = require_accounts()
    with a_class(python, [ADA, BEN], DOMAIN) as made:
        assert made.prepare().returncode == 0
        ensure_account(BEN)
        session = orm.new_session_factory(url=f"sqlite:///{made.settings.users}")()
        session.add(orm.User(name=BEN, admin=True))  # of an earlier hub, which had admins
        session.commit()
        session.close()
        port = made.settings.port
        stay = f'setsid -f {python} -I -c "{LEFT.format(port)}" > /dev/null 2>&1'
        assert made.run(BEN, "sh", "-c", stay).returncode == 0
        wait_for(lambda: is_listening(port), "Ben's process")
        with running_hub(made):
            yield made


@pytest.fixture(scope="module")
def ada(chromium: str, hub: HubClass, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    yield from browser(chromium, tmp_path_factory.mktemp("browser"), hub, ADA)


def origin_of(hub: HubClass, name: str) -> str:
    return hub.address.replace(DOMAIN, f"{name}.{DOMAIN}")


def test_each_student_works_and_submits_at_an_origin_of_their_own(
    ada: Chrome, hub: HubClass
) -> None:
    wait_for_start_page(ada)
    assert ada.run("location.origin") == origin_of(hub, ADA)
    submit(ada, hub, ADA)
    assert [path.owner() for path in hand_ins(hub, ADA)] == [ADA]


@pytest.fixture(scope="module")
def home(chromium: str, hub: HubClass, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where Ben's hostile pages are, while his server runs."""
    place = make_hostile(BEN)
    with Chrome(chromium, tmp_path_factory.mktemp("browser")) as page:
        page.open(hub.address)
        log_in(page, BEN, hub.password(BEN))
        page.wait(f"location.pathname.startsWith('/user/{BEN}/')")
        yield place


def test_a_worker_of_a_hostile_students_reaches_neither_the_login_form_nor_another_student(
    ada: Chrome, hub: HubClass, home: str
) -> None:
    ada.open(f"{origin_of(hub, BEN)}{home}page")
    ada.wait("document.title === 'Look here'")
    assert register(ada, home) == "registered"
    ada.open(f"{origin_of(hub, BEN)}{home}page")
    ada.wait("document.body?.innerText === 'taken'")  # a worker that is there does answer
    ada.open(f"{origin_of(hub, ADA)}{home}page")  # the same path, at Ada's
    ada.wait("document.readyState === 'complete' && location.pathname.includes('/hub/')"
             " || document.body?.innerText === 'taken'")  # fmt: skip
    assert ada.run("document.body.innerText") != "taken"
    ada.open(f"{hub.address}/hub/home")
    ada.wait("!!document.querySelector('#stop, #start')")
    assert ada.run("navigator.serviceWorker.controller") is None


def test_a_page_of_a_hostile_students_reads_nothing_at_the_hub_or_at_another_students(
    ada: Chrome, hub: HubClass, home: str
) -> None:
    ada.open(f"{origin_of(hub, ADA)}/user/{ADA}/lab")
    wait_for_start_page(ada)
    paths = {f"/user/{ADA}/api/contents": origin_of(hub, ADA), "/hub/home": hub.address}
    contents = f"/user/{ADA}/api/contents"
    known = "{'X-XSRFToken': document.cookie.match(/_xsrf=([^;]+)/)[1]}"
    assert answer(ada, paths[contents] + contents, known) == 200  # her own page may
    ada.open(f"{origin_of(hub, BEN)}{home}page")
    ada.wait("document.body?.innerText === 'taken'")
    ada.run(REMOVE_WORKERS)  # which would answer in another's place
    ada.open(f"{origin_of(hub, BEN)}{home}page")
    ada.wait("document.title === 'Look here'")
    for path, origin in paths.items():
        assert answer(ada, origin + path) == "TypeError"


def answer(page: Chrome, address: str, headers: str = "{}") -> int | str:
    """The status that a page gets to see of an address, or the browser's refusal."""
    ask = f"fetch({json.dumps(address)}, {{credentials: 'include', headers: {headers}}})"
    found: int | str = page.run(f"{ask}.then(answer => answer.status, error => error.name)")
    return found


def test_a_hostile_students_login_page_is_not_at_the_hubs_address(
    chromium: str, hub: HubClass, tmp_path: Path
) -> None:
    with Chrome(chromium, tmp_path / "stranger") as page:
        page.open(hub.address)
        page.wait("location.pathname === '/hub/login'")
        assert page.run("location.origin") == hub.address
        stays_out(page, ADA, "wrong")
        log_in(page, ADA, hub.password(ADA))
        wait_for_start_page(page)


def test_the_process_that_held_a_port_is_gone(hub: HubClass) -> None:
    found = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    assert LEFT.format(hub.settings.port) not in found.stdout


def test_who_was_an_admin_of_an_earlier_hub_is_none_now(hub: HubClass) -> None:
    session = orm.new_session_factory(url=f"sqlite:///{hub.settings.users}")()
    user = session.query(orm.User).filter_by(name=BEN).one()
    assert not user.admin
    assert [role.name for role in user.roles] == ["user"]
    session.close()
