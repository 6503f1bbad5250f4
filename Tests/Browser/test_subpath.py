"""A console that a proxy serves below a path: nginx with a folder of its own."""

import os
import shutil
import urllib.error
import urllib.request
from urllib.parse import urlsplit

import pytest
from browser import fresh_session
from console_harness import Console, answers
from harness.processes import free_port, wait_until

TOKEN = "Zq7-token-of-the-page"
# Debian's package puts it where only root's PATH looks.
NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
# Any other path is an error, which the browser would log.
CONFIGURATION = """
daemon off; pid {folder}/pid; error_log stderr;
events {{}}
http {{
  access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port};
    location = /maps/search {{ absolute_redirect off; return 301 /maps/search/; }}
    location /maps/search/ {{
      proxy_pass {console}/;
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_buffering off;
    }}
    location / {{ return 418; }}
  }}
}}
"""


@pytest.fixture(scope="module")
def address(harness, tmp_path_factory):
    """The address below which nginx serves a console that wants a token."""
    console: Console = harness.console("console-subpath", CONSOLE_TOKEN=TOKEN)
    folder, port = tmp_path_factory.mktemp("nginx"), free_port()
    (folder / "conf").write_text(CONFIGURATION.format(folder=folder, port=port, console=console.url))
    harness.processes.start("nginx", [NGINX, "-p", str(folder), "-c", "conf", "-e", "stderr"])
    wait_until(lambda: answers(f"http://127.0.0.1:{port}/maps/search/livez"), 20, "nginx")
    return f"http://127.0.0.1:{port}/maps/search"


@pytest.fixture
def allowed(address):
    parts = urlsplit(address)
    return {"hosts": {f"{parts.scheme}://{parts.netloc}"}, "errors": ["status of 401"]}


def test_a_proxy_serves_every_page_below_a_path(browser, address):
    with pytest.raises(urllib.error.HTTPError, match="418"):
        urllib.request.urlopen(address.removesuffix("/maps/search") + "/assets/base.css", timeout=5)

    window = browser.window(f"{address}/login")
    window.fill("#token", TOKEN)
    window.click("#login button")
    window.wait(lambda: window.run("return location.pathname") == "/maps/search/", "the search page")

    window = browser.window(f"{address}#session={fresh_session()}&provider=hotpepper")
    window.search()
    name = window.wait_for_places()[0]
    window.click("#places .place-name")
    window.click(".info [data-does=details]")
    window.wait_for_text("#detail-name", name)

    window.click("#results-life")
    window.wait(lambda: "/maps/search/request?id=" in window.run("return location.href"), "the request's page")
    window.wait_for("#lives .life")

    for view in ("dead-letters", "traffic"):
        window.click(f"nav a[href='{view}']")
        window.wait(lambda view=view: window.run("return location.pathname") == f"/maps/search/{view}", view)
        assert window.run("return document.querySelector('nav [aria-current]').getAttribute('href')") == view
    # The stream of outcomes comes through.
    window.wait_for("#rows tr")
