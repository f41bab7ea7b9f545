"""A test case with Debian's Chromium, without a screen, and what axe-core says of its pages."""

import http.server
import shutil
import threading
import unittest

from axe_core_python.base import AXE_SCRIPT
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

WITHIN = 60
LOADED = "return document.readyState === 'complete' && !window.isLeft"


def waited(browser, holds):
    """What `holds` says of the browser, once that is something.

    A look that fails is made again: a page may be drawn anew, or be left, between a look and what is done with it."""
    return WebDriverWait(browser, WITHIN, 0.05, [WebDriverException]).until(holds)


def clicked(browser, selector: str):
    """Clicks an element, once it is there and takes a click."""
    def click(browser):
        browser.find_element(By.CSS_SELECTOR, selector).click()
        return True

    waited(browser, click)


def followed(browser, act):
    """Does what leads to another page, and waits until that page is there."""
    browser.execute_script("window.isLeft = true")
    act()
    waited(browser, lambda browser: browser.execute_script(LOADED))


class WithChromium(unittest.TestCase):
    """`browser` is one for all tests of the class; `evil.example` is this machine by another name."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        options = webdriver.ChromeOptions()
        for word in ["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,800",
                     "--disable-dev-shm-usage", "--host-resolver-rules=MAP evil.example 127.0.0.1"]:
            options.add_argument(word)
        options.binary_location = shutil.which("chromium")
        service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
        cls.browser = webdriver.Chrome(options=options, service=service)
        cls.addClassCleanup(cls.browser.quit)

    def until(self, holds):
        return waited(self.browser, holds)

    def click(self, selector: str):
        clicked(self.browser, selector)

    def type(self, selector: str, *keys: str):
        self.until(lambda browser: (browser.find_element(By.CSS_SELECTOR, selector).send_keys(*keys),))

    def text(self, selector: str) -> str:
        """What is to be read in an element, once it is there."""
        return self.until(lambda browser: (browser.find_element(By.CSS_SELECTOR, selector).text,))[0]

    def look(self, width: int, height: int, scheme: str):
        """Makes the window so large, and the system's colours `light` or `dark`."""
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def tearDown(self):
        self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def assert_no_rule_is_broken(self):
        """By axe-core, of the page as it is."""
        self.browser.execute_script(AXE_SCRIPT)
        found = self.browser.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
        self.assertEqual([(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found["violations"]], [])
        self.assertTrue(found["passes"])

    def assert_it_does_not_scroll_sideways(self, width: int):
        self.assertLessEqual(self.browser.execute_script("return document.documentElement.scrollWidth"), width)

    def served(self, page: str) -> str:
        """The address of a page at another port of this machine."""
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(page.encode())

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}/"
