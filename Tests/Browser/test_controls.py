"""What an operator does with the controls of the traffic page."""

import json

import pytest
from browser import DESKTOP, PHONE
from test_accessibility import check_all_looks


@pytest.fixture
def window(browser, console):
    window = browser.window(console.url + "/traffic")
    window.wait_for_count("#controls-target option[value=hotpepper]", 1)
    return window


def choose(window, name: str, value: str) -> None:
    window.run(f"document.getElementById('controls-{name}').value = {json.dumps(value)}")


def pause(window, target: str, time: str = "0") -> None:
    choose(window, "target", target)
    choose(window, "time", time)
    window.click("#controls-form button")
    window.wait_for("#controls-confirm[open]")


def resume_all(window) -> None:
    """Leaves no order to the next test."""
    while window.run("return document.querySelectorAll('#controls-orders button').length"):
        count = window.run("return document.querySelectorAll('#controls-orders li').length")
        window.click("#controls-orders button")
        window.wait_for("#controls-confirm[open]")
        window.click("#controls-do")
        window.wait_for_count("#controls-orders li", count - 1)


def text(window, selector: str) -> str:
    return window.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector)


def test_provider_is_paused_after_a_question_and_resumed(window, console):
    pause(window, "hotpepper")
    assert window.run("return document.activeElement.id") == "controls-cancel"
    window.click("#controls-cancel")
    assert text(window, "#controls-orders") == ""

    pause(window, "hotpepper")
    window.click("#controls-do")
    window.wait(lambda: "1 of 1 workers have applied it" in text(window, "#controls-note"), "the worker's answer")
    window.wait_for_count("#controls-orders li", 1)
    order = text(window, "#controls-orders li")
    assert "Hot Pepper is paused" in order
    assert "by console@" in order
    assert "until" in order
    # The worker's card says so as well.
    window.wait(lambda: "paused-by-order" in text(window, ".worker"), "the worker's card")

    window.click("#language")
    window.wait(lambda: "ホットペッパーは一時停止中" in text(window, "#controls-orders li"), "the order in Japanese")
    window.click("#language")
    window.wait(lambda: "Hot Pepper is paused" in text(window, "#controls-orders li"), "the order in English")
    resume_all(window)
    window.wait(lambda: "paused-by-order" not in text(window, ".worker"), "the worker's card")


def test_paused_intake_is_shown_by_whom(window, console):
    pause(window, "", "4")
    assert "No worker of the fleet starts a request" in text(window, "#controls-text")
    window.click("#controls-do")
    window.wait(lambda: "intake is paused by console@" in text(window, ".worker .worker-problem"), "who paused it")
    assert "until it is withdrawn" in text(window, "#controls-orders li")
    for size in (DESKTOP, PHONE):
        window.emulate(size, "light")
        assert window.run("return document.documentElement.scrollWidth <= innerWidth"), size
    check_all_looks(window, "with an order in force")
    window.emulate(DESKTOP, "light")
    resume_all(window)
    window.wait_for(".worker .code.good")


def test_pause_that_would_bind_nobody_needs_a_choice(window, console, harness, allowed):
    allowed["errors"].append("400 (Bad Request)")
    harness.kill_worker()
    try:
        pause(window, "google-places")
        window.click("#controls-do")
        window.wait(lambda: "Nothing was changed" in text(window, "#controls-note"), "the refusal")
        assert window.count("#controls-orders li") == 0

        pause(window, "google-places")
        assert not window.run("return document.getElementById('controls-later').checked")
        window.click("#controls-later")
        window.click("#controls-do")
        window.wait(lambda: "It applies to workers that start later" in text(window, "#controls-note"), "the note")
        window.wait_for_count("#controls-orders li", 1)
    finally:
        harness.restart_worker()
    window.wait(lambda: "paused-by-order" in text(window, ".worker"), "the worker that started")
    resume_all(window)


def test_question_is_usable_by_all(window, console):
    pause(window, "hotpepper", "4")
    check_all_looks(window, "with the question before a pause")
