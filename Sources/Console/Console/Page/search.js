// The search page: connects map, list, detail, form and banner to the session's state.

import { getConfig } from "./api.js";
import { ErrorBanner } from "./banner.js";
import { DetailView } from "./detail.js";
import { setText } from "./dom.js";
import { SearchForm } from "./form.js";
import { Health } from "./health.js";
import { linkToLife, readLink, writeLink } from "./link.js";
import { ListView } from "./list.js";
import { openMap } from "./map.js";
import { MapView } from "./mapview.js";
import { rounded } from "./mercator.js";
import { Requests } from "./requests.js";
import { placeKey, SessionStore } from "./store.js";
import { number, t } from "./text.js";
import { startJump } from "./towns.js";
import { Waiting } from "./waiting.js";

const link = readLink();

// The state of this page only: the active place, and the hovered one.
let store, map, active, hovered, linkTimer;
let wasTold = "";
let madeByThisPage, waiting;
let wantsSearch = false;

// The form works from the start. A search that is started before the map has loaded is sent when it has.
const form = new SearchForm({ onSearch: searchOrWait, onChange: moved });
form.fill(link.values);
const health = new Health(() => waiting?.look());
const config = await configuration();
// A search may cost a call, so a link starts one only in a demo, whose provider is simulated.
link.searchesAtOnce &&= Boolean(config.isDemo);
waiting = new Waiting(health, () => store && show(store.state));
const requests = new Requests(link.session, { onRefusal: refused });
const banner = new ErrorBanner((error) => requests.again(error, store.state));
const list = new ListView({ activate, hover, more: () => requests.more(store.state) });
const details = (place) => ask("details", place);
const photo = (place) => ask("photo", place);
const detail = new DetailView({ details, photo, closed });
const start = { center: link.center ?? config.start, zoom: link.zoom };
map = await openMap(document.getElementById("map"), { config, view: start, onMove: () => moved() });
const view = new MapView(map, { activate, hover, details, photo });
startJump((place) => map.setView(place));
store = new SessionStore(link.session, {
  onStatus: (status) => health.setConnection(status),
  onReport: (report) => health.setReport(report),
  onState: (state) => {
    waiting.take(state);
    show(state);
  },
});

addEventListener("hashchange", () => readLink().session !== link.session && location.reload());
moved();
if (wantsSearch) search();

/** Requests the configuration until the console answers: it may be starting. */
async function configuration() {
  for (;;) {
    try {
      const answer = await getConfig();
      health.setConnection("open");
      return answer;
    } catch {
      health.setConnection("lost");
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}

// MARK: - What is asked for

function refused(error) {
  waiting.refuse(error);
  form.showMember(error?.member);
  show(store.state);
}

function searchOrWait() {
  if (store) search();
  else {
    wantsSearch = true;
    form.showSearching(true);
  }
}

async function search() {
  link.searchesAtOnce = false;
  active = undefined;
  form.showSearching(true);
  madeByThisPage = await requests.search({ ...form.values(), location: rounded(map.view().center) });
  revealNew(store.state);
}

function ask(operation, place) {
  detail.expect(placeKey(place));
  requests.ask(operation, place);
}

// MARK: - What is shown

function show(known) {
  // A request without an answer after its expiry counts as given up, although there is no outcome.
  const isGivenUp = known.search?.status === "in-flight" && waiting.isGivenUp(known.search.requestId);
  const state = isGivenUp ? { ...known, search: { ...known.search, status: "given-up" } } : { ...known };
  if (known.selected?.isLoading && waiting.isPlaceGivenUp) state.selected = { ...known.selected, isLoading: false };
  const places = state.list?.places ?? [];
  if (active && !places.some((place) => placeKey(place) === active)) active = undefined;

  const isSearching = state.search?.status === "in-flight";
  form.showSearching(isSearching);
  const isOld = health.isLost && state.list?.isSuperseded === false;
  list.show(state, { isKnown: store.isKnown, takesGooglePlaces: map.takesGooglePlaces, isOld });
  view.showPlaces(places);
  detail.show(state);
  linkToLife(document.getElementById("results-life"), state.list);
  banner.show(waiting.refusal ?? waiting.problem ?? state.error);
  document.getElementById("map-area").classList.toggle("is-superseded", Boolean(state.list?.isSuperseded));
  document.getElementById("map-area").classList.toggle("is-old", isOld);
  mark();
  moved();
  tell(state);

  revealNew(state);
  if (link.searchesAtOnce && store.isKnown) {
    link.searchesAtOnce = false;
    if (!state.search) search();
  }
}

/** The map moves only for a search of this window, so that it does not move while a person looks at something else. */
function revealNew({ list: shown }) {
  if (!shown || shown.isSuperseded || shown.requestId !== madeByThisPage) return;
  madeByThisPage = undefined;
  if (shown.search) view.reveal(circleOf(shown));
}

const circleOf = ({ search: made }) => ({ center: made.location, radiusMeters: made.radiusMeters });

/** Announces a change in one sentence, for screen readers. */
function tell({ search: made, list: shown, error }) {
  let text = "";
  if (made?.status === "in-flight") text = t("told.searching");
  else if (error) text = ""; // The banner itself is an alert.
  else if (shown) text = shown.places.length > 0 ? t("told.found", { count: number(shown.places.length) }) : t("empty.nothing");
  if (text === wasTold) return;
  wasTold = text;
  setText(document.getElementById("told"), text);
}

function mark({ reveal = false } = {}) {
  const { list: shown, selected } = store.state;
  const marks = { active, hovered, selected: selected && placeKey(selected), reveal };
  list.mark(marks);
  view.mark(marks);
  const place = shown?.places?.find((place) => placeKey(place) === active);
  view.showInfo(active === detail.shown ? undefined : place);
}

function activate(key, { from, byKeyboard = false }) {
  active = key;
  const place = store.state.list?.places?.find((place) => placeKey(place) === key);
  mark({ reveal: from === "map" });

  // A place that must not be shown on the map has no info window, so its details open instead.
  if (place && !view.shows(place)) details(place);
  if (place && byKeyboard) view.focusInfo();
}

/** After the card of a place was closed: shows its info window again, if there is one, and moves the focus to its marker. */
function closed(key) {
  mark();
  view.focusMarker(key);
}

function hover(key) {
  hovered = key;
  mark();
}

/** Updates circles and link after the map was moved or the form changed. */
function moved() {
  if (!store) return;
  const { center, zoom } = map.view();
  const values = form.values();
  const shown = store.state.list;
  view.showCircles({ made: shown?.search?.location && circleOf(shown), next: { center, radiusMeters: values.radiusMeters } });

  // Browsers refuse addresses that change too often.
  clearTimeout(linkTimer);
  linkTimer = setTimeout(() => writeLink({ session: link.session, center: rounded(center), zoom, values }), 300);
}
