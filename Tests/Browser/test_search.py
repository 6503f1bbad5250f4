"""A person's whole way through the search page."""

import re
from urllib.parse import parse_qsl

import pytest
from browser import Keys, fresh_session, search_url

SETTINGS_COME_LATE = """
const fetchAtOnce = window.fetch;
const settings = new Promise((resolve) => (window.letSettingsCome = resolve));
window.fetch = async (path, ...all) => {
  if (path === "api/config") await settings;
  return fetchAtOnce(path, ...all);
};
"""
# A page that lags gets the newest state only. This one never sees the state in which a place is loading.
LAGS = """
window.EventSource = class extends EventSource {
  addEventListener(name, handle, ...all) {
    const isNewest = (event) => name !== "state" || !JSON.parse(event.data).selected?.isLoading;
    super.addEventListener(name, (event) => isNewest(event) && handle(event), ...all);
  }
};
"""
# Keeps the newest state that the page has got.
KEEPS_STATE = """
window.EventSource = class extends EventSource {
  constructor(...all) {
    super(...all);
    this.addEventListener("state", (event) => (window.newestState = JSON.parse(event.data)));
  }
};
"""


def test_first_visit_asks_for_nothing_and_shows_the_map_at_zoom_16(browser, console):
    window = browser.window(console.url)
    window.wait_for("#empty[data-kind=fresh]")
    window.wait(lambda: "zoom=16" in window.run("return location.hash"), "the link")
    window.wait_for_text("#map-attribution", "Natural Earth")
    assert window.count("#map .marker") == 0


def test_link_fills_the_form_and_starts_no_search_without_a_click(browser, console):
    window = browser.window(search_url(console, provider="hotpepper") + "&keyword=pizza&go")
    window.wait_for("#empty[data-kind=fresh]")
    window.wait(
        lambda: "session=" in (link := window.run("return location.hash")) and not link.endswith("go"),
        "a link without go",
    )
    assert window.run("return document.querySelector('[name=keyword]').value") == "pizza"
    sent = "return performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/requests')).length"
    assert window.run(sent) == 0

    window.click(".search-here")
    names = window.wait_for_places()
    # The browser counts a request when its answer has come, which may be later than the places.
    window.wait_for_result(sent, 1)

    window.driver.refresh()
    assert window.wait_for_places() == names
    assert window.run(sent) == 0


def test_search_that_is_asked_for_before_the_settings_came_is_made(browser, console):
    window = browser.window("about:blank")
    window.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": SETTINGS_COME_LATE})
    window.driver.get(search_url(console, provider="hotpepper"))
    window.search("fault:none")
    window.wait_for("#progress")
    window.run("letSettingsCome()")

    window.wait_for("#empty[data-kind=nothing]")
    window.wait(lambda: "keyword=fault" in window.run("return location.hash"), "the search in the link")


def test_person_searches_and_each_place_is_in_the_list_and_on_the_map(browser, console):
    window = browser.window(search_url(console))
    window.search()
    names = window.wait_for_places(20)

    labels = "return [...document.querySelectorAll('#map .marker')].map((marker) => marker.ariaLabel).sort()"
    window.wait_for_value(
        lambda: sorted(window.run(labels)),
        sorted(f"{number}: {name}" for number, name in enumerate(names, 1)),
        "the labels of the markers",
    )
    numbers = [str(number) for number in range(1, 21)]
    window.wait_for_texts("#places .place-number", numbers)
    window.wait_for_value(lambda: sorted(window.texts("#map .marker"), key=int), numbers, "the numbers of the markers")

    window.wait_for_text("#results-heading", "20 places")
    window.wait(lambda: "within 500 m" in window.text("#results-summary"), "the radius of the search")
    window.wait(lambda: any("Powered by" in line for line in window.texts("#credits li")), "the credits")
    # As Hot Pepper's terms ask.
    window.wait_for_result("return document.querySelector('#credits a')?.href", "https://webservice.recruit.co.jp/")
    # A frame draws the circle some time after the list.
    window.wait(
        lambda: float(window.run("return document.querySelector('.circle.made')?.getAttribute('r') ?? 0")) > 100,
        "the circle of the search",
    )


def test_marker_and_list_lead_to_each_other(browser, console):
    window = browser.window(search_url(console))
    window.search()
    names = window.wait_for_places()

    window.focus("#places .place button", 2)
    window.wait_for_value(lambda: window.label(".marker.is-hovered"), f"3: {names[2]}", "the marker of the focus")

    window.click("#places .place button", 4)
    window.wait_for_text(".info .info-name", names[4])
    window.wait_for_value(lambda: window.label(".marker.is-active"), f"5: {names[4]}", "the marker that was chosen")

    window.press(".marker[aria-label^='8: ']", Keys.ENTER)
    window.wait_for_text(".info .info-name", names[7])
    window.wait_for_text(".place.is-active .place-name", names[7])


def test_keyboard_alone_leads_from_the_list_to_the_details_and_back(browser, console):
    window = browser.window(search_url(console))
    window.search()
    names = window.wait_for_places()
    window.focus("#places .place button", 2)
    window.press_where_the_focus_is(Keys.ENTER)
    window.wait_for_focus(".info [data-does=details]")
    window.press_where_the_focus_is(Keys.ESCAPE)
    window.wait_gone(".info")
    window.wait_for_result("return document.activeElement.ariaLabel", f"3: {names[2]}")

    window.press_where_the_focus_is(Keys.ENTER)
    window.wait_for_focus(".info [data-does=details]")
    window.press_where_the_focus_is(Keys.ENTER)
    window.wait_for_focus("#detail-name")
    window.wait_for_text("#detail-name", names[2])
    window.wait_gone(".info")


def test_card_leads_the_keyboard_to_it_though_the_page_sees_the_answer_only(browser, console):
    window = browser.window("about:blank")
    window.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": LAGS})
    window.driver.get(search_url(console))
    window.search()
    names = window.wait_for_places()
    window.click("#places .place button", 1)

    window.click(".info [data-does=details]")
    window.wait_for_text("#detail-name", names[1])
    window.wait_for_focus("#detail-name")


def test_info_window_shows_name_category_distance_and_picture(browser, console):
    window = browser.window(search_url(console))
    window.search()
    names = window.wait_for_places()
    window.click("#places .place button")

    window.wait_for_text(".info .info-name", names[0])
    window.wait(
        lambda: "·" in (facts := window.text(".info .info-facts")) and facts.endswith(" m"), "category and distance"
    )
    window.wait_for(".info .picture.is-loaded")
    source = window.run("return document.querySelector('.info img').src")
    assert source.startswith(console.url + "/api/pictures?url=")


def test_details_and_picture_of_a_place_come_on_demand(browser, console):
    window = browser.window("about:blank")
    window.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": KEEPS_STATE})
    window.driver.get(search_url(console))
    window.search()
    names = window.wait_for_places()
    window.click("#places .place button", 1)

    window.click(".info [data-does=details]")
    window.wait_for_text("#detail-name", names[1])
    window.wait_for_focus("#detail-name")
    window.wait_for_result("return newestState.selected.hasDetails && !newestState.selected.isLoading", True)
    window.wait_gone("#detail.is-loading")
    window.wait(lambda: window.text("#detail .detail-line"), "the address")
    window.wait_for_text(".place.is-selected .place-name", names[1])

    # The place has one picture, so the same one comes again. Two more revisions are the request and its outcome.
    before = window.run("return newestState.revision")
    window.click("#detail [data-does=photo]")
    window.wait_for_result(f"return newestState.revision >= {before + 2} && !newestState.selected.isLoading", True)
    window.wait_gone("#detail.is-loading")
    window.wait_for("#detail .picture.is-loaded")
    window.wait(lambda: window.texts("#detail .credits li"), "the credits")

    window.press("#detail-name", Keys.ESCAPE)
    window.wait_gone("#detail")


def test_failed_search_says_what_happened_and_retrying_helps(browser, console):
    window = browser.window(search_url(console, provider="hotpepper"))
    window.search("fault:503*1")

    window.wait_for("#banner")
    window.wait_for_text("#banner-title", "The provider is out of order")
    window.wait(lambda: "Trying again may help" in window.text("#banner-advice"), "the advice")
    window.click("#banner-retry")
    window.wait_for_places()
    window.wait_gone("#banner")


def test_rate_limited_search_counts_down_until_it_can_be_tried_again(browser, console):
    window = browser.window(search_url(console, provider="google-places-legacy"))
    window.search("fault:RESOURCE_EXHAUSTED=9*1")

    window.wait_for("#banner")
    window.wait_for_text("#banner-title", "Too many requests just now")
    waiting = window.run(
        "return [document.getElementById('banner-retry').textContent, "
        "document.getElementById('banner-retry').ariaDisabled]"
    )
    assert re.fullmatch("Try again in [1-9] s", waiting[0]) and waiting[1] == "true"
    window.wait_for_text("#banner-retry", "Try again")
    window.wait_for("#banner-retry[aria-disabled=false]")
    window.click("#banner-retry")
    window.wait_for_places()


def test_failed_search_that_retrying_cannot_help_has_no_retry(browser, console):
    window = browser.window(search_url(console, provider="hotpepper", category="hospital"))
    window.search()

    window.wait_for("#banner")
    window.wait_for_text("#banner-title", "The request is invalid")
    assert not window.is_seen("#banner-retry")
    window.click("#banner-close")
    window.wait_gone("#banner")


def test_search_without_places_is_no_error(browser, console):
    window = browser.window(search_url(console, provider="hotpepper"))
    window.search("fault:none")

    window.wait_for("#empty[data-kind=nothing]")
    window.wait_for_text("#empty h3", "Nothing found here")
    assert not window.is_seen("#banner")


def test_newer_search_supersedes_and_the_older_list_is_dimmed_meanwhile(browser, console):
    window = browser.window(search_url(console, provider="hotpepper"))
    window.search()
    window.wait_for_places()

    window.search("fault:delay=9000")
    window.wait_for("#superseded")
    window.wait_for("#results.is-superseded #places .place")  # The older list stays, dimmed.
    window.wait_for("#progress")
    window.wait(lambda: "Searching" in window.run("return document.getElementById('told').textContent"), "the words")

    window.search("fault:delay=100")
    window.wait_for_places()
    window.wait_gone("#superseded")
    assert not window.is_seen("#banner"), "the superseded search is no error"


def test_second_window_of_the_session_shows_the_same(browser, console):
    first = browser.window(search_url(console))
    first.search()
    names = first.wait_for_places()
    first.wait(lambda: "lat=" in first.run("return location.hash"), "the link")

    second = browser.window(first.run("return location.href"))
    second.wait_for_texts("#places .place-name", names)

    first.use().click("#places .place button", 3)
    first.click(".info [data-does=details]")
    second.use().wait_for_text("#detail-name", names[3])


def test_link_holds_the_search(browser, console):
    url = search_url(
        console,
        fresh_session(),
        lat=35.7,
        lng=139.71,
        zoom=15,
        category="cafe",
        keyword="quiet",
        provider="google-places",
        radius=300,
        open=1,
    )
    window = browser.window(url)
    window.wait_for_result(
        """const byId = (id) => document.getElementById(id);
      const byName = (name) => document.querySelector(`[name=${name}]`);
      return [byName("keyword").value, byId("provider").value, byId("other-category").value,
        byId("radius-value").textContent, byName("openNow").checked]""",
        ["quiet", "google-places", "cafe", "300 m", True],
    )


def test_google_places_are_a_list_and_no_markers(browser, console):
    window = browser.window(search_url(console, provider="google-places", category="hospital"))
    window.search()
    names = window.wait_for_places()

    window.wait_for_count("#places .place-number.is-off-map", len(names))
    assert window.count("#map .marker") == 0
    for words in ("Google map only", "Google Maps"):
        window.wait(lambda: any(words in line for line in window.texts("#credits li")), f"the credit: {words}")

    # There is no info window, so the details are opened.
    window.click("#places .place button")
    window.wait_for_text("#detail-name", names[0])


@pytest.mark.parametrize(
    ("provider", "keyword", "radius", "changes_language"),
    [("hotpepper", "", 1000, False), ("google-places", "ramen", 5000, True)],
)
def test_more_places_are_appended(browser, console, provider, keyword, radius, changes_language):
    """Google refuses a page token together with another language. Hot Pepper has no languages."""
    window = browser.window(search_url(console, provider=provider, radius=radius))
    window.search(keyword)
    names = window.wait_for_places(20)
    if changes_language:
        window.click("#language")
        window.wait_for_text(".search-here", "ここで検索")
        window.wait_for_texts("#places .place-name", names)

    window.click("#more")
    more = window.wait(lambda: len(found := window.texts("#places .place-name")) > 20 and found, "the next page")
    assert more[:20] == names


def test_keyboard_moves_and_zooms_the_map(browser, console):
    window = browser.window(search_url(console))
    window.wait_for("#empty")
    link = lambda: dict(parse_qsl(window.run("return location.hash.slice(1)")))  # noqa: E731
    before = window.wait(lambda: "lat" in (parts := link()) and parts, "the link")
    window.press("#map", Keys.ARROW_RIGHT, Keys.ARROW_UP, "-")
    after = window.wait(lambda: (parts := link())["zoom"] == "15" and parts, "another link")
    assert float(after["lng"]) > float(before["lng"]) and float(after["lat"]) > float(before["lat"]), (
        "east and north of before"
    )


def test_map_goes_on_beyond_the_date_line(browser, console):
    window = browser.window(search_url(console, lat=21.3, lng=175, zoom=3))
    window.wait_for("#empty")
    window.press("#map", Keys.ARROW_RIGHT)
    window.wait(lambda: "lng=-169" in window.run("return location.hash"), "a longitude of the western hemisphere")
    window.search()
    window.wait_for_text("#empty h3", "Nothing found here")


def test_language_is_kept(browser, console):
    window = browser.window(search_url(console))
    window.wait_for("#empty")
    window.click("#language")
    window.wait_for_text(".search-here", "ここで検索")
    window.driver.refresh()
    window.wait_for_text("#empty h3", "どこを探しますか")
