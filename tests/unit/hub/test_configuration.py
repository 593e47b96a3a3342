"""JupyterHub's configuration, made of the settings."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jupyterhub.app import JupyterHub

from hub import configuration
from hub.settings import HubSettings, Lti

SETTINGS = HubSettings(Path("/srv/place"), "http://127.0.0.1:9000", memory="3G")


@pytest.fixture(params=[True, False], ids=["systemd", "processes"])
def systemd(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(configuration, "has_systemd", lambda: request.param)
    return bool(request.param)


def made(settings: HubSettings = SETTINGS) -> Any:
    return configuration.configuration(settings, Path("/srv/course/passwords.csv"))


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
    assert not any("url" in service for service in config.JupyterHub.services)


def test_nobody_signs_up_and_nobody_manages_the_hub_in_a_browser() -> None:
    config = made()
    assert not config.NativeAuthenticator.enable_signup
    assert "allow_all" not in config.Authenticator
    assert "admin_users" not in config.Authenticator
    admin = next(role for role in config.JupyterHub.load_roles if role["name"] == "admin")
    assert admin == {"name": "admin", "users": [], "services": [], "groups": []}


@pytest.mark.parametrize(
    ("host", "is_tied"),
    [("https://hub.example.org", True), ("http://hub.localhost:9000", False), ("", False)],
)
def test_students_get_domains_of_their_own_whose_cookies_are_no_other_domains(
    host: str, is_tied: bool
) -> None:
    config = made(replace(SETTINGS, subdomain_host=host))
    assert config.JupyterHub.subdomain_host == host
    assert config.JupyterHub.cookie_host_prefix_enabled == is_tied


def test_students_servers_run_what_lies_in_the_hubs_place() -> None:
    config = made()
    assert config.Spawner.cmd[0] == "/srv/place/environment/bin/python"
    assert config.Spawner.environment["PYTHONPATH"] == "/srv/place/course"
    assert "/srv/course" not in str(config.Spawner)


def test_a_learning_system_says_who_somebody_is() -> None:
    lti = Lti("1", "https://lms.example", "https://lms.example/auth", "https://lms.example/keys")
    config = made(replace(SETTINGS, lti=lti))
    kind = JupyterHub(config=config).authenticator_class
    assert kind.__name__ == "LearningSystemAuthenticator"
    found = kind(config=config)
    assert (found.client_id, found.issuer) == ({"1"}, "https://lms.example")
    assert found.get_username({"email": "Ada@example.org"}).startswith("ada-")


def test_idle_servers_are_stopped_after_the_minutes_that_are_set() -> None:
    config = made(replace(SETTINGS, idle_minutes=7))
    culler = next(s for s in config.JupyterHub.services if s["name"] == "idle-culler")
    assert "--timeout=420" in culler["command"]
    role = next(r for r in config.JupyterHub.load_roles if r["name"] == "idle-culler")
    assert role["services"] == ["idle-culler"]
