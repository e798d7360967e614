//! A client of the server, by hand: JSON-RPC in lines.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_traceparse");

pub(crate) struct Client {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    sent: u64,
    /// Answers to requests that nobody waited for yet.
    early: BTreeMap<u64, Value>,
}

impl Client {
    /// Starts a server and initialises it.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(BINARY);
        command.arg("mcp").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().expect("the server starts");
        let input = server.stdin.take();
        let output = BufReader::new(server.stdout.take().expect("it has an output"));
        let mut client = Self { server, input, output, sent: 0, early: BTreeMap::new() };
        let info = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
        let answer = client.request("initialize", info);
        assert_eq!(answer["serverInfo"]["name"], "traceparse");
        client.notify("notifications/initialized", json!({}));
        client
    }

    fn write(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("it is open");
        writeln!(input, "{message}").and_then(|()| input.flush()).expect("the server reads");
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn send(&mut self, method: &str, params: Value) -> u64 {
        self.sent += 1;
        self.write(&json!({"jsonrpc": "2.0", "id": self.sent, "method": method, "params": params}));
        self.sent
    }

    /// Sends a request and returns its result.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        loop {
            if let Some(answer) = self.early.remove(&id) {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).expect("the server writes"), 0, "the server ended");
            let answer: Value = serde_json::from_str(&line).expect("a line is JSON");
            self.early.insert(answer["id"].as_u64().expect("an answer has an id"), answer);
        }
    }

    /// Sends a call without waiting for the answer, and returns its id.
    pub(crate) fn send_call(&mut self, tool: &str, arguments: Value) -> u64 {
        self.send("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Calls a tool, which may fail.
    pub(crate) fn result(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Calls a tool, which succeeds.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.result(tool, arguments);
        assert_eq!(result["isError"], false, "{tool}: {result}");
        let text = result["content"][0]["text"].as_str().expect("there is a text");
        assert_eq!(serde_json::from_str::<Value>(text).expect("JSON"), result["structuredContent"]);
        result["structuredContent"].clone()
    }

    /// Calls a tool, which is refused.
    pub(crate) fn refusal(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.result(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        assert!(result["content"][0]["text"].as_str().is_some_and(|text| text.len() <= 1000), "{result}");
        let error = result["structuredContent"]["error"].clone();
        assert!(error["next"].as_str().is_some_and(|next| !next.is_empty()), "{error}");
        error
    }

    pub(crate) fn kill(&mut self) {
        self.server.kill().expect("it runs");
    }

    pub(crate) fn id(&self) -> u32 {
        self.server.id()
    }

    /// The memory that the server has in RAM, in bytes; 0 where it is unknown.
    pub(crate) fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes: Option<u64> = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        kilobytes.map_or(0, |kilobytes| kilobytes * 1024)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.server.wait();
    }
}
