"""The map of tiles, and the console that wants a token. Both are settings of one more console."""

import pytest
from browser import search_url
from console_harness import Tiles

TOKEN = "Zq7console+token"


@pytest.fixture(scope="module")
def tiles():
    return Tiles()


@pytest.fixture(scope="module")
def tiled(harness, tiles):
    settings = {
        "CONSOLE_TILE_URL": tiles.origin + "/{z}/{x}/{y}.svg",
        "CONSOLE_TILE_ATTRIBUTION": "© <b>Test</b> tiles",
        "CONSOLE_TOKEN": TOKEN,
    }
    return harness.console("console-with-tiles", **settings)


@pytest.fixture
def allowed(tiled, tiles):
    return {"hosts": {tiled.url, tiles.origin}, "errors": ["status of 401"]}


def log_in(window) -> None:
    window.fill("#token", TOKEN)
    window.click("#login button")
    window.wait_for("#form, #outcomes")


def test_console_with_a_token_asks_for_it_once(browser, tiled):
    window = browser.window(search_url(tiled))
    window.fill("#token", "another")
    window.click("#login button")
    window.wait_for_text("#problem", "This is not the token.")
    assert window.axe() == []

    log_in(window)
    assert window.run("return document.cookie") == "", "no script can read the login"


def test_tiles_are_shown_with_their_attribution_as_text(browser, tiled, tiles):
    window = browser.window(search_url(tiled))
    log_in(window)
    window.wait(lambda: len(tiles.asked) > 3, "tiles")
    assert all(path.startswith("/16/") for path in tiles.asked)
    window.wait_for_text("#map-attribution", "© <b>Test</b> tiles")

    window.search()
    names = window.wait_for_places(20)
    window.wait_for_count("#map .marker", 20)
    window.click(".marker[aria-label^='2: ']")
    window.wait_for_text(".info .info-name", names[1])
    window.wait_for_count("path.circle.made", 1)
    assert window.axe() == []
