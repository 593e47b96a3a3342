"""JupyterHub's configuration, made of the settings."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from jupyterhub.app import JupyterHub

from hub import configuration
from hub.configuration import Hub, first_page
from hub.settings import HubSettings, Lti

SETTINGS = HubSettings(("teacher",), Path("/srv/place"), "http://127.0.0.1:9000", memory="3G")


@pytest.fixture(params=[True, False], ids=["systemd", "processes"])
def systemd(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(configuration, "has_systemd", lambda: request.param)
    return bool(request.param)


def made(settings: HubSettings = SETTINGS) -> Any:
    return configuration.configuration(Hub(Path("/srv/course"), settings, "grading", ("ada",)))


def test_every_setting_is_one_that_jupyterhub_and_its_parts_know(systemd: bool) -> None:
    config = made()
    app = JupyterHub(config=config)
    kinds = [JupyterHub, app.authenticator_class, app.spawner_class, app.proxy_class]
    known = {k.__name__: k for kind in kinds for k in kind.__mro__ if hasattr(k, "class_traits")}
    for section, values in config.items():
        if section not in known:  # the base of a spawner that is not taken here
            assert section == "LocalProcessSpawner"
            continue
        assert values.keys() <= known[section].class_traits(config=True).keys(), section


def test_memory_is_limited_and_processor_time_where_systemd_can(systemd: bool) -> None:
    config = made()
    assert config.Spawner.mem_limit == "3G"
    assert ("cpu_limit" in config.Spawner) == systemd
    kind = "systemdspawner.SystemdSpawner" if systemd else "hub.spawners.LimitedSpawner"
    assert config.JupyterHub.spawner_class == kind


def test_only_the_proxys_address_is_for_browsers() -> None:
    config = made(replace(SETTINGS, address="http://0.0.0.0:9000"))
    assert config.JupyterHub.bind_url == "http://0.0.0.0:9000"
    assert config.JupyterHub.hub_ip == "127.0.0.1"
    assert config.ConfigurableHTTPProxy.api_url.startswith("http://127.0.0.1:")
    assert all("127.0.0.1" in s["url"] for s in config.JupyterHub.services if "url" in s)


def test_the_class_and_its_instructors_may_log_in_and_nobody_else() -> None:
    config = made()
    assert config.Authenticator.allowed_users == {"ada", "teacher"}
    assert not config.NativeAuthenticator.enable_signup
    assert "allow_all" not in config.Authenticator
    assert "Sign up" not in config.JupyterHub.template_vars["announcement_login"]


def test_who_signs_up_waits_for_a_grant() -> None:
    config = made(replace(SETTINGS, sign_up=True))
    assert config.NativeAuthenticator.enable_signup
    assert "open_signup" not in config.NativeAuthenticator
    assert "Sign up" in config.JupyterHub.template_vars["announcement_login"]


def test_a_learning_system_says_who_somebody_is() -> None:
    lti = Lti("1", "https://lms.example", "https://lms.example/auth", "https://lms.example/keys")
    config = made(replace(SETTINGS, lti=lti))
    kind = JupyterHub(config=config).authenticator_class
    assert kind.__name__ == "LearningSystemAuthenticator"
    found = kind(config=config)
    assert (found.client_id, found.issuer) == ({"1"}, "https://lms.example")
    assert found.get_username({"email": "Ada@example.org"}).startswith("ada-")


def test_the_desk_is_instructors_alone_and_runs_as_the_clones_owner() -> None:
    config = made()
    desk = next(s for s in config.JupyterHub.services if s["name"] == "grading")
    assert desk["user"] == "grading"
    holders = [r for r in config.JupyterHub.load_roles if "service=grading" in str(r["scopes"])]
    assert [role["groups"] for role in holders] == [["instructors"]]
    assert config.JupyterHub.load_groups == {"instructors": {"users": ["teacher"]}}


def test_idle_servers_are_stopped_after_the_minutes_that_are_set() -> None:
    config = made(replace(SETTINGS, idle_minutes=7))
    culler = next(s for s in config.JupyterHub.services if s["name"] == "idle-culler")
    assert "--timeout=420" in culler["command"]
    role = next(r for r in config.JupyterHub.load_roles if r["name"] == "idle-culler")
    assert role["services"] == ["idle-culler"]


@pytest.mark.parametrize(
    ("groups", "page"), [(["instructors"], "/services/grading/"), ([], "/hub/spawn")]
)
def test_who_logs_in_comes_to_where_they_work(groups: list[str], page: str) -> None:
    user = SimpleNamespace(groups=[SimpleNamespace(name=name) for name in groups])
    assert first_page(SimpleNamespace(current_user=user)) == page


def test_who_is_not_logged_in_does_that_first() -> None:
    assert first_page(SimpleNamespace(current_user=None)) == ""
