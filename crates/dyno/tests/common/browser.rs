//! A real browser: Chromium, driven by chromedriver over the WebDriver protocol. One browser for each test,
//! gone when the test ends.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A window that shows a page of this machine.
pub struct Browser {
    driver: Child,
    session: String,
    /// The files of both, removed last.
    _folder: TempDir,
}

/// Starts chromedriver. Returns it and its port; none if it has ended before it named one.
fn start_driver(folder: &Path) -> Option<(Child, String)> {
    let mut driver = Command::new("chromedriver")
        .arg("--port=0")
        // Chromium leaves its profile there when it is ended.
        .env("TMPDIR", folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("chromedriver is not installed; `make needs` installs it");
    let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
    let port = lines.find_map(|line| {
        Some(line.ok()?.rsplit_once("successfully on port ")?.1.trim_end_matches('.').to_owned())
    });
    let Some(port) = port else {
        let _ = driver.wait();
        return None;
    };
    // It goes on writing, so the pipe must stay open.
    std::thread::spawn(move || lines.for_each(drop));
    Some((driver, port))
}

impl Browser {
    /// Starts one. The tests need it, and say so where it is missing.
    pub fn start() -> Browser {
        let folder = tempfile::tempdir().unwrap();
        // It takes a free port of IPv4, and ends if another one has that port of IPv6.
        let started = (0..10).find_map(|_| start_driver(folder.path()));
        let (driver, port) = started.expect("chromedriver names no port");
        let arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];
        let wanted = json!({"capabilities": {"alwaysMatch": {
            // A busy machine is slow and not wrong.
            "timeouts": {"script": 120_000},
            "goog:chromeOptions": {"args": arguments},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }}});
        let session = format!("http://127.0.0.1:{port}/session");
        let mut browser = Browser { driver, session, _folder: folder };
        let session = browser.call("", wanted);
        browser.session = format!("{}/{}", browser.session, session["sessionId"].as_str().unwrap());
        // Files that the page offers for download stay in it.
        browser.devtools("Browser.setDownloadBehavior", json!({"behavior": "deny"}));
        browser
    }

    /// Opens a file and waits until it is loaded.
    pub fn open(&self, page: &Path) {
        self.call("/url", json!({"url": format!("file://{}", page.display())}));
    }

    /// Opens a page in a usual window, with every chart drawn.
    pub fn show(&self, page: &Path) {
        self.resize(1200, 900);
        self.open(page);
        self.draw_all();
    }

    /// The page complained of nothing and asked for nothing.
    pub fn assert_quiet(&self) {
        assert_eq!(self.complaints(), Vec::<String>::new());
        assert_eq!(self.requests(), Vec::<String>::new());
    }

    /// The page is no wider than the window.
    pub fn assert_fits(&self, width: u32) {
        let wide = self.run("return document.documentElement.scrollWidth").as_u64().unwrap();
        assert!(wide <= u64::from(width), "the page is {wide} wide in a window of {width}");
    }

    /// axe finds nothing that keeps anyone out, with all details open.
    pub fn assert_accessible(&self, how: &str) {
        const AXE: &str = include_str!("../../../show/report/vendor/axe.min.js");
        self.run("document.querySelectorAll('details').forEach((details) => (details.open = true))");
        // Over a gradient axe judges no contrast, and text may be anywhere when a table is scrolled.
        self.run("document.documentElement.style.setProperty('--more', 'none')");
        self.run(&format!("{AXE}\nwindow.axe = axe;"));
        let found = self.wait_for(
            "axe.run().then((found) => done(found.violations.map((v) => `${v.id}: ${v.nodes[0].html} ${v.nodes[0].failureSummary}`)), (error) => done([String(error)]))",
        );
        assert_eq!(found, json!([]), "{how}");
    }

    /// The value that a script in the page returns.
    pub fn run(&self, script: &str) -> Value {
        self.call("/execute/sync", json!({"script": script, "args": []}))
    }

    /// The value that a script in the page gives to `done`, its last argument.
    pub fn wait_for(&self, script: &str) -> Value {
        let script = format!("const done = arguments[arguments.length - 1]; {script}");
        self.call("/execute/async", json!({"script": script, "args": []}))
    }

    /// A command of Chromium's own protocol.
    pub fn devtools(&self, command: &str, parameters: Value) -> Value {
        self.call("/goog/cdp/execute", json!({"cmd": command, "params": parameters}))
    }

    /// Sets the window's size in CSS pixels.
    pub fn resize(&self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.devtools("Emulation.setDeviceMetricsOverride", size);
    }

    /// Prefers light or dark.
    pub fn prefer(&self, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.devtools("Emulation.setEmulatedMedia", json!({"media": "", "features": features}));
    }

    /// Shows the page as it is printed, until [`Browser::prefer`].
    pub fn print(&self) {
        self.devtools("Emulation.setEmulatedMedia", json!({"media": "print"}));
    }

    /// The colour of a place in the window.
    pub fn pixel(&self, x: f64, y: f64) -> Value {
        let (x, y) = (x.floor(), y.floor());
        let picture = self.devtools("Page.captureScreenshot", json!({"format": "png"}));
        self.wait_for(&format!(
            "const picture = new Image();
             picture.onload = () => {{
                const canvas = document.createElement('canvas').getContext('2d');
                canvas.drawImage(picture, -{x}, -{y});
                done([...canvas.getImageData(0, 0, 1, 1).data]);
             }};
             picture.src = 'data:image/png;base64,{}'",
            picture["data"].as_str().unwrap()
        ))
    }

    /// Presses and releases a key.
    pub fn press(&self, key: &str, code: u32, text: &str) {
        for kind in ["keyDown", "keyUp"] {
            let event = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": if kind == "keyDown" { text } else { "" }});
            self.devtools("Input.dispatchKeyEvent", event);
        }
    }

    /// Scrolls to every chart in turn until all are drawn.
    pub fn draw_all(&self) {
        self.wait_for(
            "(async () => {
                for (const figure of document.querySelectorAll('figure.chart')) {
                    figure.scrollIntoView({ behavior: 'instant' });
                    for (let i = 0; i < 100 && !figure.querySelector('svg'); i++) await new Promise((r) => setTimeout(r, 20));
                }
                scrollTo(0, 0);
            })().then(() => done(null), (error) => done(String(error)))",
        );
    }

    /// Errors and warnings in the console since the last call.
    pub fn complaints(&self) -> Vec<String> {
        let log = self.call("/se/log", json!({"type": "browser"}));
        log.as_array().unwrap().iter().map(|line| line["message"].as_str().unwrap().to_owned()).collect()
    }

    /// The addresses that were asked for since the last call, but for files and data within the page.
    pub fn requests(&self) -> Vec<String> {
        let log = self.call("/se/log", json!({"type": "performance"}));
        let events = log.as_array().unwrap().iter();
        let events = events.filter_map(|line| serde_json::from_str::<Value>(line["message"].as_str()?).ok());
        let asked = events.filter(|event| event["message"]["method"] == "Network.requestWillBeSent");
        let urls =
            asked.map(|event| event["message"]["params"]["request"]["url"].as_str().unwrap().to_owned());
        urls.filter(|url| !["file:", "data:", "blob:"].iter().any(|own| url.starts_with(own))).collect()
    }

    fn call(&self, path: &str, body: Value) -> Value {
        let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let mut answer = agent.post(format!("{}{path}", self.session)).send_json(body).unwrap();
        let mut answer: Value = answer.body_mut().read_json().unwrap();
        assert!(answer["value"]["error"].is_null(), "{path}: {}", answer["value"]);
        answer["value"].take()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = ureq::delete(&self.session).call();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
