//! A reply as the Messages API writes it: one JSON document, or server-sent events.

use std::time::Duration;

use serde_json::{Value, json};

use super::scripts::{Block, ModelReply};

/// Characters in one piece of streamed text.
const PIECE_CHARS: usize = 36;
const CONTEXT_TOKENS_DEFAULT: u64 = 12_000;

/// Values that differ between two answers of the same script.
#[derive(Debug)]
pub(super) struct ReplyContext {
    pub(super) model: Value,
    pub(super) messages: u64,
    pub(super) cwd: String,
    pub(super) plan_file: String,
    /// What the prompt asks to run.
    pub(super) command: String,
    /// Unique per request.
    pub(super) number: u64,
}

/// One event and the pause after it.
#[derive(Debug)]
pub(super) struct DelayedFrame(pub(super) String, pub(super) Duration);

impl ReplyContext {
    fn usage(&self, reply: &ModelReply, output_tokens: u64) -> Value {
        let n = self.messages;
        json!({"input_tokens": 3 + n, "cache_creation_input_tokens": 400 * n,
            "cache_read_input_tokens": reply.context_tokens.unwrap_or(CONTEXT_TOKENS_DEFAULT),
            "cache_creation": {"ephemeral_5m_input_tokens": 300 * n, "ephemeral_1h_input_tokens": 100 * n},
            "output_tokens": output_tokens, "service_tier": "standard", "inference_geo": "not_available"})
    }

    fn message(&self, content: Value, stop_reason: Value, usage: Value) -> Value {
        json!({"id": format!("msg_stub{:020}", self.number), "type": "message", "role": "assistant",
            "model": self.model, "content": content, "stop_reason": stop_reason, "stop_sequence": null, "usage": usage})
    }

    fn own(&self, text: &str) -> String {
        text.replace("@CWD@", &self.cwd)
            .replace("@PLANFILE@", &self.plan_file)
            .replace("@COMMAND@", &self.command)
    }

    fn input(&self, input: &Value) -> Value {
        match input {
            Value::String(text) => Value::String(self.own(text)),
            Value::Array(items) => items.iter().map(|i| self.input(i)).collect(),
            Value::Object(map) => {
                Value::Object(map.iter().map(|(k, v)| (k.clone(), self.input(v))).collect())
            }
            other => other.clone(),
        }
    }

    fn tool_id(&self, index: usize) -> String {
        format!("toolu_stub{:016}{index:04}", self.number)
    }
}

fn stop_reason(reply: &ModelReply) -> &'static str {
    let calls = reply.blocks.iter().any(|b| matches!(b, Block::Tool { .. }));
    reply.stop_reason.unwrap_or(if calls { "tool_use" } else { "end_turn" })
}

fn output_tokens(reply: &ModelReply) -> u64 {
    let size = |b: &Block| match b {
        Block::Text { text, .. } => text.len(),
        Block::Thinking(text) => text.len(),
        Block::Tool { input, .. } => input.to_string().len() + 20,
    };
    reply.blocks.iter().map(size).sum::<usize>() as u64 / 4 + 5
}

/// The answer to a request without `stream`.
pub(super) fn document(reply: &ModelReply, context: &ReplyContext) -> Value {
    let block = |(n, block): (usize, &Block)| match block {
        Block::Text { text, .. } => json!({"type": "text", "text": text}),
        Block::Thinking(text) => json!({"type": "thinking", "thinking": text, "signature": "c3R1Yg=="}),
        Block::Tool { name, input } => {
            json!({"type": "tool_use", "id": context.tool_id(n), "name": name, "input": context.input(input)})
        }
    };
    let content = reply.blocks.iter().enumerate().map(block).collect();
    context.message(content, stop_reason(reply).into(), context.usage(reply, output_tokens(reply)))
}

/// The answer as events.
pub(super) fn frames(reply: &ModelReply, context: &ReplyContext) -> Vec<DelayedFrame> {
    let mut out = Vec::new();
    let message = context.message(json!([]), Value::Null, context.usage(reply, 1));
    push(&mut out, "message_start", json!({"message": message}));
    for (index, block) in reply.blocks.iter().enumerate() {
        block_frames(&mut out, index, block, context);
        if !reply.drop {
            push(&mut out, "content_block_stop", json!({"index": index}));
        }
    }
    if !reply.drop {
        let usage = context.usage(reply, output_tokens(reply));
        let delta = json!({"stop_reason": stop_reason(reply), "stop_sequence": null});
        push(&mut out, "message_delta", json!({"delta": delta, "usage": usage}));
        push(&mut out, "message_stop", json!({}));
    }
    out
}

fn block_frames(out: &mut Vec<DelayedFrame>, index: usize, block: &Block, context: &ReplyContext) {
    let start = match block {
        Block::Text { .. } => json!({"type": "text", "text": ""}),
        Block::Thinking(_) => json!({"type": "thinking", "thinking": "", "signature": ""}),
        Block::Tool { name, .. } => {
            json!({"type": "tool_use", "id": context.tool_id(index), "name": name, "input": {}})
        }
    };
    push(out, "content_block_start", json!({"index": index, "content_block": start}));
    let mut delta = |delta: Value, pause: Duration| {
        push(out, "content_block_delta", json!({"index": index, "delta": delta}));
        if let Some(frame) = out.last_mut() {
            frame.1 = pause;
        }
    };
    match block {
        Block::Text { text, pause } => {
            pieces(text).for_each(|piece| delta(json!({"type": "text_delta", "text": piece}), *pause));
        }
        Block::Thinking(text) => {
            delta(json!({"type": "thinking_delta", "thinking": text}), Duration::ZERO);
            delta(json!({"type": "signature_delta", "signature": "c3R1Yg=="}), Duration::ZERO);
        }
        Block::Tool { input, .. } => {
            let input = context.input(input).to_string();
            pieces(&input).for_each(|piece| {
                delta(json!({"type": "input_json_delta", "partial_json": piece}), Duration::ZERO)
            });
        }
    }
}

fn pieces(text: &str) -> impl Iterator<Item = String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(PIECE_CHARS).map(|c| c.iter().collect()).collect::<Vec<String>>().into_iter()
}

fn push(out: &mut Vec<DelayedFrame>, kind: &str, mut data: Value) {
    data["type"] = kind.into();
    out.push(DelayedFrame(format!("event: {kind}\ndata: {data}\n\n"), Duration::ZERO));
}
