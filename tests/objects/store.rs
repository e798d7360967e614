//! A bucket in the store on the loopback interface, and the command configured for it.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tempfile::TempDir;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_traceparse");
/// A secret key, which must not be in any message.
pub(crate) const SECRET: &str = "SECRETSECRETSECRET";

pub(crate) fn python() -> String {
    std::env::var("TRACEPARSE_PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

/// The server, which ends with this process.
struct Server {
    _child: Child,
    port: u16,
    folder: TempDir,
}

fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let script = support::repository("tests/objects/server.py");
        let mut command = Command::new(python());
        let mut child =
            command.arg(script).arg(folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Server { _child: child, port: line.trim().parse().unwrap(), folder }
    })
}

/// The command, with the address and the keys of the store.
pub(crate) fn traceparse(args: &[&str]) -> Command {
    let endpoint = format!("http://127.0.0.1:{}", server().port);
    let mut command = Command::new(BINARY);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("AWS_")) {
        command.env_remove(name);
    }
    command.env("AWS_ACCESS_KEY_ID", "testing").env("AWS_SECRET_ACCESS_KEY", SECRET).env("AWS_REGION", "us-east-1");
    command.env("AWS_ENDPOINT_URL", endpoint).env("AWS_ALLOW_HTTP", "true").env("NO_COLOR", "1").args(args);
    command
}

/// What a run wrote, and its exit code.
pub(crate) struct Answer {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) fn answer(output: Output) -> Answer {
    let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(!stderr.contains("panicked") && !stderr.contains(SECRET), "{stderr}");
    Answer { code: output.status.code().unwrap_or(-1), stdout, stderr }
}

/// Runs the command, and checks that no copies of objects remain.
pub(crate) fn run(args: &[&str]) -> Answer {
    let temporary = tempfile::tempdir().unwrap();
    let answer = answer(traceparse(args).env("TMPDIR", temporary.path()).output().unwrap());
    let left: Vec<_> = fs::read_dir(temporary.path()).unwrap().flatten().map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "{args:?} left {left:?}");
    answer
}

/// What a run wrote that succeeded.
#[track_caller]
pub(crate) fn ok(args: &[&str]) -> Answer {
    let answer = run(args);
    assert_eq!(answer.code, 0, "{args:?}: {}", answer.stderr);
    answer
}

/// What a run said that failed with this code, and wrote nothing.
#[track_caller]
pub(crate) fn fails(code: i32, args: &[&str]) -> String {
    let answer = run(args);
    assert_eq!((answer.code, answer.stdout.as_str()), (code, ""), "{args:?}: {}", answer.stderr);
    answer.stderr
}

/// A bucket, made for one test.
pub(crate) struct Bucket(pub(crate) String);

impl Bucket {
    pub(crate) fn new(name: &str) -> Self {
        request("PUT", &format!("/{name}"), b"");
        Self(name.to_owned())
    }

    pub(crate) fn url(&self, key: &str) -> String {
        format!("s3://{}/{key}", self.0)
    }

    pub(crate) fn put(&self, key: &str, bytes: impl AsRef<[u8]>) {
        request("PUT", &format!("/{}/{key}", self.0), bytes.as_ref());
    }

    /// Puts a file, or all files of a folder.
    pub(crate) fn put_path(&self, path: &Path, key: &str) {
        if path.is_file() {
            return self.put(key, fs::read(path).unwrap());
        }
        for entry in fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            self.put_path(&path, &format!("{key}/{}", path.file_name().unwrap().to_str().unwrap()));
        }
    }

    pub(crate) fn get(&self, key: &str) -> Vec<u8> {
        request("GET", &format!("/{}/{key}", self.0), b"")
    }

    pub(crate) fn delete(&self, key: &str) {
        request("DELETE", &format!("/{}/{key}", self.0), b"");
    }

    /// All keys, sorted.
    pub(crate) fn keys(&self) -> Vec<String> {
        let listing = String::from_utf8(request("GET", &format!("/{}?list-type=2", self.0), b"")).unwrap();
        let keys = listing.split("<Key>").skip(1).filter_map(|rest| rest.split_once("</Key>"));
        keys.map(|(key, _)| key.to_owned()).collect()
    }

    /// The requests about it so far: `METHOD /bucket/key STATUS`.
    pub(crate) fn requests(&self) -> Vec<String> {
        let requests = fs::read_to_string(server().folder.path().join("requests")).unwrap();
        let of_bucket = format!(" /{}/", self.0);
        requests.lines().filter(|line| line.contains(&of_bucket)).map(str::to_owned).collect()
    }

    /// The keys of objects that were read so far, each time, without those that are not there.
    pub(crate) fn read_so_far(&self) -> Vec<String> {
        let requests = fs::read_to_string(server().folder.path().join("requests")).unwrap();
        let start = format!("GET /{}/", self.0);
        let read = requests.lines().filter_map(|line| line.strip_prefix(&start)?.strip_suffix(" 200"));
        read.filter(|key| !key.is_empty()).map(str::to_owned).collect()
    }
}

/// The first request of a kind waits, until this is dropped.
pub(crate) struct Hold {
    request: String,
    _only: MutexGuard<'static, u32>,
}

impl Hold {
    /// `then` is `pass` or `refuse`.
    pub(crate) fn first(method: &str, bucket: &Bucket, key: &str, then: &str) -> Self {
        static ONLY: Mutex<u32> = Mutex::new(0);
        let mut only = ONLY.lock().unwrap_or_else(PoisonError::into_inner);
        *only += 1;
        let request = format!("{method} /{}/{key}", bucket.0);
        fs::write(server().folder.path().join("hold"), format!("{} {then} {request}", *only)).unwrap();
        Self { request, _only: only }
    }

    /// Waits until there is such a request.
    pub(crate) fn wait(&self) {
        let line = format!("{} held", self.request);
        until(|| fs::read_to_string(server().folder.path().join("requests")).unwrap_or_default().contains(&line));
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let _ = fs::remove_file(server().folder.path().join("hold"));
    }
}

#[track_caller]
pub(crate) fn until(mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(60), "it never was so");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A request of our own, without the crate that is tested: HTTP/1.1 by hand. moto checks no signatures, but wants one.
fn request(method: &str, path: &str, body: &[u8]) -> Vec<u8> {
    use std::io::{Read as _, Write as _};
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", server().port)).unwrap();
    let signature =
        "AWS4-HMAC-SHA256 Credential=testing/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0";
    let path = path.replace(' ', "%20");
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {signature}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let status = String::from_utf8_lossy(&answer[..end]).into_owned();
    let code = status.split(' ').nth(1).unwrap_or_default();
    assert!(code.starts_with('2'), "{method} {path}: {status}");
    answer.split_off(end + 4)
}
