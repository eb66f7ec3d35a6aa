"""A browser to test pages with: chromedriver, spoken to over HTTP as the W3C's WebDriver says."""

import json
import socket
import subprocess
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf" # the protocol's name of a reference
KEYS = {"ArrowRight": "\ue014", "ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowDown": "\ue015"}
ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
             "--hide-scrollbars", "--window-size=1120,900"]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Browser:
    """One window. Points are pixels of the window, selectors those of CSS."""

    def __init__(self):
        self.address = f"http://127.0.0.1:{free_port()}"
        self.driver = subprocess.Popen(["chromedriver", "--port=" + self.address.split(":")[-1]],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        self.session = ""
        try:
            self.begin()
        except BaseException:
            self.driver.terminate()
            raise

    def begin(self):
        deadline = time.time() + 20
        while True:
            try:
                self.call("GET", "/status")
                break
            except urllib.error.URLError:
                if time.time() > deadline:
                    raise
                time.sleep(0.05)
        wanted = {"browserName": "chrome", "goog:chromeOptions": {"args": ARGUMENTS},
                  "goog:loggingPrefs": {"browser": "ALL"}}
        made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = "/session/" + made["sessionId"]

    def close(self):
        try:
            if self.session:
                self.call("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait(10)

    def call(self, method, path, body=None):
        data = json.dumps(body or {}).encode() if method == "POST" else None
        request = urllib.request.Request(self.address + path, data, method=method,
                                         headers={"Content-Type": "application/json"})
        try:
            with self.opener.open(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{path}: {json.load(error)['value']['message']}") from None

    def post(self, path, **body):
        return self.call("POST", self.session + path, body)

    def open(self, address):
        self.post("/url", url=address)

    def run(self, script, *arguments):
        return self.post("/execute/sync", script=script, args=arguments)

    def wait(self, script, what, seconds=15):
        deadline = time.time() + seconds
        while not self.run(script):
            if time.time() > deadline:
                raise TimeoutError(f"waited {seconds} s for {what}")
            time.sleep(0.05)

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def act(self, kind, identity, actions, **parameters):
        device = {"type": kind, "id": identity, "actions": actions}
        if parameters:
            device["parameters"] = parameters
        self.post("/actions", actions=[device])

    def mouse(self, *actions):
        self.act("pointer", "mouse", list(actions), pointerType="mouse")

    def touch(self, kind, *points):
        places = [{"x": x, "y": y} for x, y in points]
        self.developer("Input.dispatchTouchEvent", type="touch" + kind, touchPoints=places)

    def press(self, at, touch=False):
        if touch:
            self.touch("Start", at)
            return
        self.mouse({"type": "pointerMove", "x": at[0], "y": at[1], "duration": 0},
                   {"type": "pointerDown", "button": 0})

    def move(self, to, touch=False):
        if touch:
            self.touch("Move", to)
            return
        self.mouse({"type": "pointerMove", "x": to[0], "y": to[1], "duration": 200})

    def release(self, touch=False):
        if touch:
            self.touch("End")
            return
        self.mouse({"type": "pointerUp", "button": 0})

    def keys(self, selector, name, times):
        self.run("document.querySelector(arguments[0]).focus()", selector)
        self.act("key", "keyboard", [{"type": kind, "value": KEYS[name]} for _ in range(times)
                                     for kind in ("keyDown", "keyUp")])

    def developer(self, command, **parameters):
        return self.post("/goog/cdp/execute", cmd=command, params=parameters)

    def prefer(self, dark):
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.developer("Emulation.setEmulatedMedia", features=[scheme])

    def resize(self, width, height, scale=1):
        self.developer("Emulation.setDeviceMetricsOverride", width=width, height=height,
                       deviceScaleFactor=scale, mobile=False)

    def picture(self, selector):
        found = self.post("/element", using="css selector", value=selector)
        return self.call("GET", f"{self.session}/element/{found[ELEMENT]}/screenshot")

    def console(self):
        return [entry["message"] for entry in self.post("/se/log", type="browser")]
