"""What an operator does on the traffic page."""

import http.server
import json
import re
import secrets
import socket
import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest
from browser import DESKTOP, PHONE, fresh_session
from console_harness import SHINJUKU


@pytest.fixture
def window(browser, console):
    window = browser.window(console.url + "/traffic")
    window.wait_for("#rate-chart .curve.completed")
    return window


def rows(window) -> list[str]:
    return window.run("return [...document.querySelectorAll('#rows tr')].map((row) => row.innerText)")


def test_outcomes_arrive_newest_first_and_are_filtered(window, console):
    session = fresh_session()
    ids = [console.send(session, provider="hotpepper") for _ in range(1)]
    window.fill("#filter-text", session)
    window.wait_for_count("#rows tr", 1)
    ids.append(console.send(session, provider="hotpepper", keyword="fault:503"))
    window.wait_for_count("#rows tr", 2)
    window.wait(
        lambda: all(id in row for id, row in zip(reversed(ids), rows(window), strict=True)), "the newest on top"
    )

    window.run(
        "document.getElementById('filter-code').value = 'failed'; "
        "document.getElementById('filters').dispatchEvent(new Event('input'))"
    )
    window.wait(
        lambda: len(found := rows(window)) == 1 and "upstream-unavailable" in found[0], "the failed outcome alone"
    )
    window.click("#filter-clear")
    window.wait(lambda: len(rows(window)) >= 2, "all outcomes")

    window.fill("#filter-text", ids[0])
    window.wait(lambda: len(found := rows(window)) == 1 and ids[0] in found[0], "the outcome of one request")
    provider = "document.getElementById('filter-provider')"
    window.run(f"{provider}.value = 'google-places'; {provider}.dispatchEvent(new Event('input', {{bubbles: true}}))")
    window.wait_for_count("#rows tr", 0)


def test_outcome_is_found_by_its_trace(window, harness):
    trace, mark = secrets.token_hex(16), fresh_session()
    request = {"requestId": mark, "provider": "hotpepper", "location": SHINJUKU}
    harness.produce("requested", request, mark, [("traceparent", f"00-{trace}-{secrets.token_hex(8)}-01".encode())])

    window.fill("#filter-text", trace[4:])
    window.wait(
        lambda: len(found := rows(window)) == 1 and mark in found[0] and trace[-8:] in found[0],
        "the outcome of that trace alone",
    )


def test_paused_table_stands_still_and_catches_up(window, console):
    session = fresh_session()
    console.send(session)
    window.fill("#filter-text", session)
    window.wait_for_count("#rows tr", 1)

    window.click("#pause")
    console.send(session)
    # An outcome of another session counts as well.
    window.wait(lambda: re.search(r"[1-9]\d* new", window.text("#pause")), "word of the one that waits")
    assert len(rows(window)) == 1
    window.click("#pause")
    window.wait_for_count("#rows tr", 2)


def test_record_shows_headers_body_and_where_its_request_is(window, console):
    session = fresh_session()
    request = console.send(session)
    window.fill("#filter-text", request)
    window.wait_for_count("#rows tr", 1)
    window.click("#rows button")

    window.wait_for("#record pre")
    text = window.run("return document.getElementById('record').textContent")
    assert f'"requestId": "{request}"' in text and "ce_type" in text and "location-search.completed.v1" in text
    assert "Its requestlocation-search.requests, partition" in text
    window.wait_for(f"#record a[href='./#session={session}']")
    window.click("#record-close")
    window.wait_gone("#record")
    window.wait_for_focus("#rows *")  # The keyboard is where it was.


def test_workers_and_rates_are_drawn(window, console, harness):
    address = harness.worker.removeprefix("http://")
    for words in (address, "Ready", "hotpepper", "answering", "of 100,000"):
        window.wait(lambda: words in window.text(".worker"), f"{words} on the worker's card")

    window.wait(lambda: re.search(r"\d", window.text("#rate-legend strong")), "a rate")
    window.wait(lambda: re.search(r"in the second of \d+:\d+:\d+", window.text("#rate-window")), "its window")
    for _ in range(5):
        console.send(fresh_session())
    window.wait(lambda: re.search(r"\d", window.text("#latency-legend strong")), "a latency")


@contextmanager
def played_worker(status: dict):
    """A server with the `/status` of a worker. Yields its address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(status).encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def account(name: str, unit: str, of: int, used: int, reserved: int, hours: float) -> dict:
    left = max(0, of - used - reserved)
    figures = {"budget": of, "used": used, "reserved": reserved, "left": left, "endsInSeconds": hours * 3600}
    return {"account": name, "unit": unit, "period": "2026-11", "warning": 80, **figures}


def test_each_budget_shows_what_is_left_and_when_its_period_ends(browser, harness, allowed):
    budgets = [
        account("hotpepper", "calls", 3000, 1260, 40, 3.1),
        account("google-places/month/usd", "USD", 300_000_000, 238_840_000, 1_160_000, 12 * 24 + 1),
        account("google-places/text-search-pro/month", "calls", 500, 500, 0, 0.6),
        account("google-places/text-search-pro/free/month", "calls", 5000, 5000, 0, 1),
    ]
    status = {
        "ready": True,
        "host": "played",
        "providers": [{"provider": "p", "breaker": "closed", "budgets": budgets}],
    }
    with played_worker(status) as address:
        console = harness.console("console-budgets", CONSOLE_WORKERS=address)
        allowed["hosts"].add(console.url)
        window = browser.window(console.url + "/traffic")
        window.wait_for_texts(
            ".budgets .provider-facts",
            [
                "1,260 of 3,000 · 40 reserved · 1,700 left · ends in 3 hours",
                "238.84 USD of 300.00 USD · 1.16 USD reserved · 60.00 USD left · ends in 12 days",
                "500 of 500 · 0 reserved · 0 left · ends in 36 minutes",
            ],
        )
        # A warning is a word, not only a colour.
        assert window.texts(".budgets .is-low .code") == ["nearly used up", "used up"]
        assert window.texts(".budgets bdi") == [budget["account"] for budget in budgets[:3]]
        title = window.run("return document.querySelector('.budgets [title]').title")
        assert re.fullmatch(r"\d+/\d+/\d+ \d+:\d\d:00", title), title

        window.click("#language")
        japanese = "300.00 USD中238.84 USD · 予約1.16 USD · 残り60.00 USD · あと12 日で終了"
        window.wait(lambda: window.texts(".budgets .provider-facts")[1] == japanese, "the month in Japanese")


def test_fleet_stands_on_top_and_says_over_what_window(window, console):
    console.send(fresh_session(), provider="hotpepper")
    window.wait_for_text("#fleet-verdict", "Taking requests")
    window.wait(lambda: re.search(r"over the last [\d.]+ s", window.text("#fleet-note")), "the window of the rates")
    figures = (
        "return Object.fromEntries([...document.querySelectorAll('#fleet-figures dt')].map((name) => "
        "[name.innerText, name.nextSibling.innerText]))"
    )
    window.wait(lambda: window.run(figures)["Waiting now"] == "0", "the end of the request")
    assert window.run(figures)["Workers"] == "1 of 1 ready"
    assert window.run("return document.querySelector('.fleet').getBoundingClientRect().top") < window.run(
        "return document.querySelector('#workers').getBoundingClientRect().top"
    )

    window.click("#fleet-partitions summary")
    window.wait_for_count("#fleet-rows tr", 2)
    # A worker is called by its machine, its address stands below.
    assert window.text(".worker-name strong").startswith(socket.gethostname())
    state = window.run("return document.querySelector('.providers .code').title")
    assert state == "Circuit breaker: closed", "the field's word is in the tooltip"


def test_card_counts_dead_letters_and_leads_to_them(window, harness):
    harness.produce("requested", b'{"location": {"latitude": 91', fresh_session())
    window.wait(lambda: re.search(r"As of \d+:\d+:\d+\.|None\.", window.text("#dead-summary")), "the number of letters")
    # It counts again by itself.
    counted = window.text("#dead-summary")
    harness.produce("requested", b'{"location": {"latitude": 92', fresh_session())
    window.wait(lambda: window.text("#dead-summary") not in ("", counted), "another count", within=60)
    window.click("#dead-open")
    # The worker may have put it aside after the list was made.
    window.wait(lambda: window.count("#dead-rows tr") > 0 or window.click("#dead-list"), "the letter")
    assert window.text("h1") == "Dead letters"


def outcome(mark: str, at: float, **members) -> dict:
    """An outcome event, written at a time in seconds since 1970."""
    text = datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")
    return {
        "requestId": mark,
        "operation": "search",
        "provider": "hotpepper",
        "sessionId": mark,
        "places": [],
        "timing": {"receivedAt": text, "completedAt": text},
        **members,
    }


def source(topic: str, partition: str = "0", offset: str = "7") -> list[tuple[str, bytes]]:
    return [
        ("source-topic", topic.encode()),
        ("source-partition", partition.encode()),
        ("source-offset", offset.encode()),
    ]


def open_record(window, mark: str) -> None:
    window.fill("#filter-text", mark)
    window.wait_for_count("#rows tr", 1)
    window.click("#rows button")
    window.wait_for("#record pre")


@pytest.mark.parametrize(
    "topic", ["t; touch /tmp/x", "t' -X a=b '", "$(id)", "`id`", "a\nb", "..", "x" * 250, "-b evil:9092 -t x"]
)
def test_command_is_copied_for_a_topic_that_kafka_knows_only(window, harness, topic):
    mark = fresh_session()
    harness.produce("completed", outcome(mark, time.time()), mark, source(topic))
    open_record(window, mark)

    titles = window.run("return [...document.querySelectorAll('#record .where .copy')].map((button) => button.title)")
    assert len(titles) == 1, "there is no command for what a stranger wrote"
    assert titles[0].startswith("kcat -C -t 'location-search.results' -p "), titles
    assert topic.strip()[:40].split("\n")[0] in window.run("return document.getElementById('record').textContent"), (
        "it is shown as a text"
    )


def test_record_with_a_byte_order_mark_is_shown(window, harness):
    mark = fresh_session()
    harness.produce(
        "completed",
        b"\xef\xbb\xbf" + json.dumps(outcome(mark, time.time())).encode(),
        mark,
        source("location-search.requests"),
    )
    open_record(window, mark)
    assert f'"requestId": "{mark}"' in window.text("#record pre")
    assert "kcat -C -t 'location-search.requests' -p 0 -o 7 -c 1 -e -b " in window.run(
        "return [...document.querySelectorAll('#record .copy')].map((button) => button.title)"
    )


def test_time_that_a_request_waited_stands_beside_the_time_that_it_took(window, harness):
    mark = fresh_session()
    request = {"requestId": mark, "provider": "hotpepper", "location": SHINJUKU}
    harness.produce("requested", request, mark, timestamp=int(time.time() * 1000) - 76_000)
    open_record(window, mark)

    waited, worked = window.run(
        "return [...document.querySelectorAll('#rows .figure')].slice(1).map((cell) => cell.innerText)"
    )
    assert 1.26 <= float(waited.removesuffix(" min")) < 2, waited
    assert worked.endswith(" ms") or float(worked.removesuffix(" s")) < 30, worked
    facts = window.run(
        "return Object.fromEntries([...document.querySelectorAll('#record dt')].map((name) => "
        "[name.innerText, name.nextSibling.innerText]))"
    )
    assert float(facts["Total time"].removesuffix(" min")) >= 1.26, facts
    assert facts["Waited"] == waited and facts["Worked"] == worked, facts


def test_latency_of_a_single_result_is_seen(browser, harness, allowed):
    console = harness.console("console-sparse")
    allowed["hosts"].add(console.url)
    window = browser.window(console.url + "/traffic")
    window.wait_for("#rate-chart .curve.completed")
    console.send(fresh_session(), provider="hotpepper")

    dot = "const dot = document.querySelector('#latency-chart .dots.p50'); return dot.getAttribute('d').includes('h0')"
    window.wait(lambda: window.run(dot), "a dot")
    # Nothing else comes, and its figure stays to be read. The curve has a point for each second.
    points = "return document.querySelector('#rate-chart path.curve.completed').getAttribute('d').split('L').length"
    before = window.run(points)
    window.wait(lambda: window.run(points) >= before + 2, "the next seconds")
    assert re.search(r"\d", window.text("#latency-legend strong"))
    label = window.run("return document.querySelector('#latency-chart svg').getAttribute('aria-label')")
    assert "–" not in label, label


@pytest.mark.parametrize("width", [1400, 1280, 1000])
def test_each_column_is_seen_as_a_whole(browser, console, harness, width):
    # Long words in all columns, and a request that waited for nearly an hour.
    mark = fresh_session()
    request = {"requestId": mark, "provider": "google-places-legacy", "location": SHINJUKU, "keyword": "fault:503"}
    harness.produce("requested", request, mark, timestamp=int(time.time() * 1000) - 3_500_000)
    window = browser.window(console.url + "/traffic", (width, 900))
    window.fill("#filter-text", mark)
    window.wait_for_count("#rows tr", 1)
    window.wait(lambda: re.search(r"upstream-unavailable.*58 min", rows(window)[0], re.DOTALL), "all words")

    assert window.run("const rows = document.querySelector('.rows'); return rows.scrollWidth <= rows.clientWidth"), (
        "nothing lies outside"
    )
    cut = window.run("""
        const cells = [...document.querySelectorAll('.rows th, .rows td:not(.name)')];
        return cells.filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.innerText)""")
    assert cut == [], "headings, codes and figures are whole"


def test_table_shows_the_ends_of_ids_and_no_empty_column(window, harness):
    mark = fresh_session()
    request = {"requestId": f"{mark}-{'long' * 20}-end", "provider": "hotpepper", "location": SHINJUKU}
    harness.produce("requested", request, mark)
    window.fill("#filter-text", mark)
    window.wait_for_count("#rows tr", 1)
    cell = "const cell = document.querySelector('#rows td:nth-child(9)'), text = cell.querySelector('bdi');"
    places = "const [inner, outer] = [text.getBoundingClientRect(), cell.getBoundingClientRect()];"
    assert window.run(cell + "return text.textContent").endswith("-end")
    assert window.run(cell + places + "return inner.right <= outer.right && inner.left < outer.left"), "its end is seen"
    assert "Trace" not in window.texts("th:not([hidden])") and "Request" in window.texts("th:not([hidden])")

    headers = [("traceparent", f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01".encode())]
    harness.produce("requested", request, mark, headers)
    window.wait_for_count("#rows tr", 2)
    window.wait(lambda: "Trace" in window.texts("th:not([hidden])"), "the column, which is not empty any more")
    window.wait(lambda: re.fullmatch(r"2 of [\d,]+ kept match", window.text("#outcomes-shown")), "how many match")
    window.click("#filter-clear")
    window.wait(lambda: re.match(r"The newest \d+", window.text("#outcomes-shown")), "which outcomes these are")


@pytest.mark.parametrize("size", [DESKTOP, PHONE, (1000, 800)])
def test_no_filter_is_clipped(window, size):
    window.emulate(size, "light")
    for code in ("", "upstream-unavailable"):
        window.run("document.getElementById('filter-code').value = arguments[0]", code)
        clipped = window.run("""
            const ink = document.createElement("canvas").getContext("2d");
            return [...document.querySelectorAll(".filters select, .filters input")].filter((field) => {
              ink.font = getComputedStyle(field).font;
              const text = field.selectedOptions?.[0].text ?? field.placeholder;
              return ink.measureText(text).width + 24 > field.clientWidth;
            }).map((field) => field.id)""")
        assert clipped == []


def test_latency_axis_is_readable_after_an_outlier_and_after_a_gap(window):
    show = """
        const [done, ages] = [arguments[1], arguments[0]];
        import("/assets/charts.js").then(({ Charts }) => {
          const now = Date.now();
          const rate = ([seconds, latency]) => ({
            at: new Date(now - seconds * 1000).toISOString(), completed: 1, failed: 0,
            latencyMs: { p50: latency, p95: latency, p99: latency } });
          new Charts().add(ages.map(rate));
          done([...document.querySelectorAll("#latency-chart text")].map((text) => text.textContent));
        });"""
    quick = [[age, 40] for age in range(60, -1, -1)]
    outlier = window.driver.execute_async_script(show, [[61, 60_000], *quick])
    assert "80 ms" in outlier and "earlier peak 1 min" in outlier, outlier
    newest = window.driver.execute_async_script(show, [*quick[:-1], [0, 60_000]])
    assert "1 min" in newest and not any("peak" in text for text in newest), newest
    gap = window.driver.execute_async_script(show, [[3600, 60_000], *quick])
    assert "1 min ago" in gap and not any("peak" in text for text in gap), gap


def test_history_is_in_the_order_of_its_times(browser, harness, allowed):
    mark, now = fresh_session(), time.time()
    ages = [50, 10, 40, 20, 30, 60]
    for age in ages:
        # The key decides the partition, so that both have some.
        harness.produce("completed", outcome(f"{mark}-{age}", now - age), f"{mark}-{age}")

    console = harness.console("console-history")
    allowed["hosts"].add(console.url)
    window = browser.window(console.url + "/traffic")
    window.fill("#filter-text", mark)
    window.wait_for_count("#rows tr", len(ages))
    shown = lambda: [next(age for age in ages if f"{mark}-{age}" in row) for row in rows(window)]  # noqa: E731
    window.wait_for_value(shown, sorted(ages), "the ages, the newest on top")
