// An event stream that reconnects: after a restart of the console, a network failure, or a refused connection.

import { getConfig } from "./api.js";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 2000;
/** The time after which a hidden window closes its connection: browsers allow six per host over HTTP/1.1. */
const WAIT_WHILE_HIDDEN = 3000;
/** The console sends an event each second. After this time without one, it counts as unreachable. */
const LONGEST_SILENCE = 3500;
const BETWEEN_LOOKS = 500;

/**
 * Follows a stream of server-sent events until the page is left, while the page is visible.
 *
 * The browser's automatic reconnection stops permanently if the console answers with an error, such as a proxy's 502 during a
 * restart. So each connection is made again here. `address()` is called before each of them and may contain the last position.
 * `events` has a function for each kind of event, `onStatus` is called with `open` or `lost`.
 */
export function follow(address, events, onStatus) {
  let wait = FIRST_WAIT;
  let source, timer;
  let lastEvent = performance.now();
  let lastLook = performance.now();
  const isClosed = () => !source || source.readyState === EventSource.CLOSED;

  const connect = () => {
    clearTimeout(timer);
    if (document.hidden) return;
    source = new EventSource(address());
    lastEvent = performance.now();
    source.addEventListener("open", () => {
      wait = FIRST_WAIT;
      lastEvent = performance.now();
      onStatus("open");
    });

    for (const [name, handle] of Object.entries({ heartbeat: () => {}, ...events })) {
      source.addEventListener(name, (event) => {
        lastEvent = performance.now();
        handle(JSON.parse(event.data), event);
      });
    }
    source.addEventListener("error", lost);
  };

  const lost = () => {
    source.close();
    onStatus("lost");
    clearTimeout(timer);
    timer = setTimeout(connect, wait);
    wait = Math.min(wait * 2, LONGEST_WAIT);

    // An expired login appears as an error without a reason. This call detects it and leads to the login form.
    getConfig().catch(() => {});
  };
  connect();

  // A page that was busy or suspended may have events that are not delivered yet.
  setInterval(() => {
    const now = performance.now();
    if (now - lastLook > 3 * BETWEEN_LOOKS) lastEvent = Math.max(lastEvent, now - LONGEST_SILENCE / 2);
    lastLook = now;
    if (!isClosed() && now - lastEvent > LONGEST_SILENCE) lost();
  }, BETWEEN_LOOKS);

  // A console on this machine is reachable without a network, so it counts as lost only if it does not answer.
  addEventListener("offline", () => getConfig().catch(() => !isClosed() && lost()));
  addEventListener("online", () => isClosed() && connect());

  // A browser keeps a page that was left, for its back button, and with it the connection.
  addEventListener("pagehide", () => {
    clearTimeout(timer);
    source?.close();
  });
  addEventListener("pageshow", () => isClosed() && connect());

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      clearTimeout(timer);
      timer = setTimeout(() => source?.close(), WAIT_WHILE_HIDDEN);
    } else if (isClosed()) connect();
    else clearTimeout(timer);
  });
}
