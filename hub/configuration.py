"""JupyterHub's configuration for a class, made of the few settings in `hub.toml`."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import nativeauthenticator
from traitlets.config import Config

from hub.passwords import FILE as PASSWORDS
from hub.settings import DESK, DESK_PAGE, DESK_PREFIX, HubSettings
from hub.spawners import has_systemd, make_account
from utils.lab.page import NAME as START_PAGE

INSTRUCTORS: Final = "instructors"
CULLER: Final = "idle-culler"
# setup.sh puts it beside the environment's Python.
PROXY: Final = Path(sys.prefix, "proxy/node_modules/.bin/configurable-http-proxy")
COURSE: Final = "The Transformer encoder, from scratch"
WELCOME: Final = (
    f"<b>{COURSE}</b><br>Your name and first password come from your instructor.<br>To change the "
    "password, log in and choose File, Hub Control Panel, Change Password."
)
SIGN_UP: Final = (
    '<br>You have none yet? <a href="/hub/signup">Sign up</a>, and wait until an instructor has '
    "granted it."
)
SECONDS_TO_START: Final = 180  # the first start copies the course; many start at once


@dataclass(frozen=True)
class Hub:
    """What a hub is made of.

    Attributes:
        root: the clone that is graded in, whose environment everybody uses.
        settings: the instructor's.
        owner: the account of the clone, which grades; "" to grade as who runs the hub.
        students: the names of the class.

    """

    root: Path
    settings: HubSettings
    owner: str = ""
    students: tuple[str, ...] = ()

    @property
    def python(self) -> str:
        """Return the environment's Python, which runs the hub too."""
        return sys.executable

    @property
    def passwords(self) -> Path:
        """Return the table of first passwords."""
        return self.root / PASSWORDS


def configuration(hub: Hub) -> Config:
    """Return the whole configuration of a class's hub."""
    config: Any = common(hub)
    (_by_learning_system if hub.settings.lti else _by_password)(config, hub)
    (_in_units if has_systemd() else _as_processes)(config, hub.settings)
    config.Spawner.pre_spawn_hook = make_account
    return Config(config)


def common(hub: Hub) -> Config:
    """Return what the class's hub and the demo's share."""
    config: Any = Config()
    _addresses(config, hub)
    _files(config, hub.settings)
    _students_servers(config, hub)
    _services(config, hub)
    return Config(config)


def _addresses(config: Any, hub: Hub) -> None:
    """Put the hub's parts beside each other; only the proxy is for browsers."""
    settings = hub.settings
    config.JupyterHub.bind_url = settings.address
    config.ConfigurableHTTPProxy.command = [str(PROXY)]
    config.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{settings.port + 1}"
    config.JupyterHub.hub_ip = "127.0.0.1"
    config.JupyterHub.hub_port = settings.port + 2
    if settings.certificate:
        config.JupyterHub.ssl_cert, config.JupyterHub.ssl_key = settings.certificate, settings.key


def _files(config: Any, settings: HubSettings) -> None:
    config.JupyterHub.db_url = f"sqlite:///{settings.state / 'jupyterhub.sqlite'}"
    config.JupyterHub.cookie_secret_file = str(settings.state / "cookie_secret")
    config.ConfigurableHTTPProxy.pid_file = str(settings.state / "proxy.pid")


def _students_servers(config: Any, hub: Hub) -> None:
    """Run what the hub serves, with the clone's environment and nothing else of the clone."""
    python = Path(hub.python)
    config.Spawner.cmd = [hub.python, "-P", "-m", "utils.lab.on_hub"]
    config.Spawner.default_url = f"/lab/tree/{START_PAGE}"
    config.Spawner.environment = {
        "PYTHONPATH": str(hub.settings.served),
        "PATH": f"{python.parent}:/usr/local/bin:/usr/bin:/bin",
    }
    config.Spawner.start_timeout = config.Spawner.http_timeout = SECONDS_TO_START
    config.JupyterHub.concurrent_spawn_limit = 20
    # Jupyter takes an interrupt for a question; it stops when it is told to end.
    config.LocalProcessSpawner.interrupt_timeout = 1


def _services(config: Any, hub: Hub) -> None:
    """Add the grading desk, which only instructors enter, and what stops idle servers."""
    settings = hub.settings
    grading = {
        "name": DESK,
        "url": f"http://127.0.0.1:{settings.port + 3}",
        "command": [hub.python, "-m", "hub.desk"],
        "cwd": str(hub.root),
        "user": hub.owner,
        "environment": {"PYTHONPATH": str(hub.root), "JUPYTERHUB_DEFAULT_URL": DESK_PAGE},
        "oauth_no_confirm": True,
    }
    seconds = settings.idle_minutes * 60
    culler = {
        "name": CULLER,
        "command": [hub.python, "-m", "jupyterhub_idle_culler", f"--timeout={seconds}"],
    }
    config.JupyterHub.services = [grading, culler]
    config.JupyterHub.load_groups = {INSTRUCTORS: {"users": list(settings.instructors)}}
    config.JupyterHub.load_roles = [
        {
            "name": INSTRUCTORS,
            "scopes": ["self", f"access:services!service={DESK}"],
            "groups": [INSTRUCTORS],
        },
        {
            "name": CULLER,
            "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"],
            "services": [CULLER],
        },
    ]
    config.Authenticator.admin_users = set(settings.instructors)
    config.JupyterHub.default_url = first_page


def first_page(handler: Any) -> str:
    """Return where somebody goes: instructors to the desk, students to their server."""
    user = handler.current_user
    if user is None:
        return ""  # to log in first, then here again
    grades = any(group.name == INSTRUCTORS for group in user.groups)
    return DESK_PREFIX if grades else "/hub/spawn"


def _by_password(config: Any, hub: Hub) -> None:
    config.JupyterHub.authenticator_class = "hub.authenticators.PasswordAuthenticator"
    templates = Path(nativeauthenticator.__file__).parent / "templates"
    config.JupyterHub.template_paths = [str(templates)]
    config.JupyterHub.template_vars = {
        "announcement_login": WELCOME + SIGN_UP * hub.settings.sign_up
    }
    config.PasswordAuthenticator.first_passwords = str(hub.passwords)
    config.NativeAuthenticator.enable_signup = hub.settings.sign_up
    config.NativeAuthenticator.minimum_password_length = 10
    config.NativeAuthenticator.check_common_password = True
    config.NativeAuthenticator.allowed_failed_logins = 10
    config.NativeAuthenticator.seconds_before_next_try = 60
    if hub.settings.sign_up:  # the instructor's grant is what allows somebody
        config.Authenticator.allow_all = True
    else:
        config.Authenticator.allowed_users = {*hub.students, *hub.settings.instructors}
        config.Authenticator.allow_existing_users = False


def _by_learning_system(config: Any, hub: Hub) -> None:
    lti = hub.settings.lti
    assert lti is not None
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
