"""JupyterHub's configuration for a class, made of the few settings in `hub.toml`."""

import sys
from pathlib import Path
from typing import Any, Final

import nativeauthenticator
from traitlets.config import Config

from hub.settings import HubSettings, Lti
from hub.spawners import end_account, has_systemd, make_account
from utils.lab.page import NAME as START_PAGE

CULLER: Final = "idle-culler"
# setup.sh puts it beside the environment's Python.
PROXY: Final = Path(sys.prefix, "proxy/node_modules/.bin/configurable-http-proxy")
NARROW: Final = Path(__file__).resolve().parent / "proxy" / "narrow_service_workers.cjs"
COURSE: Final = "The Transformer encoder, from scratch"
WELCOME: Final = (
    f"<b>{COURSE}</b><br>Your name and first password come from your instructor.<br>To change the "
    "password, log in and choose File, Hub Control Panel, Change Password."
)
SECONDS_TO_START: Final = 180  # the first start copies the course; many start at once


def configuration(settings: HubSettings, passwords: Path) -> Config:
    """Return the whole configuration of a class's hub.

    Args:
        settings: the instructor's.
        passwords: the table of first passwords.

    """
    config: Any = common(settings, settings.environment / "bin/python")
    if settings.lti is None:
        _by_password(config, passwords)
    else:
        _by_learning_system(config, settings.lti)
    (_in_units if has_systemd() else _as_processes)(config, settings)
    config.Spawner.pre_spawn_hook = make_account
    config.Spawner.post_stop_hook = end_account
    return Config(config)


def common(settings: HubSettings, python: Path) -> Config:
    """Return what the class's hub and the demo's share.

    Args:
        settings: the instructor's, or the demo's.
        python: what runs students' servers.

    """
    config: Any = Config()
    _addresses(config, settings)
    _files(config, settings)
    _students_servers(config, settings, python)
    _services(config, settings)
    return Config(config)


def _addresses(config: Any, settings: HubSettings) -> None:
    """Put the hub's parts beside each other; only the proxy is for browsers."""
    config.JupyterHub.bind_url = settings.address
    config.JupyterHub.subdomain_host = settings.subdomain_host
    # A cookie with this prefix is no other domain's: what is below one sets cookies for it.
    config.JupyterHub.cookie_host_prefix_enabled = settings.subdomain_host.startswith("https:")
    config.ConfigurableHTTPProxy.command = ["node", "--require", str(NARROW), str(PROXY)]
    config.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{settings.port + 1}"
    config.JupyterHub.hub_ip = "127.0.0.1"
    config.JupyterHub.hub_port = settings.port + 2
    if settings.certificate:
        config.JupyterHub.ssl_cert, config.JupyterHub.ssl_key = settings.certificate, settings.key


def _files(config: Any, settings: HubSettings) -> None:
    config.JupyterHub.db_url = f"sqlite:///{settings.users}"
    config.JupyterHub.cookie_secret_file = str(settings.state / "cookie_secret")
    config.ConfigurableHTTPProxy.pid_file = str(settings.state / "proxy.pid")


def _students_servers(config: Any, settings: HubSettings, python: Path) -> None:
    """Run what the hub serves, in an environment that holds nothing of the clone."""
    config.Spawner.cmd = [str(python), "-P", "-m", "utils.lab.on_hub"]
    config.Spawner.default_url = f"/lab/tree/{START_PAGE}"
    config.Spawner.environment = {
        "PYTHONPATH": str(settings.served),
        "PATH": f"{python.parent}:/usr/local/bin:/usr/bin:/bin",
    }
    config.Spawner.start_timeout = config.Spawner.http_timeout = SECONDS_TO_START
    config.JupyterHub.concurrent_spawn_limit = 20
    # Jupyter takes an interrupt for a question; it stops when it is told to end.
    config.LocalProcessSpawner.interrupt_timeout = 1


def _services(config: Any, settings: HubSettings) -> None:
    """Add what stops idle servers. Nobody has more rights in a browser than a student has."""
    seconds = settings.idle_minutes * 60
    words = [sys.executable, "-m", "jupyterhub_idle_culler", f"--timeout={seconds}"]
    config.JupyterHub.services = [{"name": CULLER, "command": words}]
    config.JupyterHub.load_roles = [
        {
            "name": CULLER,
            "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"],
            "services": [CULLER],
        },
        {"name": "admin", "users": [], "services": [], "groups": []},  # nor who had them once
    ]


def _by_password(config: Any, passwords: Path) -> None:
    config.JupyterHub.authenticator_class = "hub.authenticators.PasswordAuthenticator"
    templates = Path(nativeauthenticator.__file__).parent / "templates"
    config.JupyterHub.template_paths = [str(templates)]
    config.JupyterHub.template_vars = {"announcement_login": WELCOME}
    config.PasswordAuthenticator.first_passwords = str(passwords)
    config.PasswordAuthenticator.any_allow_config = True  # the table of first passwords is one
    config.NativeAuthenticator.enable_signup = False
    config.NativeAuthenticator.minimum_password_length = 10
    config.NativeAuthenticator.check_common_password = True


def _by_learning_system(config: Any, lti: Lti) -> None:
    config.JupyterHub.authenticator_class = "hub.authenticators.LearningSystemAuthenticator"
    config.Authenticator.allow_all = True  # whom the learning system lets in
    config.LTI13Authenticator.client_id = {lti.client_id}
    config.LTI13Authenticator.issuer = lti.issuer
    config.LTI13Authenticator.authorize_url = lti.authorize_url
    config.LTI13Authenticator.jwks_endpoint = lti.jwks_endpoint
    config.LTI13Authenticator.username_key = lti.username_key
    config.LTI13Authenticator.tool_name = COURSE


def _in_units(config: Any, settings: HubSettings) -> None:
    config.JupyterHub.spawner_class = "systemdspawner.SystemdSpawner"
    config.Spawner.mem_limit, config.Spawner.cpu_limit = settings.memory, settings.cpus
    config.SystemdSpawner.isolate_tmp = True
    config.SystemdSpawner.disable_user_sudo = True
    config.SystemdSpawner.unit_extra_properties = {"TasksMax": str(settings.processes)}


def _as_processes(config: Any, settings: HubSettings) -> None:
    config.JupyterHub.spawner_class = "hub.spawners.LimitedSpawner"
    config.Spawner.mem_limit = settings.memory
    config.LimitedSpawner.process_limit = settings.processes
