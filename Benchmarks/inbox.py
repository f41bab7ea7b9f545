"""The page of oob-inbox with 500 requests that wait: its first byte, its size, and how soon an event is on it."""

import http.client
import shutil
import subprocess
import time
from contextlib import contextmanager
from urllib.parse import urlsplit

from selenium import webdriver

from rows import Row, ms, percentile
from world import BIN_DIR, World

WAITING = 500
# A request is on the page when the browser has drawn its row.
WATCH = """
    window.rows = [];
    window.scrolled = 0;
    new MutationObserver(() => {
      const first = document.querySelector('nav .merchant');
      if (first) requestAnimationFrame(() => window.rows.push([first.textContent, Date.now()]));
    }).observe(document.querySelector('.columns'), {childList: true, subtree: true});
"""
# How long the longest frame took while the list was scrolled from its beginning to its end.
SCROLL = """
    const done = arguments[0], frames = [];
    let last = performance.now();
    function frame(now) {
      frames.push(now - last);
      last = now;
      window.scrollBy(0, 120);
      if (frames.length < 100) requestAnimationFrame(frame); else done(Math.max(...frames.slice(1)));
    }
    requestAnimationFrame(frame);
"""


@contextmanager
def inbox(world: World):
    """The link that oob-inbox prints."""
    process = subprocess.Popen(
        [BIN_DIR / "oob-inbox", "--listen", "localhost:0", "--no-open", "--socket", str(world.agent.socket)],
        stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


@contextmanager
def browser():
    options = webdriver.ChromeOptions()
    for word in ["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,800", "--disable-dev-shm-usage"]:
        options.add_argument(word)
    options.binary_location = shutil.which("chromium")
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        yield driver
    finally:
        driver.quit()


def entered(link: str) -> tuple[http.client.HTTPConnection, str]:
    """A kept connection, and the cookie of a session."""
    place = urlsplit(link)
    connection = http.client.HTTPConnection(place.netloc, timeout=30)
    connection.request("POST", place.path, place.query, {"Origin": f"{place.scheme}://{place.netloc}"})
    answer = connection.getresponse()
    answer.read()
    return connection, answer.getheader("set-cookie").split(";")[0]


def first_bytes(link: str, count: int) -> tuple[list[float], int]:
    """The seconds from the call to the answer's head, and the largest page in bytes."""
    connection, cookie = entered(link)
    connection.request("GET", "/", headers={"Cookie": cookie})
    answer = connection.getresponse()
    answer.read()
    page, waits, largest = answer.getheader("location"), [], 0
    for _ in range(count):
        began = time.monotonic()
        connection.request("GET", page, headers={"Cookie": cookie})
        answer = connection.getresponse()
        waits.append(time.monotonic() - began)
        largest = max(largest, len(answer.read()))
    connection.close()
    return waits, largest


def events(world: World, driver, link: str, count: int) -> list[float]:
    """The seconds from the call that buys to the frame that has the row: fetching, deciding to show, and the page."""
    driver.get(link)
    driver.find_element("css selector", "form button").click()
    driver.execute_script(WATCH)
    waits = []
    for number in range(count):
        name, began = f"Live {number}", time.time()
        world.buy(world.cards[0], merchantName=name)
        deadline = time.monotonic() + 30
        while not (drawn := [when for row, when in driver.execute_script("return window.rows") if row == name]):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{name} was not drawn")
            time.sleep(0.02)
        waits.append(drawn[0] / 1000 - began)
    return waits


def rows(count: int, purchases: int) -> list[Row]:
    with World() as world:
        world.agent.rest()
        for _ in range(WAITING):
            last = world.buy(world.cards[0])
        world.until_received(last)
        world.agent.rest()
        with inbox(world) as link:
            waits, largest = first_bytes(link, count)
        with inbox(world) as link, browser() as driver:
            drawn = events(world, driver, link, purchases)
            longest = driver.execute_async_script(SCROLL)
    first = percentile(waits, 0.99)
    shown = percentile(drawn, 0.99)
    return [
        Row(f"page of oob-inbox, {WAITING} waiting: first byte, p50 / p99",
            f"{ms(percentile(waits, 0.5))} / {ms(first)} ms", first * 1000, 20, "p99 < 20 ms",
            f"{count} calls over a kept connection, from the call to the answer's head"),
        Row(f"page of oob-inbox, {WAITING} waiting: size", f"{largest / 1000:.1f} KB", largest, 60_000, "< 60 KB",
            "bytes of the page with the list's first part and one request, without compression"),
        Row(f"from a purchase to its row on the page of oob-inbox, {WAITING} waiting: p50 / p99",
            f"{ms(percentile(drawn, 0.5))} / {ms(shown)} ms", shown * 1000, 100, "p99 < 100 ms",
            f"{purchases} purchases in headless Chromium, from the call that buys to the frame that has the row; the agent's "
            "long poll is part of it"),
        Row(f"scrolling the list of oob-inbox, {WAITING} waiting: longest frame", f"{longest:.0f} ms", longest, 100,
            "< 100 ms", "100 frames of 120 pixels each in headless Chromium"),
    ]
