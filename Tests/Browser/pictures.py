#!/usr/bin/env python3
"""Makes the pictures of the console that the documents show: `pictures.py FOLDER`. See `make console-pictures`."""

import io
import json
import random
import sys
import tempfile
import threading
import time
from pathlib import Path

from browser import Browser, Window, fresh_session, open_browser, search_url
from console_harness import SHINJUKU, TOPICS, Console, ConsoleHarness, program, running_demo
from PIL import Image

SIZE = (1360, 850)
SCALE = 1.4
MOST_BYTES = 300_000
TRAFFIC_SECONDS = 90
DEMO_SECONDS = 40


def save(window: Window, path: Path) -> None:
    """Saves what the window shows, with as many colours as fit into the bytes that a picture may have."""
    picture = Image.open(io.BytesIO(window.driver.get_screenshot_as_png())).convert("RGB")
    for colours in (256, 192, 128, 96, 64):
        data = io.BytesIO()
        picture.quantize(colours, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(
            data, "PNG", optimize=True
        )
        if data.tell() < MOST_BYTES:
            break
    assert data.tell() < MOST_BYTES, f"{path} has {data.tell()} bytes"
    path.write_bytes(data.getvalue())
    print(f"{path}: {data.tell() // 1000} KB")


def both_themes(window: Window, folder: Path, name: str) -> None:
    for theme in ("light", "dark"):
        window.emulate(SIZE, theme)
        window.run("return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))")
        save(window, folder / f"console-{name}-{theme}.png")


def search_pictures(browser: Browser, console: Console, folder: Path) -> None:
    window = browser.window(search_url(console, provider="hotpepper"), SIZE)
    window.search()
    window.wait_for_places()
    window.click("#places .place button", 1)
    window.click(".info [data-does=details]")
    window.wait_gone("#detail.is-loading")
    window.wait_for("#detail .picture.is-loaded")
    window.click("#places .place button", 3)
    window.wait_for(".info .picture.is-loaded")
    window.wait(
        lambda: (
            window.run("return [...document.querySelectorAll('#places img')].filter((image) => image.complete).length")
            > 6
        ),
        "pictures",
    )
    window.run("document.activeElement.blur()")
    both_themes(window, folder, "search")


def fault_picture(browser: Browser, harness: ConsoleHarness, console: Console, folder: Path) -> None:
    """A search that no worker is there for. It comes last, for it ends the worker."""
    window = browser.window(search_url(console, provider="hotpepper"), SIZE)
    window.search()
    window.wait_for_places()
    harness.kill_worker()
    window.click(".search-here")
    window.wait_for_text("#banner-title", "No worker is running")
    window.wait_for("#connection")
    window.run("document.activeElement.blur()")
    save(window, folder / "console-no-worker-light.png")


def traffic(harness: ConsoleHarness, is_over: threading.Event) -> None:
    """Sends what many sessions of a program with traces would."""
    chance = random.Random(7)
    faults = ["fault:503", "fault:reset", "fault:not-found", "fault:none"]
    began = time.monotonic()
    while not is_over.is_set():
        # The load rises and falls, and now and then something fails.
        elapsed = time.monotonic() - began
        for _ in range(chance.randint(2, 7 + int(10 * abs(((elapsed / 40) % 2) - 1)))):
            keyword = chance.choice(faults) if chance.random() < 0.06 else ""
            location = {name: value + chance.uniform(-0.01, 0.01) for name, value in SHINJUKU.items()}
            provider, category = chance.choice(
                [("hotpepper", "restaurant"), ("google-places", "hospital"), ("google-places", "cafe")]
            )
            session = f"browser-{chance.randint(1, 9999):04}"
            request = {
                "requestId": f"{session}-{chance.randint(1, 99)}",
                "sessionId": session,
                "provider": provider,
                "category": category,
                "location": location,
                "radiusMeters": 500,
                **({"keyword": keyword} if keyword else {}),
            }
            trace = f"00-{chance.getrandbits(128):032x}-{chance.getrandbits(64):016x}-01"
            harness.producer.produce(
                TOPICS["requested"],
                json.dumps(request).encode(),
                key=session,
                headers=[("traceparent", trace.encode())],
            )
        harness.producer.poll(0)
        is_over.wait(0.1)


def traffic_pictures(browser: Browser, harness: ConsoleHarness, console: Console, folder: Path) -> None:
    for _ in range(2):
        harness.produce("requested", b'{"location": {"latitude": 91', fresh_session())
    window = browser.window(console.url + "/traffic", SIZE)
    is_over = threading.Event()
    sender = threading.Thread(target=traffic, args=(harness, is_over))
    sender.start()
    try:
        is_over.wait(TRAFFIC_SECONDS)
        window.wait(lambda: "pending" in window.text("#dead-summary"), "the number of dead letters")
        window.run("document.activeElement.blur()")
        both_themes(window, folder, "traffic")
    finally:
        is_over.set()
        sender.join()


def request_picture(browser: Browser, harness: ConsoleHarness, console: Console, folder: Path) -> None:
    """The life of a request whose provider failed."""
    request = {"requestId": "shop-77", "provider": "hotpepper", "location": SHINJUKU, "keyword": "fault:503"}
    harness.produce("requested", {**request, "sessionId": "shop"}, "shop")
    window = browser.window(console.url + "/request", SIZE)

    def is_answered() -> bool:
        window.find_life("shop-77")
        return window.count(".life .phases") > 0

    window.wait(is_answered, "the life of the request")
    window.run("document.activeElement.blur()")
    save(window, folder / "console-request-light.png")


def letter_pictures(browser: Browser, harness: ConsoleHarness, console: Console, folder: Path) -> None:
    """Dead letters of two producers, and one of them that is being put right."""
    for producer, count in (("https://shop.example", 7), ("https://travel.example/app", 4)):
        for number in range(count):
            latitude = 135.69 + number / 100 if number % 3 else "35.69"
            request_id = f"R-{number:04}"
            request = {
                "requestId": request_id,
                "provider": "hotpepper",
                "location": {"latitude": latitude, "longitude": SHINJUKU["longitude"]},
                "radiusMeters": 500,
            }
            attributes = {"specversion": "1.0", "id": request_id, "source": producer}
            attributes["type"] = "location-search.requested.v1"
            headers = [(f"ce_{name}", value.encode()) for name, value in attributes.items()]
            harness.produce("requested", request, request_id, headers)
    window = browser.window(console.url + "/dead-letters", SIZE)
    window.wait(lambda: window.count("#dead-rows tr") >= 11 or window.click("#dead-list"), "the dead letters")
    window.click("#dead-rows .time button")
    window.click("#letter-edit")
    window.wait_for("#letter-verdict.is-bad")
    window.run("document.activeElement.blur()")
    both_themes(window, folder, "dead-letters")


def demo_picture(browser: Browser, folder: Path) -> None:
    """A demo whose Hot Pepper fails, after a minute in which all was well."""
    with running_demo() as demo:
        window = browser.window(demo.url + "/traffic", SIZE)
        time.sleep(DEMO_SECONDS)
        window.click(".demo-open")
        window.click("#demo-failing-provider")
        open_breakers = "document.querySelectorAll('.providers .code.bad').length"
        window.wait(lambda: window.run(f"return {open_breakers}") == 2, "breakers that are open")
        time.sleep(DEMO_SECONDS / 4)
        window.run("document.activeElement.blur()")
        save(window, folder / "console-demo-light.png")


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as logs:
        harness = ConsoleHarness(program(), Path(logs), latency="p50:80ms,p99:600ms")
        driver = None
        try:
            console = harness.console()
            driver = open_browser(SCALE)
            browser = Browser(driver)
            search_pictures(browser, console, folder)
            traffic_pictures(browser, harness, console, folder)
            request_picture(browser, harness, console, folder)
            letter_pictures(browser, harness, console, folder)
            fault_picture(browser, harness, console, folder)
            demo_picture(browser, folder)
        finally:
            if driver is not None:
                driver.quit()
            harness.processes.end_all()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
