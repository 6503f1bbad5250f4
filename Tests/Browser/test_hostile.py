"""What a provider or a record says is text, whatever it looks like. These records are written straight into the
topics.
"""

import json

import pytest
from browser import fresh_session, search_url
from console_harness import SHINJUKU

MARKUP = '<img src=x onerror="window.wasRun=1">'
SCRIPT = "<script>window.wasRun=1</script>"
REVERSED = "\u202egnp.txt\u2066 مطعم"
LONG = "長い名前" * 850  # Some 10 kB in UTF-8.
ANCHORS = [
    '<a href="javascript:window.wasRun=1">x</a>',
    '<a href="https://example.test/" onclick="window.wasRun=1">x</a>',
]
CREDIT = '<a href="https://example.test/contrib/1">Aoi</a>'
NAMES = [MARKUP, SCRIPT, REVERSED, LONG, "{{7*7}} ${7*7}", "\u0007\u2028 line", "'\"><svg onload=window.wasRun=1>"]


def place(number: int, name: str) -> dict:
    return {
        "id": f'{number}" onclick="window.wasRun=1',
        "provider": "hotpepper",
        "name": name,
        "category": MARKUP,
        "types": [SCRIPT, LONG],
        "location": {"latitude": SHINJUKU["latitude"] + number * 5e-4, "longitude": SHINJUKU["longitude"]},
        "distanceMeters": number * 55,
        "address": REVERSED + MARKUP,
        "imageURL": "javascript:window.wasRun=1",
        "url": "javascript:window.wasRun=1",
        "rating": 5,
        "openNow": True,
    }


def outcome(session: str, request: str, operation: str = "search", **members) -> dict:
    timing = {
        "receivedAt": "2026-11-23T00:00:00.000Z",
        "completedAt": "2026-11-23T00:00:00.100Z",
        "upstreamMs": 1,
        "attempts": 1,
    }
    return {
        "requestId": request,
        "operation": operation,
        "provider": "hotpepper",
        "sessionId": session,
        "timing": timing,
        **members,
    }


def headers(kind: str, request: str) -> list[tuple[str, bytes]]:
    return [
        ("ce_specversion", b"1.0"),
        ("ce_id", request.encode()),
        ("ce_type", f"location-search.{kind}.v1".encode()),
        ("ce_source", b"/test"),
        ("ce_time", b"2026-11-23T00:00:00.100Z"),
        ("content-type", b"application/json"),
        ("hostile", MARKUP.encode()),
        ("bytes", b"\xff\xfe"),
        ("source-topic", SCRIPT.encode()),
        ("source-partition", b"0"),
        ("source-offset", b"7"),
    ]


@pytest.fixture
def hostile_session(harness, console):
    """A session whose search has found places with hostile texts."""
    session = fresh_session()
    request = console.send(session, provider="hotpepper", keyword="fault:delay=9000")
    value = outcome(
        session,
        request,
        places=[place(number, name) for number, name in enumerate(NAMES, 1)],
        attributions=[MARKUP, REVERSED, *ANCHORS, CREDIT],
        search={"category": "restaurant", "location": SHINJUKU, "radiusMeters": 500},
    )
    harness.produce("completed", value, session, headers("completed", request))
    return session


def assert_nothing_ran(window) -> None:
    assert window.run("return window.wasRun === undefined")
    assert window.run(
        "return [...document.querySelectorAll('img')].every((image) => new URL(image.src).pathname === '/api/pictures')"
    )
    assert window.run("return [...document.querySelectorAll('a')].every((link) => /^https?:/.test(link.href))")
    assert window.run(
        "return [...document.querySelectorAll('*')].every((element) => [...element.attributes].every(({ "
        "name }) => !name.startsWith('on')))"
    )


def test_hostile_places_are_texts_on_the_search_page(browser, console, hostile_session):
    window = browser.window(search_url(console, hostile_session))
    window.wait_for_texts("#places .place-name", NAMES)
    # A plain link to the web is a link, all else is text.
    window.wait_for_texts("#credits li", [MARKUP, REVERSED, *ANCHORS, "Aoi"])

    for row in range(len(NAMES)):
        window.run(f"document.querySelectorAll('#places .place button')[{row}].click()")
        window.wait_for_result("return document.querySelector('.info-name')?.textContent", NAMES[row])
        width = window.run("return document.querySelector('.info').offsetWidth")
        assert width < 400, "a long name does not widen the info window"
    heights = window.run("return [...document.querySelectorAll('#places .place')].map((row) => row.offsetHeight)")
    assert max(heights) < 130, "a long name does not fill the list"
    assert_nothing_ran(window)


def test_hostile_details_are_texts(browser, console, harness, hostile_session):
    window = browser.window(search_url(console, hostile_session))
    window.wait_for_texts("#places .place-name", NAMES)
    request = console.send(hostile_session, operation="details", provider="hotpepper", placeId=place(1, MARKUP)["id"])
    value = outcome(
        hostile_session, request, "details", places=[{**place(1, SCRIPT), "address": LONG}], attributions=[SCRIPT]
    )
    harness.produce("completed", value, hostile_session, headers("completed", request))

    window.wait_for_text("#detail-name", SCRIPT)
    assert not window.is_seen("#detail .detail-line a"), "an address of another kind than http is no link"
    assert_nothing_ran(window)


def test_hostile_records_are_texts_on_the_traffic_page(browser, console, harness):
    session = fresh_session() + MARKUP
    window = browser.window(console.url + "/traffic")
    error = {"code": MARKUP, "message": SCRIPT, "retryable": False}
    failed = outcome(session, SCRIPT, error=error, provider=MARKUP)
    harness.produce("failed", failed, session, headers("failed", SCRIPT))
    harness.produce("completed", b'{"requestId": "<b>broken</b>"' + b"\xff\x00", MARKUP.encode())

    window.fill("#filter-text", session)
    window.wait_for_count("#rows tr", 1)
    window.run("document.querySelector('#rows tr').click()")
    body = window.wait(lambda: window.run("return document.querySelector('#record pre')?.textContent"), "the record")
    assert json.loads(body)["error"]["message"] == SCRIPT
    assert MARKUP in window.text("#record")
    assert_nothing_ran(window)
