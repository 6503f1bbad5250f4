"""The panel of a demo: each fault shows on the page within its bound while it is on, and goes when it goes."""

import re
import time
import urllib.error
import urllib.request

import pytest
from browser import DESKTOP, PHONE, Keys, at_most, fresh_session
from console_harness import running_demo
from test_accessibility import check_all_looks

# The time in which the page says what is wrong, and how much longer a busy machine may take to draw and to look.
SECONDS = 5
BUSY = 3
# Breakers open and close by the calls that the trickle makes, and an open one looks again after a minute at most.
UNTIL_OPEN, UNTIL_CLOSED = 40, 100
# A group forms anew once its members are missed for 6 s, and may need two attempts.
UNTIL_FORMED = 60


# A browser may refuse storage, as it does for sites whose cookies are blocked.
REFUSES_STORAGE = """
for (const name of ["getItem", "setItem", "removeItem"]) {
  Storage.prototype[name] = () => {
    throw new DOMException("storage is refused", "SecurityError");
  };
}
"""


@pytest.fixture(scope="module")
def demo():
    with running_demo() as demo:
        yield demo


@pytest.fixture(scope="module")
def console(demo):
    """What the checks of every page call the console."""
    return demo


@pytest.fixture
def allowed():
    return {"hosts": set(), "errors": ["503 (Service Unavailable)"]}


@pytest.fixture
def traffic(browser, demo):
    """The traffic page with the panel open, before and after which nothing is broken."""
    demo.clear()
    window = browser.window(demo.url + "/traffic")
    window.wait_for(".demo-open")
    if not window.is_seen("#demo"):
        window.click(".demo-open")
    window.wait_for("#demo-worker-killed")
    window.wait(lambda: ready(window) == "2 of 2 ready", "both workers", within=UNTIL_FORMED)
    asked = ("hotpepper", "google-places")
    window.wait(
        lambda: all("answering" in text for name in asked for text in providers(window, name)),
        "breakers that are closed",
        within=UNTIL_CLOSED,
    )
    yield window
    demo.clear()
    window.use().run("sessionStorage.clear()")


def ready(window) -> str:
    """How many workers the fleet's card counts."""
    return next((text for text in window.texts("#fleet-figures dd") if "ready" in text), "")


def providers(window, name: str) -> list[str]:
    """What each worker's card says of a provider."""
    shown = window.run(
        "return [...document.querySelectorAll('.providers li')]"
        ".map((item) => [item.querySelector('.provider-name').textContent, item.innerText])"
    )
    return [text for provider, text in shown if provider == name]


def switch(window, name: str, is_on: bool) -> None:
    """Switches a fault in the panel, and waits for the mark in the page's head."""
    window.click(f"#demo-{name}")
    window.wait_for_text(".demo-open", "Demo: 1 on" if is_on else "Demo")
    window.wait(lambda: window.count(".demo-control.is-fault.is-on") == int(is_on), f"{name} to be marked")


def search(browser, demo, **members):
    """Opens the search page by a link that searches at once."""
    parts = "&".join(f"{name}={value}" for name, value in {"session": fresh_session(), **members}.items())
    return browser.window(f"{demo.url}/#{parts}&go")


def search_until_found(window) -> None:
    """Presses "Try again" until a search finds places. The worker may end the first calls to a provider that has
    become slow, because they take far longer than usual. All providers are slow for it while the machine stands still.
    Several such timeouts in a row open the breaker, which closes again within `UNTIL_CLOSED`.
    """

    def has_places():
        if window.texts("#places .place-name"):
            return True
        window.run(
            "const button = document.querySelector('#banner-retry[aria-disabled=false]');"
            "if (button?.checkVisibility()) button.click()"
        )
        return False

    window.wait(has_places, "places, in one of several searches", within=UNTIL_CLOSED)


def seconds(text: str) -> float:
    """Reads a duration as the page writes it."""
    number, unit = re.match(r"([\d.,]+) (ms|s)", text).groups()
    return float(number.replace(",", "")) / (1000 if unit == "ms" else 1)


def latency(window) -> float:
    """The p95 of the second that the chart shows."""
    shown = window.texts("#latency-legend strong")
    return seconds(shown[1]) if len(shown) > 1 and re.match(r"[\d.,]+ (ms|s)", shown[1]) else 0


def kept(window) -> int:
    """How many outcomes have come."""
    return int(
        (re.search(r"The newest (?:[\d,]+ of )?([\d,]+)", window.text("#outcomes-shown")) or [0, "0"])[1].replace(
            ",", ""
        )
    )


def test_trickle_moves_charts_and_table_and_can_be_switched_off(traffic):
    first = kept(traffic)
    traffic.wait(lambda: kept(traffic) > first + 10, "outcomes of the trickle")
    traffic.wait(lambda: latency(traffic) > 0, "a latency")
    assert len(set(traffic.texts("#rows td:nth-child(4)"))) > 2, "it asks all providers"

    traffic.click("#demo-traffic")
    still = {"count": -1, "since": 0.0}

    def is_still() -> bool:
        if (count := kept(traffic)) != still["count"]:
            still.update(count=count, since=time.monotonic())
        return time.monotonic() - still["since"] > SECONDS

    traffic.wait(is_still, "five seconds without an outcome", within=UNTIL_OPEN)
    assert traffic.text(".demo-open") == "Demo", "it is no fault"
    traffic.click("#demo-traffic")
    traffic.wait(lambda: kept(traffic) > still["count"], "outcomes again")


def test_slow_provider_shows_in_latency(browser, demo, traffic):
    switch(traffic, "slow-provider", True)
    traffic.wait(lambda: latency(traffic) > 1, "a latency above 1 s")
    window = search(browser, demo, provider="hotpepper")
    window.wait_for_text(".demo-open", "Demo: 1 on")
    search_until_found(window)

    traffic.use()
    switch(traffic, "slow-provider", False)
    traffic.wait(lambda: 0 < latency(traffic) < 1, "a latency below 1 s")


def test_failing_provider_opens_its_breaker_which_closes_again(browser, demo, traffic):
    switch(traffic, "failing-provider", True)
    traffic.wait(
        lambda: all("resting" in text for text in providers(traffic, "hotpepper")),
        "the breakers of both workers",
        within=UNTIL_OPEN,
    )
    window = search(browser, demo, provider="hotpepper")
    titles = {"Calls to the provider are paused after failures", "The provider is out of order"}
    window.wait(lambda: window.text("#banner-title") in titles, "a search that fails")
    window = search(browser, demo)
    search_until_found(window)
    assert "Google Places" in window.text("#results-summary"), "Automatic asks the other provider"

    traffic.use()
    switch(traffic, "failing-provider", False)
    traffic.wait(
        lambda: all("answering" in text for text in providers(traffic, "hotpepper")),
        "breakers that are closed",
        within=UNTIL_CLOSED,
    )


@pytest.mark.parametrize(
    ("fault", "reason", "title"),
    [
        ("refused-key", "key-refused", "The provider rejected the API key"),
        ("used-up-quota", "quota-used-up", "Too many requests just now"),
    ],
)
def test_key_that_google_does_not_take_shuts_it_until_there_is_another(browser, demo, traffic, fault, reason, title):
    switch(traffic, fault, True)
    traffic.wait(
        lambda: all(f"{reason} · for" in text for text in providers(traffic, "google-places")),
        "the breakers of both workers",
        within=UNTIL_OPEN,
    )
    window = search(browser, demo, category="hospital", radius=1000)
    window.wait_for_text("#banner-title", title)
    if fault == "used-up-quota":
        left = re.search(r"in ([\d,]+) s", window.text("#banner-retry"))
        assert left and 3000 < int(left[1].replace(",", "")) <= 3600, "the search says when the worker goes on"

    traffic.use()
    switch(traffic, fault, False)
    traffic.wait(
        lambda: all("answering" in text for text in providers(traffic, "google-places")),
        "breakers that are closed",
        within=UNTIL_CLOSED,
    )
    search_until_found(search(browser, demo, category="hospital", radius=1000))


def test_broker_away_is_said_on_both_pages_and_the_workers_come_back(browser, demo, traffic):
    window = search(browser, demo, provider="hotpepper")
    search_until_found(window)
    traffic.use()
    switch(traffic, "broker-away", True)
    with at_most(SECONDS + BUSY):
        traffic.wait_for_text("#connection", "Kafka does not answer")
    traffic.wait_for_text("#fleet-verdict", "Kafka away")
    traffic.wait_for("#fleet-figures.is-old")

    window.use().wait_for_text("#connection", "Kafka does not answer")
    window.click(".search-here")
    window.wait_for_text("#banner-title", "Kafka does not take requests at present")

    traffic.use()
    switch(traffic, "broker-away", False)
    traffic.wait_gone("#connection", within=UNTIL_FORMED)
    traffic.wait(lambda: traffic.text("#fleet-verdict") == "Taking requests", "the fleet", within=UNTIL_FORMED)
    count = kept(traffic)
    traffic.wait(lambda: kept(traffic) > count, "outcomes again", within=UNTIL_FORMED)
    window.use().wait_gone("#banner")


def test_killed_worker_is_not_reachable_and_the_other_goes_on(traffic):
    switch(traffic, "worker-killed", True)
    with at_most(SECONDS + BUSY):
        traffic.wait_for_texts(".worker .worker-head .code", ["Ready", "Not reachable"])
    traffic.wait(lambda: ready(traffic) == "1 of 2 ready", "the other worker", within=UNTIL_FORMED)
    count = kept(traffic)
    traffic.wait(lambda: kept(traffic) > count + 5, "outcomes of the other", within=UNTIL_FORMED)

    assert traffic.text("#demo-worker-killed") == "Start it again"
    switch(traffic, "worker-killed", False)
    traffic.wait(lambda: ready(traffic) == "2 of 2 ready", "both workers", within=UNTIL_FORMED)
    assert traffic.text("#demo-worker-killed") == "Kill it"


def test_batch_job_is_in_progress_until_no_request_waits_and_a_search_is_served_meanwhile(browser, demo, traffic):
    traffic.click("#demo-flood")
    traffic.wait_for_text("#demo-flood", "In progress")
    search_until_found(search(browser, demo, provider="hotpepper"))
    assert demo.controls()["flood"], "the search did not wait for the job"

    traffic.use()
    traffic.wait(lambda: traffic.text("#demo-flood") == "Send them", "the end of the job", within=UNTIL_CLOSED)


def test_several_faults_outlast_a_reload_until_all_is_back_to_normal(browser, demo, traffic):
    for number, name in enumerate(["slow-provider", "refused-key", "worker-killed"], start=1):
        traffic.click(f"#demo-{name}")
        traffic.wait_for_text(".demo-open", f"Demo: {number} on")

    traffic.driver.refresh()
    traffic.wait_for_text(".demo-open", "Demo: 3 on")
    traffic.wait_for("#demo-worker-killed")
    traffic.wait_for_result("return document.querySelectorAll('#demo [role=switch]:checked').length", 3)

    traffic.click("#demo .demo-body > .small")
    traffic.wait_for_text(".demo-open", "Demo")
    assert [name for name, is_on in demo.controls().items() if is_on] == ["traffic"]
    traffic.wait_for_result("return document.querySelectorAll('#demo [role=switch]:checked').length", 1)
    traffic.wait(lambda: ready(traffic) == "2 of 2 ready", "both workers", within=UNTIL_FORMED)


def test_panel_is_driven_by_the_keyboard_and_leads_to_what_it_speaks_of(browser, demo, traffic):
    traffic.press(".demo-open", Keys.ENTER)
    traffic.wait_gone("#demo")
    traffic.press(".demo-open", Keys.ENTER)
    traffic.wait_for_focus("#demo-title")
    traffic.press("#demo-slow-provider", Keys.SPACE)
    traffic.wait_for_text(".demo-open", "Demo: 1 on")
    traffic.press("#demo-slow-provider", Keys.SPACE)
    traffic.wait_for_text(".demo-open", "Demo")
    traffic.wait_for_focus("#demo-slow-provider")

    traffic.press("#demo-worker-killed ~ .demo-looks a", Keys.ENTER)
    traffic.wait_for_result("return document.querySelector(':target')?.id", "workers-heading")
    traffic.press("#demo-slow-provider", Keys.ESCAPE)
    traffic.wait_gone("#demo")
    traffic.wait_for_focus(".demo-open")

    traffic.click(".demo-open")
    traffic.click("#demo-refused-key ~ .demo-looks a", 1)
    search_until_found(traffic)
    assert "category=hospital" in traffic.driver.current_url
    traffic.wait_for("#demo-refused-key")


def test_panel_works_where_the_browser_refuses_storage(browser, demo):
    window = browser.window("about:blank")
    window.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": REFUSES_STORAGE})
    window.driver.get(demo.url + "/traffic")
    window.click(".demo-open")
    window.wait_for("#demo-slow-provider")

    # No error is logged, and the page stays in the browser's language.
    window.click("#language")
    window.wait_for_result("return document.documentElement.lang", "en")


def test_each_page_leads_to_all_others_and_to_the_panel(traffic, demo):
    for path in ("/", "/traffic", "/request", "/dead-letters"):
        traffic.driver.get(demo.url + path)
        traffic.wait_for(".demo-open")
        assert traffic.texts(".views a") == ["Search", "Traffic", "Request", "Dead letters"]
        traffic.wait_for_result("return document.querySelector('[aria-current=page]').pathname", path)
        traffic.emulate(PHONE, "light")
        width = "const views = document.querySelector('.views'); return views.scrollWidth - views.clientWidth"
        assert traffic.run(width) == 0, f"all views are seen on {path}"
        traffic.emulate(DESKTOP, "light")


def test_two_workers_of_one_machine_have_different_names(traffic):
    names = traffic.texts(".worker-name strong")
    assert len(set(names)) == 2 and names[0].split("-")[0] == names[1].split("-")[0], names


@pytest.mark.parametrize("language", ["en", "ja"])
def test_panel_is_usable_by_all(browser, demo, traffic, language):
    if language == "ja":
        traffic.click("#language")
    traffic.click("#demo-slow-provider")
    traffic.wait_for(".demo-control.is-fault.is-on")
    check_all_looks(traffic, "the traffic page with the panel")
    traffic.emulate(DESKTOP, "light")
    traffic.driver.get(demo.url + "/")
    traffic.wait_for("#demo-slow-provider")
    check_all_looks(traffic, "the search page with the panel")


def test_other_consoles_have_neither_panel_nor_route(browser, harness, allowed):
    console = harness.console("console-of-no-demo")
    allowed["hosts"].add(console.url)
    for path in ("/", "/traffic", "/request", "/dead-letters"):
        window = browser.window(console.url + path)
        window.wait_for_result(
            "return performance.getEntriesByType('resource').filter(({ name, responseEnd }) => "
            "name.endsWith('/api/config') && responseEnd > 0).length",
            2 if path == "/" else 1,
        )
        assert window.count(".demo-open, #demo") == 0
    for path, body in (("", None), ("", b'{"name":"traffic","isOn":true}'), ("/clear", b"{}")):
        request = urllib.request.Request(
            f"{console.url}/api/demo/faults{path}", body, {"content-type": "application/json"}
        )
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(request, timeout=10)
