//! Runs the command of a call as a process of its own.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use rmcp::model::CallToolResult;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::answer::{Refusal, SHARE_OF_MESSAGES, answer};
use super::arguments::CommandLine;
use crate::resource_limits;
use crate::short_json::LEAST_BYTES;

/// The calls that run at a time, each with its share of the memory. More of them wait.
const AT_A_TIME: usize = 2;
/// The most bytes of messages that are read.
const MOST_MESSAGES: u64 = 64 << 10;
/// The largest page, in bytes.
pub(super) const MOST_PAGE: u64 = 16_000_000;
/// How long a cancelled call may take to delete its temporary files.
const GRACE: Duration = Duration::from_secs(2);

/// What processes may use.
#[derive(Debug)]
pub(super) struct Limits {
    program: PathBuf,
    /// Options of every process.
    options: Vec<OsString>,
    running: Semaphore,
}

impl Limits {
    pub(super) fn new() -> Result<Self> {
        let program = std::env::current_exe().context("the program cannot be found")?;
        let memory = resource_limits::limit() / AT_A_TIME as u64;
        let output = resource_limits::max_output();
        let mut options = vec![format!("--memory={memory}").into(), format!("--max-output={output}").into()];
        options.extend(["--color=never".into(), "--end-with-input".into()]);
        options.extend(resource_limits::only_below().iter().map(|folder| join("--only-below=", folder.as_os_str())));
        Ok(Self { program, options, running: Semaphore::new(AT_A_TIME) })
    }

    /// Runs a command that writes JSON, and returns it.
    pub(super) async fn answer(
        &self,
        line: &CommandLine,
        cancelled: &CancellationToken,
    ) -> Result<CallToolResult, Refusal> {
        let room = (line.max_bytes - line.max_bytes / SHARE_OF_MESSAGES).max(LEAST_BYTES as u64);
        let mut options = vec![OsString::from("--format=json"), format!("--max-size={room}").into()];
        options.extend(line.cursor.iter().map(|cursor| format!("--from={cursor}").into()));
        let output = self.run(line, options, line.max_bytes, cancelled).await?;
        answer(&output.stdout, &String::from_utf8_lossy(&output.stderr), line.max_bytes as usize)
    }

    /// Runs a command that writes a page, to its output if it has one, and returns what it printed.
    pub(super) async fn page(&self, line: &CommandLine, cancelled: &CancellationToken) -> Result<Output, Refusal> {
        let options = vec![OsString::from("--format=html"), format!("--max-size={MOST_PAGE}").into()];
        self.run(line, options, 2 * MOST_PAGE, cancelled).await
    }

    async fn run(
        &self,
        line: &CommandLine,
        options: Vec<OsString>,
        most: u64,
        cancelled: &CancellationToken,
    ) -> Result<Output, Refusal> {
        for path in &line.paths {
            if resource_limits::is_special(path) {
                let message = format!("{} is neither a file nor a folder", path.display());
                return Err(Refusal::arguments(message, Vec::new(), "call it again with a file or a folder"));
            }
            let checked = resource_limits::check_place(path);
            checked.map_err(|error| Refusal::outside(format!("{}: {error}", path.display())))?;
        }
        let _running = self.running.acquire().await.map_err(internal)?;
        let mut command = Command::new(&self.program);
        command.args(&line.words).args(&self.options).args(options).arg("--").args(&line.inputs);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().map_err(internal)?;
        // The process ends with its input: also if this one is killed.
        let input = child.stdin.take();
        let read = tokio::select! {
            read = read(&mut child, most) => read.map_err(internal)?,
            () = cancelled.cancelled() => {
                end(&mut child, input).await;
                return Err(Refusal::internal("the call was cancelled".to_owned()));
            }
        };
        match read.status.code() {
            // 3 and 4 are verdicts, and 1 is one if there is an answer: no comparison is possible.
            Some(0 | 3 | 4) => Ok(read),
            Some(1) if !read.stdout.is_empty() => Ok(read),
            code => Err(Refusal::of_command(code, &String::from_utf8_lossy(&read.stderr))),
        }
    }
}

fn internal(error: impl std::fmt::Display) -> Refusal {
    Refusal::internal(error.to_string())
}

fn join(start: &str, end: &OsStr) -> OsString {
    let mut joined = OsString::from(start);
    joined.push(end);
    joined
}

/// Waits for the process, and reads what it writes.
async fn read(child: &mut Child, most: u64) -> std::io::Result<Output> {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (stdout, stderr) = tokio::try_join!(read_most(stdout, most), read_most(stderr, MOST_MESSAGES))?;
    Ok(Output { status: child.wait().await?, stdout, stderr })
}

/// Reads everything, and keeps at most this many bytes.
async fn read_most(source: Option<impl AsyncRead + Unpin>, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(mut source) = source {
        (&mut source).take(most).read_to_end(&mut bytes).await?;
        tokio::io::copy(&mut source, &mut tokio::io::sink()).await?;
    }
    Ok(bytes)
}

/// Ends a process, which deletes its temporary files first: it ends with its input.
async fn end(child: &mut Child, input: Option<ChildStdin>) {
    drop(input);
    if tokio::time::timeout(GRACE, child.wait()).await.is_err() {
        let _ = child.kill().await;
    }
}
