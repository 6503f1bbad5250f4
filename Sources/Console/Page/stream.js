// An event stream that comes back: after a restart of the console, a lost network, or a refused connection.

import { getConfig } from "./api.js";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 5000;

/**
 * Follows a stream of server-sent events until the page is left.
 *
 * The browser's own reconnecting gives up for good when the console answers with an error, such as a proxy's 502 during a
 * restart, so each connection is made anew here. `address()` is asked before each of them and may say where to go on.
 * `events` holds a function for each kind of event, `onStatus` is told `open` or `lost`.
 */
export function follow(address, events, onStatus) {
  let wait = FIRST_WAIT;

  const connect = () => {
    const source = new EventSource(address());
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
      setTimeout(connect, wait);
      wait = Math.min(wait * 2, LONGEST_WAIT);

      // A login that has ended shows as an error without a reason. This asks again and so leads to the form.
      getConfig().catch(() => {});
    });
  };
  connect();
}

/** Shows in the page's head whether events arrive. */
export function showConnection(status) {
  document.documentElement.dataset.connection = status;
  const note = document.getElementById("connection");
  note.hidden = status === "open";
}
