// The state of a session as the console's store sends it. Nothing here computes a state: views draw what arrives.

import { follow } from "./stream.js";

const EMPTY = { revision: 0, inFlight: [] };

export class SessionStore {
  #listeners = new Set();

  /** The newest state. Members that are absent are not known. */
  state = EMPTY;

  /** Whether a state has arrived; before that an empty list means nothing. */
  isKnown = false;

  constructor(session, onStatus) {
    this.session = session;
    const address = () => `/api/sessions/${encodeURIComponent(session)}/events`;
    follow(address, { state: (state) => this.#receive(state) }, onStatus);
  }

  #receive(state) {
    this.state = { ...EMPTY, ...state };
    this.isKnown = true;
    this.refresh();
  }

  /** Calls `listener(state)` with each state from now on. */
  subscribe(listener) {
    this.#listeners.add(listener);
  }

  /** Draws again what is known, for another language or another map. */
  refresh() {
    for (const listener of this.#listeners) listener(this.state);
  }
}

/** Names a place among those of all providers. */
export const placeKey = (place) => `${place.provider} ${place.id}`;

/** Whether a place is Google's: its terms allow it on a Google map or without a map only. */
export const isGooglePlace = (place) => String(place.provider).startsWith("google-places");
