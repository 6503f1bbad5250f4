"""A person's whole way through the search page."""

import re
from urllib.parse import parse_qsl

from browser import Keys, fresh_session, search_url


def test_first_visit_asks_for_nothing_and_shows_the_map_at_zoom_16(browser, console):
    window = browser.window(console.url)
    window.wait_for("#empty[data-kind=fresh]")
    window.wait(lambda: "zoom=16" in window.run("return location.hash"), "the link")
    assert window.count("#map .marker") == 0
    assert window.run("return document.querySelectorAll('.grid-labels text').length") > 4


def test_link_that_ends_in_go_searches_at_once_and_only_once(browser, console):
    window = browser.window(console.url + "/#go")
    names = window.wait_for_places(20)
    window.wait(
        lambda: "session=" in (link := window.run("return location.hash")) and not link.endswith("go"),
        "a link without go",
    )
    sent = "return performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/requests')).length"
    assert window.run(sent) == 1

    window.driver.refresh()
    assert window.wait_for_places(20) == names
    assert window.run(sent) == 0


def test_person_searches_and_each_place_is_in_the_list_and_on_the_map(browser, console):
    window = browser.window(search_url(console))
    window.search()
    names = window.wait_for_places(20)

    labels = window.run("return [...document.querySelectorAll('#map .marker')].map((marker) => marker.ariaLabel)")
    assert sorted(labels) == sorted(f"{number}: {name}" for number, name in enumerate(names, 1))
    assert sorted(window.texts("#map .marker"), key=int) == window.texts("#places .place-number"), (
        "both have the same numbers"
    )
    assert window.text("#results-heading") == "20 places"
    assert "within 500 m" in window.text("#results-summary")
    assert any("Powered by" in line for line in window.texts("#credits li"))
    assert window.run("return document.querySelector('#credits a').href") == "https://webservice.recruit.co.jp/", (
        "as their terms ask"
    )
    assert float(window.run("return document.querySelector('.circle.made').getAttribute('r')")) > 100


def test_marker_and_list_lead_to_each_other(browser, console):
    window = browser.window(search_url(console))
    window.search()
    names = window.wait_for_places()

    window.focus("#places .place button", 2)
    window.wait(
        lambda: window.label(".marker.is-hovered") == f"3: {names[2]}", "the marker of the place with the focus"
    )

    window.click("#places .place button", 4)
    window.wait(lambda: window.text(".info .info-name") == names[4], "the info window")
    window.wait(
        lambda: window.label(".marker.is-active") == f"5: {names[4]}", "the marker of the place that was chosen"
    )

    window.press(".marker[aria-label^='8: ']", Keys.ENTER)
    window.wait(lambda: window.text(".info .info-name") == names[7], "the other info window")
    window.wait(lambda: window.text(".place.is-active .place-name") == names[7], "the row of the place that was chosen")


def test_keyboard_alone_leads_from_the_list_to_the_details_and_back(browser, console):
    window = browser.window(search_url(console))
    window.search()
    names = window.wait_for_places()
    keyboard = lambda *keys: window.driver.switch_to.active_element.send_keys(*keys)  # noqa: E731

    window.focus("#places .place button", 2)
    keyboard(Keys.ENTER)
    window.wait(
        lambda: window.run("return document.activeElement.dataset.does") == "details", "the button in the info window"
    )
    keyboard(Keys.ESCAPE)
    window.wait_gone(".info")
    assert window.run("return document.activeElement.ariaLabel") == f"3: {names[2]}", "the marker has the focus"

    keyboard(Keys.ENTER)
    window.wait(
        lambda: window.run("return document.activeElement.dataset.does") == "details", "the button in the info window"
    )
    keyboard(Keys.ENTER)
    window.wait(lambda: window.run("return document.activeElement.id") == "detail-name", "the card")
    assert window.text("#detail-name") == names[2]
    window.wait_gone(".info")


def test_info_window_shows_name_category_distance_and_picture(browser, console):
    window = browser.window(search_url(console))
    window.search()
    names = window.wait_for_places()
    window.click("#places .place button")

    window.wait(lambda: window.text(".info .info-name") == names[0], "the info window")
    facts = window.text(".info .info-facts")
    assert "·" in facts and facts.endswith(" m")
    window.wait_for(".info .picture.is-loaded")
    source = window.run("return document.querySelector('.info img').src")
    assert source.startswith(console.url + "/api/pictures?url=")


def test_details_and_picture_of_a_place_come_on_demand(browser, console):
    window = browser.window(search_url(console))
    window.search()
    names = window.wait_for_places()
    window.click("#places .place button", 1)

    window.click(".info [data-does=details]")
    window.wait(lambda: window.text("#detail-name") == names[1], "the card of details")
    window.wait_gone("#detail.is-loading")
    assert window.text("#detail .detail-line")
    assert window.run("return document.activeElement.id") == "detail-name"
    assert window.text(".place.is-selected .place-name") == names[1]

    # The place has one picture, so the same one comes again, and too fast to be caught loading by a look now and then.
    window.run("""const card = document.getElementById('detail');
      const look = () => { window.hasLoaded ||= card.classList.contains('is-loading'); };
      new MutationObserver(look).observe(card, {attributeFilter: ['class']})""")
    window.click("#detail [data-does=photo]")
    window.wait(lambda: window.run("return window.hasLoaded"), "the request for the picture")
    window.wait_gone("#detail.is-loading")
    window.wait_for("#detail .picture.is-loaded")
    assert window.texts("#detail .credits li") != []

    window.press("#detail-name", Keys.ESCAPE)
    window.wait_gone("#detail")


def test_failed_search_says_what_happened_and_retrying_helps(browser, console):
    window = browser.window(search_url(console, provider="hotpepper"))
    window.search("fault:503*1")

    window.wait_for("#banner")
    assert window.text("#banner-title") == "The provider is out of order"
    assert "Trying again may help" in window.text("#banner-advice")
    window.click("#banner-retry")
    window.wait_for_places()
    window.wait_gone("#banner")


def test_rate_limited_search_counts_down_until_it_can_be_tried_again(browser, console):
    window = browser.window(search_url(console, provider="google-places-legacy"))
    window.search("fault:RESOURCE_EXHAUSTED=9*1")

    window.wait_for("#banner")
    assert window.text("#banner-title") == "Too many requests just now"
    waiting = window.run(
        "return [document.getElementById('banner-retry').textContent, "
        "document.getElementById('banner-retry').ariaDisabled]"
    )
    assert re.fullmatch("Try again in [1-9] s", waiting[0]) and waiting[1] == "true"
    window.wait(lambda: window.text("#banner-retry") == "Try again", "the end of the wait")
    assert window.run("return document.getElementById('banner-retry').ariaDisabled") == "false"
    window.click("#banner-retry")
    window.wait_for_places()


def test_failed_search_that_retrying_cannot_help_has_no_retry(browser, console):
    window = browser.window(search_url(console, provider="hotpepper", category="hospital"))
    window.search()

    window.wait_for("#banner")
    assert window.text("#banner-title") == "This request is not understood"
    assert not window.is_seen("#banner-retry")
    window.click("#banner-close")
    window.wait_gone("#banner")


def test_search_without_places_is_no_error(browser, console):
    window = browser.window(search_url(console, provider="hotpepper"))
    window.search("fault:none")

    window.wait_for("#empty[data-kind=nothing]")
    assert window.text("#empty h3") == "Nothing found here"
    assert not window.is_seen("#banner")


def test_newer_search_supersedes_and_the_older_list_is_dimmed_meanwhile(browser, console):
    window = browser.window(search_url(console, provider="hotpepper"))
    window.search()
    window.wait_for_places()

    window.search("fault:delay=9000")
    window.wait_for("#superseded")
    assert window.count("#results.is-superseded #places .place") > 0, "the older list stays, dimmed"
    assert window.is_seen("#progress")
    assert "Searching" in window.run("return document.getElementById('told').textContent")

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
    assert second.wait_for_places() == names

    first.use().click("#places .place button", 3)
    first.click(".info [data-does=details]")
    second.use().wait(lambda: second.text("#detail-name") == names[3], "the details that the first window asked for")


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
    window.wait(lambda: "session=" in window.run("return location.hash"), "the link")
    values = window.run("""const byId = (id) => document.getElementById(id);
      const byName = (name) => document.querySelector(`[name=${name}]`);
      return [byName("keyword").value, byId("provider").value, byId("other-category").value,
        byId("radius-value").textContent, byName("openNow").checked]""")
    assert values == ["quiet", "google-places", "cafe", "300 m", True]

    window.click("#copy-link")
    window.wait(lambda: window.text("#copied"), "a word about the link")


def test_google_places_are_a_list_and_no_markers(browser, console):
    window = browser.window(search_url(console, provider="google-places", category="hospital"))
    window.search()
    names = window.wait_for_places()

    assert window.count("#map .marker") == 0
    credits = window.wait(lambda: window.texts("#credits li"), "credits")
    assert any("Google map only" in line for line in credits) and any("Google Maps" in line for line in credits)

    window.click("#places .place button")
    window.wait(lambda: window.text("#detail-name") == names[0], "the details, as there is no info window")


def test_more_places_are_appended(browser, console):
    window = browser.window(search_url(console, provider="hotpepper", radius=1000))
    window.search()
    names = window.wait_for_places(20)

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


def test_language_and_theme_are_kept(browser, console):
    window = browser.window(search_url(console))
    window.wait_for("#empty")
    window.click("#language")
    assert window.text(".search-here") == "ここで検索"
    window.click("#theme")

    window.driver.refresh()
    window.wait(lambda: window.text("#empty h3") == "どこを探しますか", "the page in Japanese")
    assert window.run("return getComputedStyle(document.documentElement).colorScheme") == "dark"
