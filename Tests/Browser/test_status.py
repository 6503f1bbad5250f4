"""The fleet's card and what needs attention: what fails is named above the charts, with its share and its reason."""

import re
import threading
import urllib.request

import pytest
from browser import DESKTOP, PHONE, fresh_session
from confluent_kafka import Consumer
from console_harness import ConsoleHarness, console_harness

GROUP = "location-search-worker"
BUSY = 120


class StatusHarness(ConsoleHarness):
    """A worker whose breakers react to a rejected key, and to nothing else."""

    def _worker_settings(self) -> dict[str, str]:
        breakers = {"PROVIDERS_HOTPEPPER_BREAKER_ENABLED": "true", "PROVIDERS_HOTPEPPER_BREAKER_MINIMUM_CALLS": "10000"}
        return super()._worker_settings() | breakers


@pytest.fixture(scope="module")
def harness():
    with console_harness("locsearch-status-", StatusHarness) as harness:
        yield harness


@pytest.fixture(scope="module")
def console(harness):
    return harness.console("console-status")


@pytest.fixture
def window(browser, console):
    window = browser.window(console.url + "/traffic")
    is_verdict(window, "Taking requests")
    return window


def text(window, selector: str) -> str:
    return window.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector)


def is_verdict(window, words: str) -> None:
    window.wait(lambda: text(window, "#fleet-verdict") == words, f"the verdict {words}", within=BUSY)


def send(console, count: int, **members) -> None:
    """Sends searches that differ: equal ones would share a call."""
    for number in range(count):
        console.send(fresh_session(), provider="hotpepper", radiusMeters=500 + number, **members)


def check_looks(window) -> None:
    for size, theme in [(PHONE, "dark"), (DESKTOP, "light")]:
        window.emulate(size, theme)
        assert window.run("return document.documentElement.scrollWidth <= innerWidth"), size
        assert window.axe() == []


def test_foreign_member_that_takes_a_partition_is_named(window, console, harness):
    send(console, 1)
    joined, leaves = threading.Event(), threading.Event()
    foreign = Consumer(
        {
            "bootstrap.servers": harness.bootstrap,
            "group.id": GROUP,
            "client.id": "foreign",
            "session.timeout.ms": 6000,
            "partition.assignment.strategy": "range",
        }
    )

    def read() -> None:
        foreign.subscribe(["location-search.requests"], on_assign=lambda _, partitions: partitions and joined.set())
        while not leaves.is_set():
            foreign.poll(0.2)
        foreign.close()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        assert joined.wait(BUSY), "the foreign member got no partition"
        is_verdict(window, "Partitions unread")
        assert "No worker reads 1 of 2 partitions" in text(window, "#failing-parts")
        window.wait_for_text("#connection", "Some requests reach no worker")
        check_looks(window)
    finally:
        leaves.set()
    is_verdict(window, "Taking requests")
    window.wait_gone("#failing")


def test_share_of_failures_is_told_above_the_charts(window, console):
    assert not window.is_seen("#failing")
    send(console, 1)
    window.wait(lambda: "No failure among" in text(window, "#fleet-health"), "the share of the fleet's card")
    send(console, 6, keyword="fault:503")
    is_verdict(window, "Answering with errors")
    failing = text(window, "#failing-parts")
    assert re.search(r"\d+ % of \d+ outcomes in the last .* are failures, mostly upstream-unavailable", failing), (
        failing
    )
    assert "Hot Pepper: called, and fails" in failing
    assert window.run(
        "return document.getElementById('failing').getBoundingClientRect().bottom <= "
        "document.getElementById('rate-chart').getBoundingClientRect().top"
    )
    # The worker takes requests all the while.
    assert "1 of 1 ready" in text(window, "#fleet-figures")
    window.wait_for_text("#connection", "Requests are failing")
    check_looks(window)
    window.click("#language")
    is_verdict(window, "エラーで応答中")
    window.click("#language")

    send(console, 12)
    is_verdict(window, "Taking requests")
    window.wait_gone("#failing")


def test_rejected_key_is_told_and_retried(window, console, harness):
    send(console, 20)
    send(console, 1, keyword="fault:2000")
    is_verdict(window, "Answering with errors")
    window.wait(
        lambda: "Hot Pepper: not called, it rejects the API key" in text(window, "#failing-parts"),
        "why it is not called",
    )
    window.wait(lambda: "Answers with errors" in text(window, ".worker"), "the worker's card")
    assert "no provider is available: hotpepper: key-refused" in text(window, ".worker")
    with urllib.request.urlopen(harness.worker + "/readyz", timeout=5) as ready:
        assert ready.status == 200
        assert ready.read().decode().startswith("answers with errors: no provider is available")

    window.wait(lambda: "Call again" in text(window, "#controls-orders"), "the way to retry")
    window.click("#controls-orders button")
    window.wait_for("#controls-confirm[open]")
    assert "Call Hot Pepper again?" in text(window, "#controls-title")
    check_looks(window)
    window.click("#controls-do")
    window.wait(lambda: "1 of 1 workers have applied it" in text(window, "#controls-note"), "the worker's answer")
    send(console, 3)
    is_verdict(window, "Taking requests")
    window.wait(lambda: text(window, "#controls-orders") == "", "the end of the offer")
