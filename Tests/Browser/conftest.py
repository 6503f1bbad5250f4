"""What all tests share: the processes, one console, one browser. Each test ends with a look at what the browser
logged.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
from browser import Browser, open_browser
from console_harness import console_harness


@pytest.fixture(scope="session")
def harness():
    with console_harness("locsearch-browser-") as harness:
        yield harness


@pytest.fixture(scope="session")
def console(harness):
    return harness.console()


@pytest.fixture(scope="session")
def driver():
    driver = open_browser()
    yield driver
    driver.quit()


@pytest.fixture
def allowed():
    """Hosts that a test's pages may ask beside the console, and texts of errors that it expects in the browser's
    log.
    """
    return {"hosts": set(), "errors": []}


@pytest.fixture
def browser(driver, console, allowed):
    """Fails a test whose page logged an error, or asked another host than the console and the source of tiles."""
    browser = Browser(driver)
    browser.collect()
    browser.errors, browser.requested = [], set()
    yield browser

    browser.collect()
    browser.close_windows()
    errors = [error for error in browser.errors if not any(expected in error for expected in allowed["errors"])]
    assert errors == [], "the browser logged errors"
    others = browser.requested - {console.url} - allowed["hosts"]
    assert others == set(), "the page asked other hosts"
    assert browser.requested, "the performance log is empty, so that this check would see nothing"
