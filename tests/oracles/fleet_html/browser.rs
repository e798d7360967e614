//! The page in headless Chromium.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::Failed;

use traceparse::fleet::{FleetOptions, FleetReport};

use super::{HOSTILE, by, hostile, page, report, rules, shapes};
use support::fleet;

use crate::hostile::shown;
use crate::programs::{chromium, traceparse};

/// The page after its scripts ran, and Chromium's log.
fn browse(page: &str) -> Result<(String, String), Failed> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("page.html");
    fs::write(&path, page)?;
    browse_file(&path)
}

/// The same for a page in a file.
fn browse_file(path: &Path) -> Result<(String, String), Failed> {
    let folder = tempfile::tempdir()?;
    let (out, log) = (folder.path().join("out"), folder.path().join("log"));
    let mut child = Command::new(chromium())
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000", "--dump-dom"])
        .args(["--enable-logging=stderr", "--v=0", "--window-size=1280,2000"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("file://{}", path.display().to_string().replace('#', "%23").replace(' ', "%20")))
        .stdout(Stdio::from(fs::File::create(&out)?))
        .stderr(Stdio::from(fs::File::create(&log)?))
        .spawn()?;
    let is_done = wait(&mut child, Duration::from_secs(120))?;
    let (out, log) = (fs::read_to_string(&out)?, String::from_utf8_lossy(&fs::read(&log)?).into_owned());
    ensure!(is_done, "Chromium does not end: {log}");
    Ok((out, log))
}

/// True if a process ended in time; otherwise it is killed.
fn wait(child: &mut Child, limit: Duration) -> Result<bool, Failed> {
    let start = Instant::now();
    while start.elapsed() < limit {
        if child.try_wait()?.is_some() {
            return Ok(true);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill()?;
    child.wait()?;
    Ok(false)
}

/// Inserted at the start of the page: records all errors and policy violations.
const COLLECTOR: &str = r#"<script nonce="test">
window.errors = [];
window.onerror = (message) => { errors.push(String(message)); };
console.error = (...parts) => { errors.push(parts.join(" ")); };
document.addEventListener("securitypolicyviolation", (event) => errors.push("policy: " + event.violatedDirective));
window.found = [];
window.check = (name, is, ...more) => { if (!is) found.push("FAILED " + name + ": " + more.join(" | ")); };
window.finish = (text) => {
  check("no errors", errors.length === 0, ...errors);
  const report = document.createElement("pre");
  report.id = "test-result";
  report.textContent = [...found, text, "end"].join("\n");
  document.body.append(report);
};
window.later = (millis) => new Promise((done) => setTimeout(done, millis));
// Waits until a page shows its report, and opens all parts of it.
window.opened = async (page) => {
  const root = page.documentElement;
  await new Promise((done) => {
    const look = () => root.dataset.state === "ready" && done();
    new MutationObserver(look).observe(root, { attributes: true });
    look();
  });
  for (let closed = [1]; closed.length > 0; await later(20)) {
    closed = [...page.querySelectorAll("details:not([open])")];
    closed.forEach((details) => { details.open = true; });
  }
};
window.test = (run) => run().catch((error) => { check("no exception", false, error.stack); finish(""); });
</script>"#;

/// A page whose policy also allows the test's scripts.
fn with_nonce(page: &str) -> String {
    page.replace("script-src ", "script-src 'nonce-test' ")
}

/// Runs a script in a page after the page's scripts, and returns its result.
fn check_in_page(page: &str, script: &str) -> Result<String, Failed> {
    let page = with_nonce(page);
    let page = page.replacen("<head>", &format!("<head>{COLLECTOR}"), 1);
    let at = page.rfind("</body>").ok_or("no body")?;
    let page = format!(
        "{}<script nonce=\"test\">\ntest(async () => {{\n{script}\n}});\n</script>{}",
        &page[..at],
        &page[at..]
    );
    let (dom, log) = browse(&page)?;
    let told = dom.split_once("<pre id=\"test-result\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let told = told.ok_or_else(|| format!("the script did not end: {log}"))?.0.to_owned();
    ensure!(!told.contains("FAILED"), "{told}");
    ensure!(told.ends_with("end") && !log.contains("CONSOLE"), "{told}\n{log}");
    Ok(told)
}

/// The screen sizes: a phone, a laptop, a large desktop; and a narrow screen, on which everything is examined.
const SCREENS: [(u32, u32); 4] = [(390, 844), (1280, 800), (2200, 1200), NARROW];
const NARROW: (u32, u32) = (360, 3000);

/// On every screen, in light and dark mode, the findings are visible without scrolling, nothing scrolls sideways, and all text has contrast.
pub(crate) fn pages_fit_every_screen() -> Result<(), Failed> {
    for (name, report, _) in shapes() {
        let told = check_in_page(&framed(&report, &SCREENS), FIRST_SCREEN)?;
        println!("{name}: {}", told.replace('\n', " "));
        ensure!(told.matches("light").count() == 4 && told.matches("dark").count() == 4, "{name}: {told}");
        ensure!(report.cohorts.is_empty() || !told.contains("wide tables 0"), "{name}: {told}");
    }
    let told = check_in_page(&framed(&long_names(), &[NARROW]), FIRST_SCREEN)?;
    ensure!(told.contains("dark") && !told.contains("wide tables 0"), "long names: {told}");
    Ok(())
}

/// Headless Chromium has no window as narrow as a phone, but a frame may be.
fn framed(report: &FleetReport, screens: &[(u32, u32)]) -> String {
    let page = page(report).replace('&', "&amp;").replace('"', "&quot;");
    let frame = |(width, height)| {
        format!("<iframe style=\"width:{width}px;height:{height}px;border:0\" srcdoc=\"{page}\"></iframe>")
    };
    let frames: String = screens.iter().copied().map(frame).collect();
    // Without it, Chromium guesses the encoding from what it has read so far, and a style sheet that is decoded wrongly is not the one
    // whose hash the policy names.
    format!("<!DOCTYPE html><html><head><meta charset=\"utf-8\"></head><body>{frames}</body></html>")
}

/// Long names everywhere.
fn long_names() -> FleetReport {
    let mut long = fleet::runs(4, 8);
    for run in &mut long {
        run.record.labels = vec![("build".to_owned(), "x".repeat(300))];
        run.record.source = format!("{}/{}", "folder".repeat(60), run.record.run_id);
        for name in &mut run.names {
            name.push_str(&"::Nested<int>".repeat(40));
        }
    }
    let rule = format!("function({:?}).self.max > 0", "y".repeat(500));
    let processes = vec![long[0].names[0].clone()];
    report(&long, FleetOptions { alerts: rules(&[&rule]), processes, ..by(&["build"]) })
}

const FIRST_SCREEN: &str = include_str!("first_screen.js");

const SORT_AND_FILTER: &str = include_str!("page.js");

pub(crate) fn tables_sort_and_filter() -> Result<(), Failed> {
    for (name, report, cohorts) in shapes() {
        let told = check_in_page(&page(&report), &format!("const COHORTS = {cohorts};\n{SORT_AND_FILTER}"))?;
        println!("{name}: {}", told.replace('\n', " "));
        if name == "usual" {
            // The scripts have worked: four cohorts have 4 tables each, and there are 8 other tables, the runs, the numbers of the boxes and of
            // the trend, and the two of the summary.
            ensure!(told.contains("tables 28,"), "{told}");
        }
    }
    Ok(())
}

pub(crate) fn names_are_shown_and_do_nothing() -> Result<(), Failed> {
    let report = hostile();
    let script = r#"
      await opened(document);
      document.querySelectorAll("[title], th, td, summary, li").forEach((element) => element.click());
      check("nothing ran", window.hacked === undefined, window.hacked);
      check("nothing came in", document.querySelectorAll("img, h1").length === 1);
      const texts = Array.from(document.querySelectorAll("th[scope=row]"), (cell) => cell.textContent);
      const notes = Array.from(document.querySelectorAll(".cautions li"), (cell) => cell.textContent);
      for (const name of NAMES) {
        check("a row has the name", texts.some((text) => text.includes(name)), name);
        check("a note has the text", notes.includes(name), name);
      }
      finish("names " + NAMES.length);
    "#;
    let names: Vec<String> = HOSTILE.iter().map(|text| shown(text)).collect();
    // `<` would end the script of the test.
    let names = serde_json::to_string(&names)?.replace('<', "\\u003c");
    let told = check_in_page(&page(&report), &format!("const NAMES = {names};\n{script}"))?;
    ensure!(told.contains(&format!("names {}", HOSTILE.len())), "{told}");
    Ok(())
}

/// A click on a number opens the page of its run, without console messages. `tests/cli/fleet_with_runs.rs` compares the link's selection with
/// the page, since Chromium prints the document before the page's worker has answered.
pub(crate) fn links_open_the_pages_of_runs() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let exports = folder.path().join("exports");
    fs::create_dir(&exports)?;
    for name in ["a", "b"] {
        let rows: String = (0..40).map(|index| row(index, if name == "a" { 1 } else { 2 })).collect();
        fs::write(exports.join(format!("{name}.xml")), EXPORT.replace("ROWS", &rows))?;
    }
    let page = folder.path().join("all runs #1.html");
    traceparse([
        OsStr::new("fleet"),
        "report".as_ref(),
        exports.as_ref(),
        "-o".as_ref(),
        page.as_ref(),
        "--with-runs".as_ref(),
        "1".as_ref(),
    ])?;
    let html = fs::read_to_string(&page)?;
    // The test's script follows the link, and Chromium prints the page that opens.
    let click = "opened(document).then(() => document.querySelector('#scope-function a.run').click());";
    let click = format!("<script nonce=\"test\">{click}</script></body>");
    let html = with_nonce(&html).replacen("<head>", &format!("<head>{COLLECTOR}"), 1);
    fs::write(&page, html.replace("</body>", &click))?;
    let (dom, log) = browse_file(&page)?;
    ensure!(!log.contains("CONSOLE"), "{log}");
    ensure!(
        dom.contains("id=\"workbench\"") && dom.contains("b.xml"),
        "the page of the largest run is open: {}",
        dom.len()
    );
    Ok(())
}

fn row(index: u32, millis: u32) -> String {
    let time = index * 10_000_000;
    format!(
        "<row><sample-time>{time}</sample-time><weight>{millis}000000</weight><backtrace><frame name=\"work(“x”)\" addr=\"0x1001\"/>\
         </backtrace></row>"
    )
}

const EXPORT: &str = "<?xml version=\"1.0\"?>\n<trace-query-result>\n<node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'>\
    <schema name=\"time-profile\"><col><mnemonic>time</mnemonic></col><col><mnemonic>weight</mnemonic></col>\
    <col><mnemonic>stack</mnemonic></col></schema>ROWS</node></trace-query-result>";
