"""A page that knows the pipeline: each fault is told within 5 s, with what becomes of the search, while it lasts."""

import re
import signal

import pytest
from browser import DESKTOP, PHONE, at_most, fresh_session, search_url
from console_harness import console_harness
from harness.processes import resume

# The time in which the page must say what is wrong, and how much longer a busy machine may take to draw and to look.
SECONDS = 5
BUSY = 3
# The outcome of a page's request is wanted for a minute.
UNTIL_EXPIRED = 90


@pytest.fixture(scope="module")
def harness():
    """Processes of its own: what is broken here must not be missed by other tests."""
    with console_harness("locsearch-faults-") as harness:
        yield harness


@pytest.fixture(scope="module")
def console(harness):
    return harness.console("console-faults")


@pytest.fixture
def allowed():
    errors = ["ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET"]
    return {"hosts": set(), "errors": [*errors, "ERR_INTERNET_DISCONNECTED", "503 (Service Unavailable)"]}


def search_and_time(window, title: str) -> None:
    """Searches, and checks that the banner's title comes in time."""
    window.click(".search-here")
    with at_most(SECONDS + BUSY):
        window.wait_for_text("#banner-title", title)


def begin(browser, console):
    """Opens the page with a list on it."""
    window = browser.window(search_url(console, fresh_session(), provider="hotpepper"))
    window.search()
    return window, window.wait_for_places()


def go_offline(window, is_offline: bool) -> None:
    conditions = {"offline": is_offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    window.driver.execute_cdp_cmd("Network.enable", {})
    window.driver.execute_cdp_cmd("Network.emulateNetworkConditions", conditions)


def test_search_without_a_worker_says_so_and_is_answered_by_one_that_comes(browser, console, harness):
    window, names = begin(browser, console)
    harness.kill_worker()
    try:
        search_and_time(window, "No worker is running")
        assert re.search(r"waits in Kafka.* by \d+:\d+:\d+.* costs nothing", window.text("#banner-advice"))
        window.wait_for_text("#connection", "No worker is running")
        assert window.texts("#places .place-name") == names
        assert window.text("#superseded") == "Still showing the previous search"

        for size, theme in [(DESKTOP, "light"), (PHONE, "dark")]:
            window.emulate(size, theme)
            assert window.axe() == []
        window.emulate(DESKTOP, "light")
        window.click("#language")
        window.wait_for_text("#banner-title", "ワーカーが動いていません")
        window.click("#language")

        # The time of the request ends, and the page waits no longer.
        window.wait(
            lambda: "expired at" in window.text("#banner-advice"), "the end of the request", within=UNTIL_EXPIRED
        )
        window.wait_gone("#progress")
        assert window.text("#superseded").startswith("The last search had no response")
        window.wait_for("#banner-retry")
    finally:
        harness.restart_worker()

    window.wait_gone("#connection")
    # The worker has found it too late, and has asked nobody.
    window.wait_for_text("#banner-title", "The request waited too long")
    window.click(".search-here")
    window.wait_gone("#banner")
    window.wait_for_places()


def test_details_that_nobody_answers_are_given_up(browser, console, harness):
    window, names = begin(browser, console)
    harness.kill_worker()
    try:
        window.click("#places .place-name", 1)
        window.click(".info [data-does=details]")
        window.wait_for("#detail.is-loading .detail-progress")
        window.wait_gone("#detail.is-loading", within=UNTIL_EXPIRED)
        assert window.count("#detail .spinner") == 0
        assert window.text("#detail-name") == names[1]
        assert window.run("return document.querySelector('#detail [data-does=details]').ariaDisabled") is None
    finally:
        harness.restart_worker()


def test_search_while_the_broker_is_away_is_not_sent_and_its_banner_goes(browser, console, harness):
    window, names = begin(browser, console)
    harness.broker.send_signal(signal.SIGSTOP)
    try:
        search_and_time(window, "Kafka does not take requests at present")
        assert "was probably not sent" in window.text("#banner-advice")
        window.wait_for_text("#connection", "Kafka does not answer")
        assert window.texts("#places .place-name") == names
    finally:
        resume(harness.broker)

    window.wait_gone("#banner")
    # The failures of this test and of those before it may be most of the last minute's outcomes, and then that is said.
    window.wait(lambda: not window.is_seen("#connection") or "Kafka" not in window.text("#connection"), "Kafka again")
    harness.wait_for_worker()
    window.click(".search-here")
    window.wait_for_places()


def test_browser_that_is_offline_says_so_until_it_is_back(browser, console):
    window, names = begin(browser, console)
    go_offline(window, True)
    try:
        search_and_time(window, "This browser is offline")
        assert "was probably not sent" in window.text("#banner-advice")
        window.wait_for_text("#connection", "This browser is offline")
        window.wait_for_text("#superseded", "As it was before the connection was lost")
        assert window.count("#map-area.is-old") == 1 and window.texts("#places .place-name") == names
    finally:
        go_offline(window, False)

    window.wait_gone("#banner")
    window.wait_gone("#connection")
    window.wait_gone("#superseded")
    window.click(".search-here")
    window.wait_for_places()


def test_search_goes_on_while_the_console_is_away(browser, harness, allowed):
    console = harness.console("console-that-dies")
    allowed["hosts"].add(console.url)
    window, _ = begin(browser, console)
    window.search("fault:delay=9000")
    window.wait_for("#results[aria-busy=true]")
    console.kill()
    window.wait_for_text("#banner-title", "The console does not answer")
    assert "continues without this page" in window.text("#banner-advice")
    window.wait_for_text("#connection", "Connection lost, trying again")

    console.start()
    window.wait_gone("#connection")
    window.wait(lambda: window.text("#banner-title") != "The console does not answer", "the end of the banner")


def test_console_that_stands_still_is_away(browser, harness, allowed):
    console = harness.console("console-that-stands-still")
    allowed["hosts"].add(console.url)
    # A picture that the console fetched before it was stopped times out, and the page then gets a 404.
    allowed["errors"].append("/api/pictures")
    window, names = begin(browser, console)
    console.process.send_signal(signal.SIGSTOP)
    try:
        search_and_time(window, "The console does not answer")
        window.wait_for_text("#connection", "Connection lost, trying again")
        assert window.texts("#places .place-name") == names
    finally:
        resume(console.process)

    try:
        window.wait_gone("#connection")
        window.wait_gone("#banner")
    except AssertionError as error:
        raise AssertionError(f"{error}; {console.said()}") from None


def test_slow_answer_is_told_from_a_fault(browser, console):
    window, _ = begin(browser, console)
    window.search("fault:delay=9000")
    window.wait_for_text("#banner-title", "No answer yet")
    assert "waits in Kafka" in window.text("#banner-advice") and not window.is_seen("#connection")
    window.wait(lambda: window.text("#banner-title") != "No answer yet", "the outcome")
