//! Answers the requests of a client.

use std::sync::Arc;

use clap::Command;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
    Tool as ToolInfo, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::answer::Refusal;
use super::page;
use super::process::Limits;
use super::tools::{TOOLS, Tool};

/// How to use the tools, for the model.
const INSTRUCTIONS: &str = "\
Reads recordings of Instruments (.trace), xctrace exports, sample and spindump reports, MetricKit files and crash reports, on any machine. \
Start with open. Pass paths as you have them.
Answers are short: left_out counts what is missing, and cursor continues there. Times are in ns, weights in the unit of their series. Options in \
texts (--dsym, --view, --process) are arguments here (symbols, view, process), and other commands are tools; there is nothing to run or export.
Do not conclude: from few samples (the overview says so); that waiting threads use CPU; that one pair of recordings proves a change; a cause \
where the answer is unknown. If the data has no answer, say that it cannot be told.";

/// The server.
#[derive(Debug)]
pub(super) struct Server {
    /// All commands.
    whole: Command,
    limits: Limits,
}

impl Server {
    pub(super) fn new(whole: Command, limits: Limits) -> Self {
        Self { whole, limits }
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Refusal> {
        let tool = Tool::named(&request.name)?;
        let arguments = request.arguments.unwrap_or_default();
        let line = tool.command_line(&self.whole, &arguments)?;
        match tool.writes_json() {
            true => self.limits.answer(&line, &context.ct).await,
            false => page::show(&self.limits, &line, &arguments, &context.ct).await,
        }
    }
}

/// The largest refusal, in bytes.
const MOST_REFUSAL: usize = 1000;

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("traceparse", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(TOOLS.iter().map(|tool| described(tool, &self.whole)).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let result = self.call(request, &context).await;
        Ok(result.unwrap_or_else(|refusal| refusal.result(MOST_REFUSAL)).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(vec![page::view()]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        page::read(&self.whole, &self.limits, &request.uri, &context.ct).await.map(Into::into)
    }
}

/// The description of a tool.
fn described(tool: &Tool, whole: &Command) -> ToolInfo {
    let is_read_only = tool.writes_json();
    let annotations = ToolAnnotations::with_title(tool.title)
        .read_only(is_read_only)
        .destructive(!is_read_only)
        .idempotent(true)
        .open_world(false);
    let info = ToolInfo::new(tool.name, tool.about, Arc::new(tool.schema(whole)))
        .with_title(tool.title)
        .with_annotations(annotations);
    if is_read_only { info } else { info.with_meta(page::meta()) }
}
