"""The words that the page's empty fields suggest find places, at each provider that serves them."""

import re

import pytest
from browser import search_url

GOOGLE = ["google-places", "google-places-legacy"]


def words(window, selector: str) -> list[str]:
    """The words of a hint, without what stands between and after them."""
    hint = window.run("return document.querySelector(arguments[0]).placeholder", selector)
    found = [word for word in re.split(r"[,、…\s]+", hint) if word]
    assert len(found) == 3, hint
    return found


@pytest.mark.parametrize("language", ["en", "ja"])
def test_hints_find_places(browser, console, language):
    window = browser.window(search_url(console))
    window.wait_for("#empty")
    if language == "ja":
        window.click("#language")
    keywords, categories = words(window, "[name=keyword]"), words(window, "#other-category")

    def finds(**members) -> bool:
        # One window for all of them: each window holds a connection, and a browser opens six to a host.
        window.driver.get("about:blank")
        window.driver.get(search_url(console, **members))
        window.click(".search-here")
        return bool(window.wait_for_places())

    for provider in ["hotpepper", *GOOGLE]:
        for keyword in keywords:
            assert finds(provider=provider, keyword=keyword), f"{keyword} at {provider}"
    for provider in GOOGLE:
        for category in categories:
            assert finds(provider=provider, category=category), f"{category} at {provider}"
