// The state of a session as sent by the console's store. No state is computed here: views draw the received state.

import { follow } from "./stream.js";

/** From this age on, places may have opened, closed or moved. */
const OLD = 30 * 60_000;
const EMPTY = { revision: 0, inFlight: [] };

export class SessionStore {
  #listeners = new Set();
  #onState;
  #receivedAt = 0;

  /** The newest state. Absent members are unknown. */
  state = EMPTY;

  /** Whether a state has arrived; before that, an empty list means nothing. */
  isKnown = false;

  constructor(session, { onStatus, onReport, onState }) {
    this.session = session;
    const address = () => `/api/sessions/${encodeURIComponent(session)}/events`;
    this.#onState = onState;
    follow(address, { state: (state) => this.#receive(state), pipeline: onReport }, onStatus);
  }

  #receive(state) {
    this.state = { ...EMPTY, ...state };
    this.isKnown = true;
    this.#receivedAt = performance.now();
    this.#onState(this.state);
    this.refresh();
  }

  /**
   * Returns why the list may be out of date: the connection is lost, or the list is old. Returns nothing for a current list, and
   * for one that a newer search supersedes, which is marked separately.
   */
  oldness({ isLost }) {
    const { list, search } = this.state;
    if (!list || list.isSuperseded) return undefined;
    if (isLost) return { reason: "lost" };
    if (search?.requestId !== list.requestId || !Number.isFinite(search.ageMs)) return undefined;
    const ageMs = search.ageMs + performance.now() - this.#receivedAt;
    return ageMs > OLD ? { reason: "age", ageMs } : undefined;
  }

  /** Calls `listener(state)` with each state from now on. */
  subscribe(listener) {
    this.#listeners.add(listener);
  }

  /** Draws the present state again, for another language or another map. */
  refresh() {
    for (const listener of this.#listeners) listener(this.state);
  }
}

/** Returns the key of a place among those of all providers. */
export const placeKey = (place) => `${place.provider} ${place.id}`;

/** Whether a place is Google's: its terms allow it only on a Google map or without a map. */
export const isGooglePlace = (place) => String(place.provider).startsWith("google-places");
