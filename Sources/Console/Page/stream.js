// An event stream that comes back: after a restart of the console, a lost network, or a refused connection.

import { getConfig } from "./api.js";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 5000;
/** A window that nobody sees gives its connection back after so long: browsers allow six to a host, over HTTP/1.1. */
const WAIT_WHILE_HIDDEN = 10_000;

/**
 * Follows a stream of server-sent events until the page is left.
 *
 * The browser's own reconnecting gives up for good when the console answers with an error, such as a proxy's 502 during a
 * restart, so each connection is made anew here. `address()` is asked before each of them and may say where to go on.
 * `events` holds a function for each kind of event, `onStatus` is told `open` or `lost`.
 */
export function follow(address, events, onStatus) {
  let wait = FIRST_WAIT;
  let source, timer;

  const connect = () => {
    source = new EventSource(address());
    source.addEventListener("open", () => {
      wait = FIRST_WAIT;
      onStatus("open");
    });

    for (const [name, handle] of Object.entries(events)) {
      source.addEventListener(name, (event) => handle(JSON.parse(event.data), event));
    }

    source.addEventListener("error", () => {
      source.close();
      onStatus("lost");
      clearTimeout(timer);
      timer = setTimeout(connect, wait);
      wait = Math.min(wait * 2, LONGEST_WAIT);

      // A login that has ended shows as an error without a reason. This asks again and so leads to the form.
      getConfig().catch(() => {});
    });
  };
  connect();

  document.addEventListener("visibilitychange", () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(() => source.close(), WAIT_WHILE_HIDDEN);
    else if (source.readyState === EventSource.CLOSED) connect();
  });
}

/** Shows in the page's head whether events arrive. */
export function showConnection(status) {
  document.documentElement.dataset.connection = status;
  const note = document.getElementById("connection");
  note.hidden = status === "open";
}
