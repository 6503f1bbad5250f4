// The page's calls of the console's API, apart from its event streams.

/** The failure of an API call. `code` names a text, like the error code of an outcome. */
export class ConsoleError extends Error {
  constructor(code, { message, member, status } = {}) {
    super(message ?? "");
    this.code = code;
    this.member = member;
    this.status = status;
  }
}

const codes = { 400: "invalid-request", 404: "forgotten", 409: "changed", 413: "invalid-request", 429: "busy", 503: "broker-away" };

/** The timeout of a call that the console answers immediately, or within 3 s if Kafka does not take a request. */
const SHORT = 4500;

async function call(path, body, { within } = {}) {
  const options = body === undefined ? {} : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };

  let response;
  try {
    response = await fetch(path, { ...options, credentials: "same-origin", ...(within && { signal: AbortSignal.timeout(within) }) });
  } catch {
    throw new ConsoleError(navigator.onLine ? "console-away" : "offline");
  }

  // If the console requires a token, reloading this page shows the login form.
  if (response.status === 401 && path !== "api/login") location.reload();

  const answer = await response.json().catch(() => ({}));
  if (!response.ok) {
    // Both are 503: Kafka does not answer, or the console is busy and sends `Retry-After`.
    const isBusy = response.headers.has("retry-after");
    throw new ConsoleError(isBusy ? "busy" : codes[response.status] ?? "console-failed", { ...answer.error, status: response.status });
  }
  return answer;
}

export const getConfig = () => call("api/config", undefined, { within: SHORT });
export const getStreets = (row, column) => call(`api/streets/${row}/${column}`);
export const sendRequest = (session, request) => call(`api/sessions/${encodeURIComponent(session)}/requests`, request, { within: SHORT });
export const getOutcome = (id) => call(`api/traffic/outcomes/${encodeURIComponent(id)}`);
/** The timeout of a call that reads topics. The console reads for at most 20 s, and reports within 4 s that no broker answers. */
export const getLives = (id) => call(`api/requests?id=${encodeURIComponent(id)}`, undefined, { within: 30_000 });
/** `query`: `limit`, and the filters `reason`, `member`, `producer`, `text` and `since`. */
export const getDeadLetters = (query) => call(`api/dead-letters?${Object.entries(query).map((entry) => entry.map(encodeURIComponent).join("=")).join("&")}`);
export const getDeadLetter = ({ partition, offset }) => call(`api/dead-letters/${partition}/${offset}`);
export const judgeLetter = ({ partition, offset }, value) => call("api/dead-letters/judge", { letters: [{ partition, offset, value }] });
export const redrive = (confirm, letters, options) => call("api/dead-letters/redrive", { confirm, letters, ...options });
export const getRedrive = (id) => call(`api/dead-letters/redrives/${id}`, undefined, { within: SHORT });
export const getDemo = () => call("api/demo/faults", undefined, { within: SHORT });
export const setDemo = (name, isOn) => call("api/demo/faults", { name, isOn });
export const clearDemo = () => call("api/demo/faults/clear", {});
export const getControls = () => call("api/controls");
export const sendPause = (choice) => call("api/controls/pause", choice);
export const logIn = (token) => call("api/login", { token });
