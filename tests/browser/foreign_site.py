"""Another web site, on a second address of this machine, with one page that leads elsewhere."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, quote, urlsplit

from tests.browser.chrome import Chrome

ADDRESS = "127.0.0.2"  # another host than JupyterLab's, so another site to a browser
# With the rights of JupyterLab's pages; a terminal runs whatever is typed into it.
ATTACK = (
    "document.title=`ran`;"
    "fetch(`/api/terminals`,{method:`POST`,headers:{[`X-XSRFToken`]:"
    "document.cookie.match(/_xsrf=([^;]*)/)[1]}})"
)


class _Page(BaseHTTPRequestHandler):
    """A page that does at once what its address says: `go` somewhere, or `post` to somewhere."""

    def do_GET(self) -> None:
        asked = parse_qs(urlsplit(self.path).query)
        if "go" in asked:
            body = f"<script>location = {json.dumps(asked['go'][0])}</script>"
        else:
            action = asked.get("post", [""])[0]
            body = f"<form method=post action='{action}'></form><script>document.forms[0].submit()"
            body += "</script>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (its name there)
        pass


@contextmanager
def foreign_site() -> Iterator[str]:
    """Serve the site; gives its address."""
    server = ThreadingHTTPServer((ADDRESS, 0), _Page)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://{ADDRESS}:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def visit(page: Chrome, site: str, way: str, target: str) -> str:
    """Open the foreign page that goes or posts to an address; gives the title of the result."""
    page.open("about:blank")
    page.wait("location.href === 'about:blank'")
    page.open(f"{site}?{way}={quote(target, safe='')}")
    host = urlsplit(target).netloc
    page.wait(f"location.host === '{host}' && document.readyState === 'complete'")
    title: str = page.run("new Promise(done => setTimeout(() => done(document.title), 500))")
    return title


def attacks(folder: str) -> list[str]:
    """Give addresses that ran something: a script in the page, or a folder's configuration."""
    script = quote(f"<script>{ATTACK}</script>", safe="")
    string = quote(f'";{ATTACK};"', safe="")
    return [
        f"/formgrader/manage_students/{string}",
        f"/formgrader/manage_submissions/{string}",
        f"/formgrader/gradebook/{string}",
        f"/formgrader/gradebook/a/{string}",
        f"/formgrader/manage_students/a/{script}",
        f"/formgrader?path={quote(folder)}",
        f"/formgrader/?path={quote(folder)}",
        f"/nbgrader_version?version={script}",
        f"/assignments?course_id={script}",
        "/formgraders",
    ]
