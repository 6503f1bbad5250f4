"""A page in a real browser, and what a person does with it. Every wait is for a condition and has a bound."""

import json
import os
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from urllib.parse import urlsplit

from selenium import webdriver
from selenium.common.exceptions import (
    ElementClickInterceptedException,
    ElementNotInteractableException,
    StaleElementReferenceException,
)
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.keys import Keys  # noqa: F401
from selenium.webdriver.remote.webelement import WebElement

AXE = (files("axe_playwright_python") / "axe.min.js").read_text()
# Markers lie where places are, also close together. WCAG 2.5.8 lets them, because each place has its row in the list as
# well.
MARKER = 'class="marker'
DESKTOP, PHONE = (1280, 860), (390, 844)
# The longest wait for a condition. It costs time only where the condition never comes, so a busy machine may take it.
LONGEST_WAIT = 30
# How many times slower than the machine the pages run: `BROWSER_SLOWDOWN=6 make test-browser` looks for races.
SLOWDOWN = float(os.environ.get("BROWSER_SLOWDOWN", "1"))
# What is thrown while the page draws an element anew, moves it or covers it: a reason to look again.
NOT_YET = (StaleElementReferenceException, ElementClickInterceptedException, ElementNotInteractableException)
# The elements of a selector that a person can see.
SEEN = """
const seen = (selector) => [...document.querySelectorAll(selector)].filter((element) => {
  const { width, height } = element.getBoundingClientRect();
  return width + height > 0 && element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
});
"""
# An element that is seen, once it has kept its place for three frames. The map moves under an info window that was just
# opened, so a click made earlier might land beside it.
AT_REST = (
    SEEN
    + """
const [selector, number, done] = arguments;
const element = seen(selector)[number];
const box = () => JSON.stringify(element.getBoundingClientRect());
const after = (frames, then) => (frames > 0 ? requestAnimationFrame(() => after(frames - 1, then)) : then());
if (element) {
  const before = box();
  after(3, () => done(element.isConnected && box() === before ? element : null));
} else {
  done(null);
}
"""
)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Checks how long something takes. Does not count the time for which this process got no processor."""
    ended, stood_still = threading.Event(), 0.0

    def look() -> None:
        nonlocal stood_still
        last = time.monotonic()
        while not ended.wait(0.05):
            now = time.monotonic()
            stood_still += max(0.0, now - last - 0.1)
            last = now

    watch = threading.Thread(target=look, daemon=True)
    watch.start()
    began = time.monotonic()
    try:
        yield
    finally:
        took = time.monotonic() - began
        ended.set()
        watch.join()
    assert took - stood_still < seconds, f"took {took:.1f} s, of which the machine stood still for {stood_still:.1f} s"


# The first is the browser without windows, which takes a third less time of the machine.
PROGRAMS = ("/usr/lib/chromium/chromium-headless-shell", "/usr/bin/chromium")


def open_browser(scale: float = 1, language: str = "en") -> webdriver.Chrome:
    """Starts Debian's chromium. Its sandbox needs rights that a container does not give, and pages under test are
    ours.
    """
    options = webdriver.ChromeOptions()
    options.binary_location = next(program for program in PROGRAMS if os.path.exists(program))
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        f"--lang={language}",
        "--hide-scrollbars",
        f"--force-device-scale-factor={scale}",
        "--disable-background-networking",
        "--disable-component-update",
        # Whatever a page asked for elsewhere, it would not get there.
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ):
        options.add_argument(argument)
    options.add_experimental_option("prefs", {"intl.accept_languages": language})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    # axe looks at a whole page in one script, which takes long on a busy machine.
    driver.set_script_timeout(120)
    return driver


class Browser:
    """One browser; each test has windows of its own in it."""

    def __init__(self, driver: webdriver.Chrome):
        self.driver = driver
        self.errors: list[str] = []
        self.requested: set[str] = set()

    def window(self, url: str, size: tuple[int, int] = DESKTOP, theme: str = "light") -> "Window":
        self.driver.switch_to.new_window("tab")
        window = Window(self, self.driver.current_window_handle)
        window.emulate(size, theme)
        self.driver.get(url)
        return window

    def collect(self) -> None:
        """Takes what the browser has logged since the last time: errors, and the hosts that were asked."""
        for entry in self.driver.get_log("browser"):
            if entry["level"] in ("SEVERE", "WARNING"):
                self.errors.append(entry["message"])
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = urlsplit(message["params"]["request"]["url"])
                if url.scheme not in ("data", "chrome", "about", "blob", "chrome-extension"):
                    self.requested.add(f"{url.scheme}://{url.netloc}")

    def close_windows(self) -> None:
        for handle in self.driver.window_handles[1:]:
            self.driver.switch_to.window(handle)
            self.driver.execute_script("localStorage.clear()")
            self.driver.delete_all_cookies()
            self.driver.close()
        self.driver.switch_to.window(self.driver.window_handles[0])


class Window:
    def __init__(self, browser: Browser, handle: str):
        self.browser, self.driver, self.handle = browser, browser.driver, handle

    def emulate(self, size: tuple[int, int], theme: str, reduced_motion: bool = True) -> None:
        width, height = size
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 0, "mobile": width < 500},
        )
        features = [
            {"name": "prefers-color-scheme", "value": theme},
            {"name": "prefers-reduced-motion", "value": "reduce" if reduced_motion else "no-preference"},
        ]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        if SLOWDOWN > 1:
            self.driver.execute_cdp_cmd("Emulation.setCPUThrottlingRate", {"rate": SLOWDOWN})

    def use(self) -> "Window":
        self.driver.switch_to.window(self.handle)
        return self

    # Looking: each look is one script, because the page may draw anew between two.

    def count(self, selector: str) -> int:
        return self.run("return document.querySelectorAll(arguments[0]).length", selector)

    def is_seen(self, selector: str) -> bool:
        return self.run(SEEN + "return seen(arguments[0]).length > 0", selector)

    def text(self, selector: str) -> str:
        """The text of the first element that is seen, as a person reads it; empty when none is."""
        return self.run(SEEN + "return (seen(arguments[0])[0]?.innerText ?? '').trim()", selector)

    def label(self, selector: str) -> str | None:
        """What a screen reader calls the first element that is seen."""
        return self.run(SEEN + "return seen(arguments[0])[0]?.ariaLabel", selector)

    def texts(self, selector: str) -> list[str]:
        return self.run(
            f"return [...document.querySelectorAll({json.dumps(selector)})].map((element) => element.textContent)"
        )

    def run(self, script: str, *arguments):
        return self.driver.execute_script(script, *arguments)

    # Waiting: the page draws what it shows at different times, so each condition is waited for by itself.

    def wait(self, condition, what: str, within: float = LONGEST_WAIT):
        """Returns the first true value of `condition`. What is drawn anew in the middle of a look is looked at
        again.
        """
        began = time.monotonic()
        problem = ""
        while True:
            try:
                if value := condition():
                    return value
            except NOT_YET as exception:
                problem = f" ({exception.msg})"
            waited = time.monotonic() - began
            if waited > within:
                raise AssertionError(f"waited {within:.0f} s for {what}{problem}; the page says: {self.said()}")
            # A look takes 10 ms of four processes' time, so the longer the wait, the rarer the looks.
            time.sleep(min(max(0.03, waited / 10), 0.3))

    def wait_for_value(self, look, expected, what: str) -> None:
        """Waits until a look gives what is expected, and tells what it gave last when that never comes."""
        last = None

        def is_as_expected() -> bool:
            nonlocal last
            last = look()
            return last == expected

        try:
            self.wait(is_as_expected, what)
        except AssertionError as error:
            raise AssertionError(f"{what}: {last!r} in place of {expected!r}; {error}") from None

    def wait_for(self, selector: str) -> None:
        self.wait(lambda: self.is_seen(selector), selector)

    def wait_gone(self, selector: str, within: float = LONGEST_WAIT) -> None:
        self.wait(lambda: not self.is_seen(selector), f"no {selector}", within)

    def wait_for_count(self, selector: str, count: int) -> None:
        self.wait_for_value(lambda: self.count(selector), count, f"the number of {selector}")

    def wait_for_text(self, selector: str, text: str) -> None:
        """Waits for the text of the first element that is seen."""
        self.wait_for_value(lambda: self.text(selector), text, f"the text of {selector}")

    def wait_for_texts(self, selector: str, texts: list[str]) -> None:
        self.wait_for_value(lambda: self.texts(selector), texts, f"the texts of {selector}")

    def wait_for_result(self, script: str, expected) -> None:
        self.wait_for_value(lambda: self.run(script), expected, script)

    def wait_for_focus(self, selector: str) -> None:
        """Waits until the keyboard is at an element."""
        script = "return document.activeElement?.matches(arguments[0])"
        self.wait(lambda: self.run(script, selector), f"focus on {selector}")

    def said(self) -> str:
        """The page's texts in one line, cut short."""
        text = self.run("return (document.querySelector('main') ?? document.body)?.innerText ?? ''")
        return " | ".join(text.split("\n"))[:700]

    # Doing: what is drawn anew before the hand is there is looked for again.

    def click(self, selector: str, number: int = 0) -> None:
        """Clicks on an element that is seen, counted from 0."""
        self._do(selector, number, lambda element: element.click())

    def press(self, selector: str, *keys: str) -> None:
        """Gives an element the focus and presses keys."""
        self._do(selector, 0, lambda element: element.send_keys(*keys))

    def press_where_the_focus_is(self, *keys: str) -> None:
        def press() -> bool:
            self.driver.switch_to.active_element.send_keys(*keys)
            return True

        self.wait(press, "an element with the focus")

    def fill(self, selector: str, text: str) -> None:
        def fill(field: WebElement) -> None:
            field.clear()
            field.send_keys(text)

        self._do(selector, 0, fill)

    def focus(self, selector: str, number: int = 0) -> None:
        self._do(selector, number, lambda element: self.run("arguments[0].focus()", element))

    def _do(self, selector: str, number: int, act) -> None:
        def done() -> bool:
            element = self.driver.execute_async_script(AT_REST, selector, number)
            if element is None:
                return False
            act(element)
            return True

        self.wait(done, f"{selector}, number {number}")

    def search(self, keyword: str = "") -> None:
        self.fill("[name=keyword]", keyword)
        self.click(".search-here")

    def find_life(self, id: str) -> None:
        """Looks a request up on its page, until something is known of it: a moment ago it may not have been written."""
        self.fill("#life-id", id)
        self.click(".look-up button")
        self.wait_gone("#life-reading .spinner")

    def wait_for_places(self, count: int | None = None) -> list[str]:
        """Waits for the list of a search that is over, and returns the names."""

        def names():
            found = self.run(
                "const list = document.getElementById('results');"
                "const isOver = list.ariaBusy === 'false' && !list.classList.contains('is-superseded');"
                "return isOver ? [...list.querySelectorAll('#places .place-name')].map((name) => name.textContent) : []"
            )
            return found if found and count in (None, len(found)) else None

        what = "places" if count is None else f"{count} places"
        return self.wait(names, what)

    def axe(self) -> list[str]:
        """Returns what axe finds wrong, a line for each rule and its elements."""
        if self.run("return typeof axe === 'undefined'"):
            # Not by a script element: the page's own policy rightly refuses one.
            self.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": AXE})
        tags = json.dumps(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"])
        found = self.driver.execute_async_script(
            "const done = arguments[0];"
            f"axe.run(document, {{runOnly: {tags}}}).then((result) => done(result.violations))"
        )

        def is_beside_markers_only(node):
            # axe does not know that the map, which is isolated, lies behind the banner with all its markers.
            neighbours = [related["html"] for check in node["any"] for related in check["relatedNodes"]]
            return bool(neighbours) and all(MARKER in html for html in neighbours)

        def is_for_its_row(node):
            return MARKER in node["html"] or is_beside_markers_only(node)

        def nodes(rule):
            return [node for node in rule["nodes"] if not (rule["id"] == "target-size" and is_for_its_row(node))]

        def faults(rule):
            return [(node["html"][:160], node["failureSummary"][:300]) for node in nodes(rule)[:4]]

        return [
            f"{rule['id']}: {rule['help']}: "
            f"{[(node['html'][:160], node['failureSummary'][:300]) for node in nodes(rule)[:4]]}"
            for rule in found
            if nodes(rule)
        ]


def fresh_session() -> str:
    return "test-" + secrets.token_hex(8)


def search_url(console, session: str | None = None, **members) -> str:
    """The address of the search page; each member is a part of the link."""
    parts = {"session": session or fresh_session(), **members}
    return f"{console.url}/#" + "&".join(f"{name}={value}" for name, value in parts.items())
