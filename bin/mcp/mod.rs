//! `traceparse mcp`: a server for coding agents (Model Context Protocol), over standard input and output.
//!
//! Each call of a tool is a process of this command, whose JSON is the answer. So an answer has the command's numbers, a hostile file takes no more
//! memory than in the command, a cancelled call ends at once, and nothing is left of a call.

mod answer;
mod arguments;
mod page;
mod process;
mod server;
mod tools;

use anyhow::Context as _;
use clap::Command;
use rmcp::ServiceExt as _;

use crate::sink::is_terminal;
use crate::{EXIT_DONE, Failure, note};
use process::Limits;
use server::Server;

/// Serves until standard input ends. `whole` has all commands.
pub(crate) fn serve(whole: Command) -> Result<u8, Failure> {
    let limits = Limits::new()?;
    if is_terminal(None) {
        note("waiting for a client on standard input; Ctrl-C ends");
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let service = Server::new(whole, limits).serve(rmcp::transport::stdio()).await;
        let service = service.context("no client connected; add the command to a coding agent (docs/agents.md)")?;
        service.waiting().await?;
        anyhow::Ok(())
    })?;
    // A thread waits for standard input, and would keep the process.
    runtime.shutdown_background();
    Ok(EXIT_DONE)
}
