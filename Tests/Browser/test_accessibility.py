"""axe finds nothing wrong: both views, light and dark, on a wide screen and on a phone, with as much as possible on
them.
"""

import pytest
from browser import DESKTOP, PHONE, search_url

LOOKS = [(size, theme) for size in (DESKTOP, PHONE) for theme in ("light", "dark")]


def check_all_looks(window, what: str) -> None:
    for size, theme in LOOKS:
        window.emulate(size, theme)
        found = window.axe()
        assert found == [], f"{what}, {theme}, {size[0]} pixels wide"


@pytest.mark.parametrize("language", ["en", "ja"])
def test_search_page_is_usable_by_all(browser, console, language):
    window = browser.window(search_url(console, provider="hotpepper"))
    window.wait_for("#empty")
    if language == "ja":
        window.click("#language")
    check_all_looks(window, "before a search")

    window.emulate(*LOOKS[0])
    window.search()
    window.wait_for_places()
    window.click("#places .place button", 1)
    window.click(".info [data-does=details]")
    window.wait_for("#detail .picture.is-loaded")
    window.click("#places .place button", 2)
    window.wait_for(".info")
    window.search("fault:503")
    window.wait_for("#banner")
    check_all_looks(window, "after a search that failed")


def test_traffic_page_is_usable_by_all(browser, console):
    console.send("accessible", provider="hotpepper")
    console.send("accessible", provider="hotpepper", keyword="fault:503")
    window = browser.window(console.url + "/traffic")
    window.wait_for("#rows tr")
    window.wait_for(".worker .code.good")
    check_all_looks(window, "the traffic page")

    window.run("document.querySelector('#rows tr').click()")
    window.wait_for("#record pre")
    check_all_looks(window, "with a record")
    window.click("#record-close")


@pytest.mark.parametrize("language", ["en", "ja"])
def test_page_of_dead_letters_is_usable_by_all(browser, console, harness, language):
    for value in (b'{"location": {"latitude": 91', b'{"location": {"latitude": 191, "longitude": 139}}'):
        harness.produce("requested", value, "accessible")
    window = browser.window(console.url + "/dead-letters")
    if language == "ja":
        window.click("#language")
    window.wait(lambda: window.count("#dead-rows tr") >= 2 or window.click("#dead-list"), "two letters")
    check_all_looks(window, "the page of dead letters")

    window.emulate(*LOOKS[0])
    window.click("#dead-rows .time button")
    window.click("#letter-edit")
    window.wait_for("#letter-verdict.is-bad")
    check_all_looks(window, "with a letter that is edited")
    window.click("#letter-cancel")
    window.click("#letter-send")
    window.wait_for("#confirm")
    check_all_looks(window, "with the question")


@pytest.mark.parametrize("language", ["en", "ja"])
def test_request_page_is_usable_by_all(browser, console, harness, language):
    window = browser.window(console.url + "/request")
    window.wait_for("#life-id")
    if language == "ja":
        window.click("#language")
    check_all_looks(window, "before a request is looked up")

    failed = console.send("accessible", provider="hotpepper", keyword="fault:503")
    window.find_life(failed)
    window.wait_for(".life .phases .is-failed")
    window.click(".life summary")
    window.wait_for(".life pre")
    check_all_looks(window, "with a request that failed")

    window.emulate(*LOOKS[0])
    window.find_life("no-such-request")
    window.wait_for("#life-note li")
    check_all_looks(window, "with nothing found")


def test_reduced_motion_is_honoured(browser, console):
    window = browser.window(search_url(console))
    window.wait_for("#empty")
    window.wait_for_result(
        "return getComputedStyle(document.querySelector('.marker, .picture, #panel')).transitionDuration", "0s"
    )
