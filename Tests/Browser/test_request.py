"""The page of a request: its life through a real worker, from wherever one is shown."""

import json
import re
import secrets
import signal
from urllib.parse import quote

import pytest
from browser import PHONE, at_most, fresh_session, search_url
from console_harness import SHINJUKU, console_harness
from harness.processes import resume

SECONDS, BUSY = 5, 3


@pytest.fixture(scope="module")
def harness():
    """Processes of its own: one test stops the broker."""
    with console_harness("locsearch-request-") as harness:
        yield harness


@pytest.fixture(scope="module")
def console(harness):
    return harness.console("console-request", TRACING_UI_URL="https://jaeger.example/trace/{traceId}")


@pytest.fixture
def allowed():
    return {"hosts": set(), "errors": ["503 (Service Unavailable)", "404 (Not Found)"]}


def life(window) -> str:
    return window.run("return document.getElementById('lives').innerText")


def find_answered(window, id: str) -> str:
    """Looks a request up until it has its outcome, and returns what is shown."""

    def is_answered() -> bool:
        window.find_life(id)
        return window.count(".life .phases") > 0

    window.wait(is_answered, f"the life of {id}")
    return life(window)


def test_life_of_a_request_is_told_with_its_steps(browser, console, harness):
    trace, id = secrets.token_hex(16), fresh_session()
    request = {"requestId": id, "sessionId": id, "provider": "hotpepper", "location": SHINJUKU}
    headers = [("traceparent", f"00-{trace}-{secrets.token_hex(8)}-01".encode()), ("x-mark", b"<b>bold</b>")]
    harness.produce("requested", request, id, headers)

    window = browser.window(console.url + "/request")
    shown = find_answered(window, id)
    for words in ("Answered after", "Waited in the topic", "Called Hot Pepper", "Its outcome waited for publication"):
        assert words in shown, shown
    kinds = window.run("return [...document.querySelectorAll('.phase')].map((row) => row.className.split(' ')[1])")
    assert kinds[0] == "phase-topic" and "phase-call" in kinds and kinds[-1] == "phase-publish"
    # The bars stand where their phases were.
    starts = "return [...document.querySelectorAll('.track span')].map((bar) => bar.getBoundingClientRect().left)"
    assert window.run(starts) == sorted(window.run(starts))
    window.wait_for(f"a[href='https://jaeger.example/trace/{trace}']")

    window.click(".life summary")
    record = window.run("return document.querySelector('.life details').innerText")
    assert f'"requestId": "{id}"' in record and "x-mark" in record and "<b>bold</b>" in record

    # The address names the id, so that a copied link shows the same; a trace's id finds the request too.
    assert window.run("return location.search") == f"?id={id}"
    window.find_life(trace)
    assert id in life(window)
    window.driver.back()
    window.wait(lambda: window.run("return document.getElementById('life-id').value") == id, "the id before")

    window.click("#language")
    window.wait(lambda: "トピックで待機" in life(window), "the page in Japanese")
    window.click("#language")
    window.emulate(PHONE, "dark")
    assert window.run("return document.documentElement.scrollWidth <= innerWidth")


def test_page_is_reached_from_search_traffic_and_dead_letters(browser, console, harness):
    session = fresh_session()
    window = browser.window(search_url(console, session, provider="hotpepper"))
    window.search()
    window.wait_for_places()
    window.click("#results-life")
    window.wait_for(".life .phases")
    assert "Called Hot Pepper" in life(window)

    window = browser.window(search_url(console, fresh_session(), provider="hotpepper"))
    window.search("fault:503")
    window.wait_for("#banner-life")
    window.click("#banner-life")
    window.wait_for(".life .phases .is-failed")
    assert "HTTP 503" in life(window)

    broken = fresh_session()
    harness.produce("requested", {"requestId": broken, "location": {"latitude": 91}}, broken)
    window = browser.window(console.url + "/traffic")
    window.fill("#filter-text", broken)
    window.wait_for_count("#rows tr", 1)
    window.click("#rows button")
    window.wait_for("#record pre")
    window.click("#record .life-link")
    window.wait_for(".life")
    assert broken in life(window) and "Its dead letter" in life(window)

    window = browser.window(console.url + "/traffic")
    window.click("#dead-open")
    window.click("#dead-rows .life-link")
    window.wait_for(".life")
    assert "Its dead letter" in life(window)


def test_recent_requests_are_listed_until_one_is_looked_up(browser, console):
    ids = [console.send(fresh_session(), provider="hotpepper", keyword=word) for word in ("cafe", "fault:503")]
    window = browser.window(console.url + "/request")
    window.wait(lambda: all(id in window.text("#recent-rows") for id in ids), "both requests")
    assert "upstream-unavailable" in window.text("#recent-rows")
    number = window.texts("#recent-rows .life-link").index(ids[1])
    window.click("#recent-rows .life-link", number)
    window.wait_for(".life .phases .is-failed")
    assert ids[1] in life(window) and not window.is_seen("#recent")
    window.driver.back()
    window.wait_for("#recent-rows li")


def test_id_that_nobody_knows_says_what_was_read(browser, console):
    window = browser.window(f"{console.url}/request?id={quote('<img src=x>')}")
    window.wait_for_text("#life-note p", "This id was not found in the records that were read:")
    note = window.run("return document.getElementById('life-note').innerText")
    assert "location-search.requests" in note and "location-search.dead-letters" in note
    assert window.count("img") == 0


def test_request_that_waits_says_how_many_are_before_it(browser, console, harness):
    harness.kill_worker()
    try:
        last = ""
        for _ in range(6):
            last = fresh_session()
            harness.produce("requested", {"requestId": last, "provider": "hotpepper", "location": SHINJUKU}, b"one-key")
        window = browser.window(f"{console.url}/request?id={last}")
        window.wait_for(".life")
        assert re.search(r"It waits in partition \d, with \d+ records before it\.", life(window)), life(window)
    finally:
        harness.restart_worker()
    window.wait(lambda: "Answered after" in life(window), "the answer, which the page looks for by itself", within=60)


def test_broker_that_is_away_is_told_in_time(browser, console, harness):
    window = browser.window(console.url + "/request")
    window.wait_for("#life-id")
    harness.broker.send_signal(signal.SIGSTOP)
    try:
        window.fill("#life-id", "any")
        window.click(".look-up button")
        with at_most(SECONDS + BUSY):
            window.wait_for_text("#life-reading", "Reading the topics …")
            window.wait_for_text("#life-note p", "Kafka does not answer. Try again once it does.")
    finally:
        resume(harness.broker)


def test_answer_is_json_for_programs_too(console, browser):
    window = browser.window(console.url + "/request")
    answer = window.run("return fetch('/api/requests?id=nobody').then((answer) => answer.text())")
    assert json.loads(answer)["requests"] == []
