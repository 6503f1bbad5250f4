// An event stream that comes back: after a restart of the console, a lost network, or a refused connection.

import { getConfig } from "./api.js";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 2000;
/** A window that nobody sees gives its connection back after so long: browsers allow six to a host, over HTTP/1.1. */
const WAIT_WHILE_HIDDEN = 3000;
/** The console sends an event each second. Without one for so long it is away, whatever the connection looks like. */
const LONGEST_SILENCE = 3500;
const BETWEEN_LOOKS = 500;

/**
 * Follows a stream of server-sent events until the page is left, while the page is visible.
 *
 * The browser's own reconnecting gives up for good when the console answers with an error, such as a proxy's 502 during a
 * restart, so each connection is made anew here. `address()` is asked before each of them and may say where to go on.
 * `events` holds a function for each kind of event, `onStatus` is told `open` or `lost`.
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

    // A login that has ended shows as an error without a reason. This asks again and so leads to the form.
    getConfig().catch(() => {});
  };
  connect();

  // A page that was busy or asleep has not looked either, so its events may just not have been handed over yet.
  setInterval(() => {
    const now = performance.now();
    if (now - lastLook > 3 * BETWEEN_LOOKS) lastEvent = Math.max(lastEvent, now - LONGEST_SILENCE / 2);
    lastLook = now;
    if (!isClosed() && now - lastEvent > LONGEST_SILENCE) lost();
  }, BETWEEN_LOOKS);

  // A console on this machine answers without a network, so only an answer that does not come tells that it is away.
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
