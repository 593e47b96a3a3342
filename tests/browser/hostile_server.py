"""A student's server on a hub that serves pages to everybody, with a service worker for all it can.

A student can put anything in the place of JupyterLab: here, an extension adds pages to it.
"""

import json
import os
import pwd
import secrets
from pathlib import Path

from tests.browser.chrome import Chrome

SETTINGS = """
import sys
sys.path.insert(0, {folder!r})
c = get_config()
c.ServerApp.jpserver_extensions = {{"hostile": True}}
"""
EXTENSION = """
from tornado.web import RequestHandler

class Page(RequestHandler):
    def get(self):
        self.write("<title>Look here</title>")

class Worker(RequestHandler):
    def get(self):
        self.set_header("Content-Type", "text/javascript")
        self.set_header("Service-Worker-Allowed", "/")
        self.write(
            "addEventListener('install', () => skipWaiting());"
            "addEventListener('activate', event => event.waitUntil(clients.claim()));"
            "addEventListener('fetch', event => event.respondWith(new Response('taken')));"
        )

def _load_jupyter_server_extension(app):
    home = app.base_url + {secret!r}
    app.web_app.add_handlers(".*", [(home + "/page", Page), (home + "/worker.js", Worker)])
"""


def make_hostile(name: str) -> str:
    """Let a student's server serve such pages from its next start on; give their folder's path."""
    home, secret = Path("/home", name), secrets.token_hex(4)
    for file, text in (
        (home / ".jupyter/jupyter_server_config.py", SETTINGS.format(folder=str(home))),
        (home / "hostile.py", EXTENSION.replace("{secret!r}", repr(secret))),
    ):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        for path in (file.parent, file):
            os.chown(path, pwd.getpwnam(name).pw_uid, -1)
    return f"/user/{name}/{secret}/"


def register(page: Chrome, scope: str) -> str:
    """Register the worker of the page's folder for a scope; give what the browser says of it."""
    worker = "location.pathname.replace('page', 'worker.js')"
    said: str = page.run(
        f"navigator.serviceWorker.register({worker}, {{scope: {json.dumps(scope)}}})"
        ".then(() => navigator.serviceWorker.ready.then(() => 'registered'), error => `${error}`)"
    )
    return said
