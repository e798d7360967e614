//! The page of a recording, as a file or as a resource that a client shows (MCP Apps, SEP-1865).
//!
//! A client fetches the view of a tool before it calls it, so the view cannot have the recording. It is a few lines that read the page of the call's
//! result as a resource, and show it.

use clap::Command;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, MetaObject, ReadResourceResult, Resource, ResourceContents};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::answer::{Refusal, with_messages};
use super::arguments::{Arguments, CommandLine};
use super::process::Limits;
use super::tools::Tool;

const VIEW: &str = "ui://traceparse/view";
/// The address of a page; the arguments of the call follow.
const PAGE: &str = "ui://traceparse/page/";
const TYPE: &str = "text/html;profile=mcp-app";

/// The largest answer, in bytes. The addresses of pages contain paths.
const MOST: usize = 20_000;

/// The view of the tool, in its description.
pub(super) fn meta() -> MetaObject {
    MetaObject(object(json!({"ui": {"resourceUri": VIEW}})))
}

pub(super) fn view() -> Resource {
    Resource::new(VIEW, "page").with_description("Shows the page of a recording").with_mime_type(TYPE)
}

/// Makes the page. Without an output, it is only a resource.
pub(super) async fn show(
    limits: &Limits,
    line: &CommandLine,
    arguments: &Arguments,
    cancelled: &CancellationToken,
) -> Result<CallToolResult, Refusal> {
    let page = limits.page(line, cancelled).await?;
    let mut shown = arguments.clone();
    let written = shown.remove("output");
    let uri = format!("{PAGE}{}", utf8_percent_encode(&Value::from(shown).to_string(), NON_ALPHANUMERIC));
    let answer = match written {
        Some(path) => json!({"written": path, "page": uri}),
        None => json!({"page": uri, "bytes": page.stdout.len()}),
    };
    Ok(CallToolResult::structured(with_messages(answer, &String::from_utf8_lossy(&page.stderr), MOST)))
}

/// Reads the view, or a page.
pub(super) async fn read(
    whole: &Command,
    limits: &Limits,
    uri: &str,
    cancelled: &CancellationToken,
) -> Result<ReadResourceResult, ErrorData> {
    let html = match uri.strip_prefix(PAGE) {
        None if uri == VIEW => include_str!("view.html").to_owned(),
        None => return Err(unknown(uri)),
        Some(encoded) => {
            let text = percent_decode_str(encoded).decode_utf8().map_err(|_| unknown(uri))?;
            let arguments: Arguments = serde_json::from_str(&text).map_err(|_| unknown(uri))?;
            if arguments.contains_key("output") {
                return Err(unknown(uri));
            }
            let tool = Tool::named("page").map_err(failed)?;
            let page =
                limits.page(&tool.command_line(whole, &arguments).map_err(failed)?, cancelled).await.map_err(failed)?;
            String::from_utf8(page.stdout).map_err(|error| ErrorData::internal_error(error.to_string(), None))?
        }
    };
    Ok(ReadResourceResult::new(vec![ResourceContents::text(html, uri).with_mime_type(TYPE)]))
}

fn unknown(uri: &str) -> ErrorData {
    ErrorData::resource_not_found("there is no such resource; call the tool page first", Some(json!({"uri": uri})))
}

fn failed(refusal: Refusal) -> ErrorData {
    ErrorData::invalid_params(refusal.message().to_owned(), None)
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}
