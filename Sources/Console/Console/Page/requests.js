// The requests of the search page. All are sent with `send`, which stores them, so that they can be repeated.

import { sendRequest } from "./api.js";
import { language } from "./text.js";

const MOST_REMEMBERED = 50;
/** The refusals for a permanent reason. All others may be retried. */
const LASTING = new Set(["invalid-request", "unauthorized"]);

/** Returns the request of a state's search. */
const searchOf = ({ provider, category, categories, excludeCategories, rankBy, location, radiusMeters, keyword, openNow, language }) => ({
  provider, ...(categories ? { categories } : { category }), ...(excludeCategories && { excludeCategories }), ...(rankBy && { rankBy }),
  location, radiusMeters, ...(keyword && { keyword }), ...(openNow && { openNow }), language,
});

export class Requests {
  #session;
  #onRefusal;
  #sent = new Map();

  /** `onRefusal` is called with the reason of a refusal, and with nothing as soon as a request is accepted. */
  constructor(session, { onRefusal }) {
    this.#session = session;
    this.#onRefusal = onRefusal;
  }

  /** Sends a request. Returns its id, or nothing if it was refused. */
  async send(request) {
    try {
      // A result names both, but a request may have only one of them.
      const category = request.categories ? undefined : request.category;
      const { requestId } = await sendRequest(this.#session, { ...request, category });
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

  search(values) {
    return this.send({ operation: "search", ...searchOf({ ...values, language }) });
  }

  /** Requests the next page of the list: the same search again, in its own language, with its token. */
  more({ list, search }) {
    const same = this.#sent.get(list.requestId) ?? (search?.requestId === list.requestId ? searchOf(search) : undefined);
    return this.send({ operation: "search", language, ...list.search, ...same, provider: list.provider, pageToken: list.nextPageToken });
  }

  /** Requests a place's details or its photo. */
  ask(operation, { provider, id }) {
    return this.send({ operation, provider, placeId: id, language });
  }

  /** Repeats a failed request. If another window sent it, the state contains the request. */
  again(error, { search, selected }) {
    const request = error.request ?? this.#sent.get(error.requestId);
    if (request) return this.send(request);
    if (error.operation === "search" && search) return this.send({ operation: "search", ...searchOf(search) });
    return selected && this.ask(error.operation, selected);
  }
}
