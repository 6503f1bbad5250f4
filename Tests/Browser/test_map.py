"""The map of tiles, and the console that wants a token. Both are settings of one more console."""

import pytest
from browser import DESKTOP, PHONE, search_url
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
    window.wait_for_text("#problem", "The token is wrong.")
    assert window.axe() == []

    log_in(window)
    assert window.run("return document.cookie") == "", "no script can read the login"


def test_link_to_a_request_leads_there_by_the_form(browser, tiled):
    window = browser.window(tiled.url + "/request?id=some-request")
    window.fill("#token", TOKEN)
    window.click("#login button")
    window.wait_for("#look-up")
    assert window.run("return document.getElementById('life-id').value") == "some-request"

    window.driver.delete_all_cookies()
    window.driver.get(tiled.url + "/login")
    log_in(window)
    assert window.run("return location.pathname") == "/"


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
    window.wait_for_count("circle.circle.made", 1)
    assert window.axe() == []


# The colour of the map at a location, as the outline drew it.
COLOUR = """
return (async () => {
const canvas = document.querySelector("#map canvas.ground");
const [{ project }, link] = [await import("/assets/mercator.js"), new URLSearchParams(location.hash.slice(1))];
const zoom = Number(link.get("zoom"));
const center = project({ latitude: Number(link.get("lat")), longitude: Number(link.get("lng")) }, zoom);
const at = project({ latitude: arguments[0], longitude: arguments[1] }, zoom);
const x = (at.x - center.x + canvas.clientWidth / 2) * devicePixelRatio;
const y = (at.y - center.y + canvas.clientHeight / 2) * devicePixelRatio;
const copy = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
copy.drawImage(canvas, Math.round(x), Math.round(y), 1, 1, 0, 0, 1, 1);
return [...copy.getImageData(0, 0, 1, 1).data.slice(0, 3)];
})();
"""


def is_water(colour: list[int]) -> bool:
    red, _, blue = colour
    return blue > red + 10


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_map_without_tiles_shows_land_and_water(browser, console, theme):
    window = browser.window(search_url(console, lat=35.5, lng=139.7, zoom=9), theme=theme)
    window.wait_for("#map canvas.ground[data-state=drawn]")
    window.wait(lambda: is_water(window.run(COLOUR, 35.3, 139.4)), "the bay of Sagami")
    assert is_water(window.run(COLOUR, 35.5, 139.9)), "the bay of Tokyo"
    assert not is_water(window.run(COLOUR, 35.72, 139.5)), "Tokyo"
    assert not is_water(window.run(COLOUR, 35.3, 140.2)), "the peninsula of Boso"
    window.wait_for_text("#map-attribution", "Natural Earth")
    assert window.axe() == []


@pytest.mark.parametrize("size", [DESKTOP, PHONE, (900, 700)])
def test_console_without_a_simulator_says_what_adds_streets_in_one_line(browser, harness, allowed, size):
    console = harness.console(f"console-plain-{size[0]}", CONSOLE_PICTURE_BASE_URL=None)
    allowed["hosts"].add(console.url)
    window = browser.window(search_url(console), size)
    window.wait_for_text("#map-attribution", "Natural Earth · console.tileURL adds streets")
    credit = "const credit = document.getElementById('map-attribution');"
    assert window.run(credit + "return credit.scrollWidth <= credit.clientWidth && credit.clientHeight < 24")


def test_console_with_a_simulator_shows_its_streets(browser, console):
    window = browser.window(search_url(console))
    window.wait_for_text("#map-attribution", "Natural Earth")
    asked = (
        "return performance.getEntriesByType('resource').filter(({ name }) => name.includes('/api/streets/')).length"
    )
    window.wait(lambda: window.run(asked) > 0, "streets")


def test_nothing_covers_an_info_window_on_a_phone(browser, console):
    window = browser.window(search_url(console, provider="hotpepper"), PHONE)
    window.wait_for("#map canvas.ground[data-state=drawn]")
    window.search()
    count = len(window.wait_for_places())
    # The topmost element at points in the whole window but its round corners, after the map has moved.
    covered = """
        const info = document.querySelector(".info");
        const { left, top, width, height } = info.getBoundingClientRect();
        const at = [0.07, 0.25, 0.5, 0.75, 0.93];
        return at.flatMap((x) => at.map((y) => document.elementFromPoint(left + x * width, top + y * height)))
          .filter((element) => !info.contains(element)).map((element) => element?.className ?? "outside")"""
    for number in range(0, count, 3):
        window.run("document.querySelectorAll('.marker')[arguments[0]].click()", number)
        name = window.texts("#places .place-name")[number]
        window.wait_for_text(".info .info-name", name)
        window.wait_for_value(lambda: window.run(covered), [], f"what covers the info window of {name}")


def test_lakes_and_inland_seas_are_water(browser, console):
    window = browser.window(search_url(console, lat=40, lng=50, zoom=4))
    window.wait_for("#map canvas.ground[data-state=drawn]")
    window.wait(lambda: is_water(window.run(COLOUR, 41.5, 50.5)), "the Caspian Sea")
    assert is_water(window.run(COLOUR, 43, 34)), "the Black Sea"
    assert not is_water(window.run(COLOUR, 48, 56)), "the steppe"


@pytest.mark.parametrize(
    "text, latitude, longitude",
    [
        ("Kyoto", 35.0116, 135.7681),
        ("sao paulo", -23.5505, -46.6333),
        ("京都", 35.0116, 135.7681),
        ("sappo", 43.0621, 141.3544),
        ("34.5, 135.25", 34.5, 135.25),
    ],
)
def test_field_above_the_map_goes_to_a_town(browser, console, text, latitude, longitude):
    window = browser.window(search_url(console))
    window.wait_for("#map canvas.ground[data-state=drawn]")
    window.fill("#jump input", text + "\n")
    at = f"lat={latitude:.6f}&lng={longitude:.6f}&zoom=15"
    window.wait(lambda: at in window.run("return location.hash"), f"the map at {text}")
    assert window.run("return document.querySelector('#jump input').value") == ""


def test_name_that_the_map_does_not_know_is_said_and_moves_nothing(browser, console):
    window = browser.window(search_url(console, lat=35.5, lng=139.7, zoom=9))
    window.wait_for("#map canvas.ground[data-state=drawn]")
    window.fill("#jump input", "Atlantis\n")
    message = "return document.querySelector('#jump input').validationMessage"
    window.wait(lambda: "knows no place" in window.run(message), "the browser's note")
    assert "lng=139.7" in window.run("return location.hash") and "zoom=9" in window.run("return location.hash")
    window.fill("#jump input", "Nara")
    assert window.run(message) == "", "what is typed next is not refused before it is whole"
