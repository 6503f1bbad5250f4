"""Google's map, on which Google's places may be shown. There is no Google here: a stand-in has the parts of its
interface that `googlemap.js` uses, and shows that the page calls them as it should."""

import pytest
from browser import search_url

STAND_IN = """
(() => {
  const PIXELS_PER_DEGREE = 50000;
  class LatLng {
    constructor({ lat, lng }) { this.lat = () => lat; this.lng = () => lng; }
  }
  class Map {
    constructor(element, options) {
      Object.assign(this, { element, center: options.center, zoom: options.zoom });
      Object.assign(this, { overlays: new Set(), circles: new Set(), listeners: [] });
      this.pane = element.appendChild(document.createElement("div"));
      window.standIn = this;
    }
    pixel(place) {
      return { x: this.element.clientWidth / 2 + (place.lng() - this.center.lng) * PIXELS_PER_DEGREE,
               y: this.element.clientHeight / 2 - (place.lat() - this.center.lat) * PIXELS_PER_DEGREE };
    }
    changed() {
      for (const overlay of this.overlays) overlay.draw();
      for (const listener of this.listeners) listener();
    }
    getCenter() { return new LatLng(this.center); }
    getZoom() { return this.zoom; }
    moveCamera({ center, zoom }) { Object.assign(this, { center, zoom }); this.changed(); }
    panBy(x, y) {
      this.center = { lng: this.center.lng + x / PIXELS_PER_DEGREE, lat: this.center.lat - y / PIXELS_PER_DEGREE };
      this.changed();
    }
    addListener(name, listener) { if (name === "bounds_changed") this.listeners.push(listener); }
  }
  class OverlayView {
    static preventMapHitsAndGesturesFrom() {}
    setMap(map) {
      if (!map) { this.map.overlays.delete(this); return this.onRemove(); }
      this.map = map;
      map.overlays.add(this);
      this.onAdd?.();
      this.draw();
    }
    getPanes() { return { floatPane: this.map.pane }; }
    getProjection() {
      const pixel = (place) => this.map.pixel(place);
      return { fromLatLngToDivPixel: pixel, fromLatLngToContainerPixel: pixel };
    }
  }
  class Circle {
    constructor(options) { Object.assign(this, options); options.map.circles.add(this); }
    setMap(map) { if (!map) this.map.circles.delete(this); }
  }
  window.google = { maps: { Map, OverlayView, LatLng, Circle } };
  new MutationObserver((changes) => {
    for (const node of changes.flatMap(({ addedNodes }) => [...addedNodes])) {
      if (node.src?.startsWith("https://maps.googleapis.com/maps/api/js?key=Zq7maps")) window.locsearchMapIsThere();
    }
  }).observe(document, { childList: true, subtree: true });
})();
"""


@pytest.fixture(scope="module")
def keyed(harness):
    return harness.console("console-with-a-key", CONSOLE_GOOGLE_MAPS_KEY="Zq7maps")


@pytest.fixture
def allowed(keyed):
    return {"hosts": {keyed.url, "https://maps.googleapis.com"}, "errors": ["ERR_NAME_NOT_RESOLVED"]}


def test_google_places_are_on_googles_map(browser, keyed):
    window = browser.window("about:blank")
    window.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": STAND_IN})
    window.driver.get(search_url(keyed, provider="google-places", category="hospital"))
    window.search()
    names = window.wait_for_places()

    window.wait_for_count("#map .marker", len(names))
    window.wait_for_result("return [...standIn.circles].map(({ radius }) => radius)", [500])
    window.click("#places .place button")
    window.wait_for_text(".info .info-name", names[0])

    before = window.run("return standIn.zoom")
    window.click("#zoom-out")
    window.wait_for_result("return standIn.zoom", before - 1)
    assert not any("Google map only" in line for line in window.texts("#credits li"))


def test_without_googles_map_its_places_are_a_list_again(browser, keyed):
    window = browser.window(search_url(keyed, provider="google-places", category="hospital"))
    window.wait_for_text("#map-attribution", "Natural Earth")
    window.search()
    names = window.wait_for_places()
    window.wait_for_count("#places .place-number.is-off-map", len(names))
    assert window.count("#map .marker") == 0
