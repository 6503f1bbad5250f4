"""The page of dead letters: what an operator does with records that were no requests."""

import json
import re
import signal

import pytest
from browser import PHONE, Keys, fresh_session
from console_harness import SHINJUKU, console_harness
from harness.processes import resume


@pytest.fixture(scope="module")
def harness():
    """Processes of its own: its dead letters are not those of other tests, and it stops its broker."""
    with console_harness("locsearch-letters-") as harness:
        yield harness


@pytest.fixture(scope="module")
def console(harness):
    return harness.console("console-letters")


@pytest.fixture
def window(browser, console):
    window = browser.window(console.url + "/dead-letters")
    window.wait(lambda: "As of" in window.text("#dead-summary"), "a list")
    return window


def broken(mark: str, latitude: object = 135.5) -> dict:
    """A record that is no request, as its latitude is none."""
    location = {"latitude": latitude, "longitude": SHINJUKU["longitude"]}
    return {"requestId": mark, "provider": "hotpepper", "location": location}


def event(producer: str) -> list[tuple[str, bytes]]:
    attributes = {"specversion": "1.0", "id": "1", "source": producer, "type": "location-search.requested.v1"}
    return [(f"ce_{name}", value.encode()) for name, value in attributes.items()]


def rows(window) -> list[str]:
    return window.run("return [...document.querySelectorAll('#dead-rows tr')].map((row) => row.innerText)")


def filter_and_wait(window, text: str, count: int) -> None:
    """Filters by a text, and lists until so many letters match: each becomes one when a worker has read it."""
    window.fill("#dead-text", text)

    def is_there() -> bool:
        if window.run("return document.getElementById('dead-list').disabled"):
            return False
        return len(rows(window)) == count or bool(window.click("#dead-list"))

    window.wait(is_there, f"{count} letters with {text}")


def choose(window, selector: str, value: str) -> None:
    script = "const field = document.querySelector(arguments[0]); field.value = arguments[1];"
    window.run(script + "field.dispatchEvent(new Event('change', { bubbles: true }))", selector, value)


def write(window, text: str) -> None:
    """Puts a text into the editor as a person who pastes it."""
    script = "const field = document.getElementById('letter-text'); field.value = arguments[0];"
    window.run(script + "field.dispatchEvent(new Event('input', { bubbles: true }))", text)


def test_letters_are_grouped_and_filtered(window, harness):
    mark = fresh_session()
    for number in range(3):
        harness.produce("requested", broken(f"{mark}-a{number}"), mark, event("https://shop.example"))
    harness.produce("requested", broken(f"{mark}-b"), mark, event("https://travel.example"))
    harness.produce("requested", f'{{"requestId": "{mark}-c"'.encode(), mark)
    filter_and_wait(window, mark, 5)

    groups = window.texts(".group")
    shop = next(group for group in groups if "shop.example" in group)
    assert re.search(r"^3invalid-request · location.latitudefrom https://shop.example3 can go back, 3 of them", shop)
    assert any("no producer given" in group for group in groups)

    # A group is a filter; chosen once more, it is none.
    number = next(number for number, group in enumerate(groups) if "shop.example" in group)
    window.click(".group", number)
    window.wait_for_count("#dead-rows tr", 3)
    assert all(f"{mark}-a" in row for row in rows(window))
    assert window.text("#dead-shown") == "3 of 3 that match"
    assert window.run("return document.activeElement.getAttribute('aria-pressed')") == "true", "the keyboard stays"
    window.press_where_the_focus_is(Keys.ENTER)
    window.wait_for_count("#dead-rows tr", 5)

    window.click(".group", next(number for number, group in enumerate(groups) if "travel.example" in group))
    window.wait_for_count("#dead-rows tr", 1)
    assert f"{mark}-b" in rows(window)[0] and "location.latitude is not valid" in rows(window)[0]
    window.click("#dead-clear")
    window.wait(lambda: len(rows(window)) >= 5, "all letters")
    filter_and_wait(window, mark, 5)
    choose(window, "#dead-since", "1")
    window.wait_for_count("#dead-rows tr", 5)
    window.fill("#dead-text", "no such text")
    window.wait(lambda: re.fullmatch(r"None of the \d+ letters matches\.", window.text("#dead-none")), "word of that")


def test_letter_is_put_right_and_goes_back(window, harness):
    mark = fresh_session()
    value = json.dumps({**broken(mark), "note": 12345678901234567890, "name": "新宿"}, ensure_ascii=False)
    harness.produce("requested", value.encode(), mark, [*event("https://shop.example"), ("trial", b"7")])
    filter_and_wait(window, mark, 1)
    window.press("#dead-rows .time button", Keys.ENTER)

    window.wait_for("#letter pre")
    text = window.run("return document.getElementById('letter').textContent")
    for part in ("invalid-request", "location.latitude", "https://shop.example", "trial", f"Request {mark}"):
        assert part in text
    assert "location-search.requests, partition" in text and "dead-letter topic, partition" in text
    assert '"note": 12345678901234567890' in text, "digits are not lost"
    assert re.search(r"#\d+/\d+$", window.run("return location.href")), "the letter has an address"

    window.click("#letter-edit")
    window.wait_for_focus("#letter-text")
    window.wait_for("#letter-verdict.is-bad")
    assert window.text("#letter-verdict").startswith("Still invalid. location.latitude is not valid")

    # Another mistake, which is told while it is typed, and its cure.
    edited = window.run("return document.getElementById('letter-text').value")
    write(window, edited.replace('"latitude": 135.5,', '"latitude": 35.69'))
    window.wait(
        lambda: "value is not valid: expected valid JSON" in window.text("#letter-verdict"), "that it is no JSON"
    )
    window.wait_for_result("return document.getElementById('letter-send-edited').disabled", True)
    assert window.run("return document.getElementById('letter-text').ariaInvalid") == "true"
    write(window, edited.replace("135.5", "35.69"))
    window.wait_for("#letter-verdict.is-good")

    window.click("#letter-send-edited")
    window.wait_for_text("#confirm-title", "Send 1 dead letter back?")
    assert window.text("#confirm-kinds") == "1 × invalid-request (location.latitude), from https://shop.example"
    assert not window.is_seen("#confirm-faulty")
    window.wait_for_focus("#confirm-cancel")
    window.click("#confirm-do")
    window.wait_for_text("#run-text", "1 went back. Results: 1 succeeded.")
    window.wait_for_text("#letter-now", "It went back already.")
    window.click("#letter-close")
    window.wait_gone("#letter")
    window.wait_for_focus("#dead-rows .time button")
    assert "went back" in rows(window)[0]


def test_expired_letter_gets_a_new_expiry_and_can_be_sent_again(window, harness):
    mark = fresh_session()
    expired = ("ce_expirytime", b"2026-01-01T00:00:00Z")
    harness.produce("requested", broken(mark), mark, [*event("https://shop.example"), expired])
    filter_and_wait(window, mark, 1)
    window.click("#dead-rows .time button")
    window.wait_for("#letter-expiry")
    assert "set a new one when you send it" in window.text("#letter-expiry")

    def send_repaired() -> None:
        window.click("#letter-edit")
        window.wait_for("#letter-verdict.is-bad")
        edited = window.run("return document.getElementById('letter-text').value")
        write(window, edited.replace("135.5", "35.69"))
        window.wait_for("#letter-verdict.is-good")
        window.click("#letter-send-edited")
        window.wait_for("#confirm-expiring")
        assert window.text("#confirm-expiring-text").startswith("1 of 1 have expired")

    # With its old expiry it fails, and is sent once more with a new one.
    send_repaired()
    choose(window, "#confirm-expiry", "")
    window.click("#confirm-do")
    window.wait(lambda: "1 failed (expired 1)" in window.text("#run-text"), "the expired outcome")
    window.wait_for_text("#letter-now", "It went back already.")
    assert window.text("#letter-send") == "Send again …"

    send_repaired()
    assert window.text("#confirm-text").startswith("It went back before, and is sent once more.")
    assert window.run("return document.getElementById('confirm-expiry').value") == "5"
    window.click("#confirm-do")
    window.wait_for_text("#run-text", "1 went back. Results: 1 succeeded.")
    window.wait_gone("#letter-text")


def test_many_go_back_and_some_come_back(window, harness):
    mark = fresh_session()
    # What a worker refuses today, which the test has it refuse: a letter whose record is still none.
    for number in range(2):
        harness.produce("requested", broken(f"{mark}-{number}"), mark, event("https://shop.example"))
    filter_and_wait(window, mark, 2)
    # Letters that are requests by now, as after a worker that reads more than the one before.
    letters = [("dead-letter-reason", b"invalid-request"), ("dead-letter-message", b"an older worker did not know it")]
    place = [("source-topic", b"location-search.requests"), ("source-partition", b"0"), ("source-offset", b"0")]
    for number in range(3):
        harness.produce("letters", broken(f"{mark}-right{number}", 35.69), mark, [*letters, *place])
    filter_and_wait(window, mark, 5)
    assert sum("still invalid" in row for row in rows(window)) == 2
    assert sum("now valid" in row for row in rows(window)) == 3

    window.click("#dead-all")
    window.wait_for_text("#dead-redrive", "Send 5 back …")
    window.click("#dead-redrive")
    window.wait_for("#confirm-faulty")
    assert window.text("#confirm-title") == "Send 3 dead letters back?", "the others are left out at first"
    assert "2 of 5 are still invalid" in window.text("#confirm-faulty")
    window.click("#confirm-skip")
    window.wait_for_text("#confirm-title", "Send 5 dead letters back?")
    window.click("#confirm-cancel")
    window.wait_gone("#confirm")
    assert not any("went back" in row for row in rows(window)), "nothing goes before the question is answered"

    window.click("#dead-redrive")
    window.click("#confirm-skip")
    window.click("#confirm-do")
    window.wait_for_text("#run-text", "5 went back. Results: 3 succeeded, 2 are dead letters again.")
    window.wait(lambda: sum("went back" in row for row in rows(window)) == 5, "the marks of what went back")
    # Those that came back are letters again.
    filter_and_wait(window, mark, 7)
    assert sum("still invalid" in row for row in rows(window)) == 2


def test_record_that_crashes_workers_is_not_sent_from_here(window, harness):
    mark = fresh_session()
    headers = [
        ("dead-letter-reason", b"crashed-workers"),
        ("dead-letter-message", b"2 processes have crashed with it"),
        ("source-topic", b"location-search.requests"),
        ("source-partition", b"1"),
        ("source-offset", b"7"),
        ("dead-letter-worker", b"worker-7f9c"),
        ("dead-letter-tries", b"3"),
    ]
    harness.produce("letters", broken(mark, 35.69), mark, headers)
    filter_and_wait(window, mark, 1)
    assert "crashes workers" in rows(window)[0]
    assert window.run("return document.querySelector('#dead-rows input').disabled")

    window.click("#dead-rows .time button")
    window.wait_for("#letter-now")
    assert window.text("#letter-now").startswith("This record has crashed worker processes")
    assert window.text("#letter .where code") == (
        "locsearch dead-letters redrive --force --reason crashed-workers --partition 1 --from-offset 7 --to-offset 8"
    )
    assert window.count("#letter-send, #letter-edit") == 0
    facts = window.text("#letter .record-facts dl")
    assert "worker-7f9c" in facts and "3 times" in facts


def test_letter_that_is_gone_says_so(browser, console, allowed):
    allowed["errors"].append("404 (Not Found)")
    window = browser.window(console.url + "/dead-letters#0/999999")
    window.wait_for("#letter .note")
    assert "There is no dead letter at 0/999999, or the topic has deleted it." in window.text("#letter .note")
    window.press("#letter", Keys.ESCAPE)
    window.wait_gone("#letter")


def test_letter_that_went_back_meanwhile_is_not_sent_twice(browser, window, console, harness):
    mark = fresh_session()
    harness.produce("requested", broken(mark), mark)
    filter_and_wait(window, mark, 1)
    other = browser.window(console.url + "/dead-letters")
    filter_and_wait(other, mark, 1)
    for each, text in ((window, "1 went back."), (other, "0 went back. 1 had been sent back before.")):
        each.use()
        each.click("#dead-all")
        each.click("#dead-redrive")
        each.wait_for("#confirm-do")
        each.click("#confirm-do")
        each.wait(lambda each=each, text=text: each.text("#run-text").startswith(text), text)
        each.wait(lambda each=each: "yet" not in each.text("#run-text"), "the end of the run")


def test_phone_shows_a_letter_as_a_whole(window, harness):
    mark = fresh_session()
    harness.produce("requested", broken(mark), mark)
    filter_and_wait(window, mark, 1)
    window.emulate(PHONE, "dark")
    window.click("#dead-rows .time button")
    window.wait_for("#letter pre")
    assert window.run("return document.documentElement.scrollWidth <= innerWidth"), "nothing lies beside the screen"
    window.click("#letter-edit")
    window.wait_for("#letter-verdict.is-bad")


def test_broker_that_is_away_is_told_and_old_figures_are_marked(window, harness, allowed):
    mark = fresh_session()
    harness.produce("requested", broken(mark), mark)
    filter_and_wait(window, mark, 1)
    window.click("#dead-all")
    allowed["errors"].append("503 (Service Unavailable)")
    harness.broker.send_signal(signal.SIGSTOP)
    try:
        # A list that was made a moment before is shown once more.
        again = "const list = document.getElementById('dead-list'); if (!list.disabled) list.click()"
        window.wait(lambda: window.is_seen("#dead-note") or window.run(again), "word of the broker")
        assert re.search(
            r"Not done: Kafka does not answer: .*Showing the state of \d+:\d+:\d+\.", window.text("#dead-note")
        )
        assert window.count(".dead-page.is-old") == 1 and len(rows(window)) == 1
        assert window.run("return document.getElementById('dead-redrive').disabled")
    finally:
        resume(harness.broker)

    window.click("#dead-list")
    window.wait_gone("#dead-note")
    assert not window.run("return document.getElementById('dead-redrive').disabled")
