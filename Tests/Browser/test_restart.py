"""A page that was away, because the console was, catches up by itself."""

import pytest
from browser import fresh_session, search_url


@pytest.fixture
def allowed():
    return {
        "hosts": set(),
        "errors": [
            "ERR_CONNECTION_REFUSED",
            "ERR_INCOMPLETE_CHUNKED_ENCODING",
            "ERR_EMPTY_RESPONSE",
            "ERR_CONNECTION_RESET",
        ],
    }


WITH_SIGHT = """
window.sources = [];
window.EventSource = class extends EventSource { constructor(...all) { super(...all); window.sources.push(this); } };
const later = window.setTimeout;
window.setTimeout = (call, wait, ...all) => later(call, wait === 3000 ? 50 : wait, ...all);
Object.defineProperty(document, "hidden", { get: () => Boolean(window.isUnseen) });
window.see = (isSeen) => { window.isUnseen = !isSeen; document.dispatchEvent(new Event("visibilitychange")); };
"""


def test_window_that_nobody_sees_gives_its_connection_back_and_catches_up_later(browser, console):
    session = fresh_session()
    window = browser.window("about:blank")
    window.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WITH_SIGHT})
    window.driver.get(search_url(console, session))
    window.wait_for("#empty[data-kind=fresh]")

    window.run("see(false)")
    window.wait(
        lambda: window.run("return sources.every(({ readyState }) => readyState === EventSource.CLOSED)"),
        "the end of its stream",
    )
    console.send(session)
    assert not window.is_seen("#connection"), "nothing is wrong"

    window.run("see(true)")
    window.wait_for_places(20)


def test_windows_opened_in_the_background_hold_no_connection_until_they_are_seen(browser, console):
    """A browser opens six connections to a host over HTTP/1.1: a seventh stream would hold up the whole page."""
    session = fresh_session()
    windows = []
    for _ in range(7):
        window = browser.window("about:blank")
        window.driver.execute_cdp_cmd(
            "Page.addScriptToEvaluateOnNewDocument", {"source": WITH_SIGHT + "window.isUnseen = true;"}
        )
        window.driver.get(search_url(console, session))
        window.wait(lambda: "zoom=" in window.run("return location.hash"), "the page to be up")
        windows.append(window)
    for window in windows:
        assert window.use().run("return sources.length") == 0

    # An eighth one, which is seen, works beside them.
    seen = browser.window(search_url(console, session, provider="hotpepper"))
    seen.click(".search-here")
    names = seen.wait_for_places()

    window = windows[0].use()
    window.run("see(true)")
    window.wait_for_texts("#places .place-name", names)
    assert window.run("return sources.length") == 1


def test_pages_catch_up_after_the_console_was_killed_and_started_anew(browser, harness, allowed):
    console = harness.console("console-to-kill")
    allowed["hosts"].add(console.url)
    session = fresh_session()
    search = browser.window(search_url(console, session))
    search.search()
    names = search.wait_for_places()
    traffic = browser.window(console.url + "/traffic")
    traffic.fill("#filter-text", session)
    traffic.wait_for_count("#rows tr", 1)

    console.kill()
    traffic.wait_for("#connection")
    search.use().wait_for("#connection")
    assert search.texts("#places .place-name") == names, "what was known stays"
    search.click(".search-here")
    search.wait_for_text("#banner-title", "The console does not answer")

    console.start()
    search.wait_gone("#connection")
    search.wait_gone("#banner")
    search.wait_for_texts("#places .place-name", names)
    search.click(".search-here")
    search.wait_for_places()

    traffic.use().wait_gone("#connection")
    rows = lambda: traffic.texts("#rows tr")  # noqa: E731
    traffic.wait(
        lambda: len(rows()) == len(set(rows())) == 2, "the outcomes of before and after the restart, each once"
    )


def test_pages_that_were_left_hold_no_connection_and_live_again_when_gone_back_to(browser, console):
    """A browser keeps pages for its back button, and opens six connections to a host."""
    window = browser.window(console.url + "/traffic")
    for _ in range(8):
        window.driver.get(search_url(console, fresh_session(), provider="hotpepper"))
        window.click(".search-here")
        window.wait_for_places()
        window.driver.get(console.url + "/traffic")
        window.wait_for(".worker .code.good")

    window.driver.back()
    window.wait_for_places()
    window.search("fault:503")
    window.wait_for("#banner")
