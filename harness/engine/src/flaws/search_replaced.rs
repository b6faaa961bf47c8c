//! BUG: After a pause of the provider, the result of its search is sent back as an error. Found by changing the AI SDK;
//! no public issue is known.

use super::prelude::*;

flaw! {
    Flaw::new("search-replaced", "healthy-untouched").class("server-tool").only_on(SEARCHING, NO_SEARCH);

    fn record(&mut self, step: &Step, said: &mut Said, put_off: Option<&Change>) -> Vec<Message> {
        let mut messages = Reference.record(step, said, put_off);
        for message in &mut messages {
            let Message::Assistant(blocks) = message else { continue };
            let servers = blocks.iter().filter_map(server_block);
            let called: Vec<String> = servers.filter_map(server_tools::called).map(str::to_owned).collect();
            for block in blocks {
                if let Block::Server(ServerBlock::Result { call_id, body }) = block
                    && !called.contains(call_id)
                {
                    *body = failed(call_id);
                }
            }
        }
        messages
    }
}

fn server_block(block: &Block) -> Option<&ServerBlock> {
    match block {
        Block::Server(block) => Some(block),
        Block::Thought(_) | Block::Text(_) | Block::Call(_) => None,
    }
}

fn failed(call_id: &str) -> String {
    let content = serde_json::json!({ "type": "web_search_tool_result_error", "error_code": "unavailable" });
    serde_json::json!({ "type": "web_search_tool_result", "tool_use_id": call_id, "content": content })
        .to_string()
}
