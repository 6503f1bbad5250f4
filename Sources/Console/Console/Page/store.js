// The state of a session as sent by the console's store. No state is computed here: views draw the received state.

import { follow } from "./stream.js";

const EMPTY = { revision: 0, inFlight: [] };

export class SessionStore {
  #onState;

  /** The newest state. Absent members are unknown. */
  state = EMPTY;

  /** Whether a state has arrived; before that, an empty list means nothing. */
  isKnown = false;

  /** `onState(state)` is called with each state, `onReport(report)` with each report of the pipeline. */
  constructor(session, { onStatus, onReport, onState }) {
    this.#onState = onState;
    const address = () => `api/sessions/${encodeURIComponent(session)}/events`;
    follow(address, { state: (state) => this.#receive(state), pipeline: onReport }, onStatus);
  }

  #receive(state) {
    this.state = { ...EMPTY, ...state };
    this.isKnown = true;
    this.#onState(this.state);
  }
}

/** Returns the key of a place among those of all providers. */
export const placeKey = (place) => `${place.provider} ${place.id}`;

/** Whether a place has more than its id and position, which is all that Google's terms for the EEA allow: the id is then its name. */
export const hasContent = (place) => place.name !== place.id;

/** Whether a place is Google's: its terms allow it only on a Google map or without a map. */
export const isGooglePlace = (place) => String(place.provider).startsWith("google-places");
