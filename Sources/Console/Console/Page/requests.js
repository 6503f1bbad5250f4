// What the search page asks for. Every request goes through `send`, which remembers it, so that it can be sent once more.

import { sendRequest } from "./api.js";
import { language } from "./text.js";

const MOST_REMEMBERED = 50;
/** What the console refused for a reason that stays. Everything else may be tried again. */
const LASTING = new Set(["invalid-request", "unauthorized"]);

/** The request that a state's search was. */
const searchOf = ({ provider, category, location, radiusMeters, keyword, openNow }) =>
  ({ provider, category, location, radiusMeters, ...(keyword && { keyword }), ...(openNow && { openNow }) });

export class Requests {
  #session;
  #onRefusal;
  #sent = new Map();

  /** `onRefusal` is called with why the console did not take a request, and with nothing as soon as it takes one. */
  constructor(session, { onRefusal }) {
    this.#session = session;
    this.#onRefusal = onRefusal;
  }

  /** Sends a request. Returns its id, or nothing when it was refused. */
  async send(request) {
    try {
      const { requestId } = await sendRequest(this.#session, { ...request, language: language() });
      this.#sent.set(requestId, request);
      if (this.#sent.size > MOST_REMEMBERED) this.#sent.delete(this.#sent.keys().next().value);
      this.#onRefusal(undefined);
      return requestId;
    } catch ({ code, message, member }) {
      const remedy = LASTING.has(code) ? "change-request" : "retry";
      this.#onRefusal({ code, message, member, operation: request.operation, at: performance.now(), remedy, request });
      return undefined;
    }
  }

  search({ category, keyword, provider, radiusMeters, openNow, location }) {
    return this.send({ operation: "search", ...searchOf({ provider, category, location, radiusMeters, keyword, openNow }) });
  }

  /** Asks for the next page of the list: the same search once more, with its token. */
  more({ list, search }) {
    const same = this.#sent.get(list.requestId) ?? (search?.requestId === list.requestId ? searchOf(search) : undefined);
    return this.send({ operation: "search", ...list.search, ...same, provider: list.provider, pageToken: list.nextPageToken });
  }

  /** Asks for a place's details or its photo. */
  ask(operation, { provider, id }) {
    return this.send({ operation, provider, placeId: id });
  }

  /** Asks once more for what failed. Another window may have asked for it; then the state tells what it was. */
  again(error, { search, selected }) {
    const request = error.request ?? this.#sent.get(error.requestId);
    if (request) return this.send(request);
    if (error.operation === "search" && search) return this.send({ operation: "search", ...searchOf(search) });
    return selected && this.ask(error.operation, selected);
  }
}
