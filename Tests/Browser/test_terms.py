"""Google's terms for the EEA: pages get only the ids and positions of its places, which may be on any map."""

import pytest
from browser import search_url


@pytest.fixture(scope="module")
def limited(harness):
    return harness.console("console-of-the-eea", CONSOLE_TERMS="eea")


@pytest.fixture
def allowed(limited):
    return {"hosts": {limited.url}, "errors": []}


def test_google_places_are_ids_on_the_map(browser, limited):
    window = browser.window(search_url(limited, provider="google-places", category="hospital"))
    window.search()
    names = window.wait_for_places()
    window.wait_for_count("#map .marker", len(names))
    assert all(" " not in name for name in names), "a place is named by its id"
    assert window.count(".place .rating") + window.count(".place-address bdi") == 0
    assert any("terms for the EEA" in line for line in window.texts("#credits li"))

    window.click("#places .place button")
    window.wait_for_text(".info .info-name", names[0])
    assert window.count(".info-actions") == 0


def test_other_places_are_complete(browser, limited):
    window = browser.window(search_url(limited, provider="hotpepper"))
    window.search()
    window.wait_for_places()
    window.click("#places .place button")
    window.wait_for_count(".info-actions", 1)
    assert not any("terms for the EEA" in line for line in window.texts("#credits li"))
