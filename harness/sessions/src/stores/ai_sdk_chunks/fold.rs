//! Converts chunks into the parts of one UI message.

use std::collections::BTreeMap;

use brickbat_rules::json::Json;
use serde_json::{Value, json};

use crate::json::text;
use crate::stores::list_reader::place_of;
use crate::{Place, Trouble};

/// The message built from the chunks.
#[derive(Default)]
pub(super) struct Folded {
    pub(super) id: Option<String>,
    pub(super) parts: Vec<Part>,
    /// The chunk at which the SDK stops reading.
    pub(super) trouble: Option<Trouble>,
}

/// A part of the message.
pub(super) struct Part {
    pub(super) place: Place,
    pub(super) value: Value,
    /// The chunks that made it.
    pub(super) chunks: Vec<usize>,
}

/// Folds a list of chunks, up to the one at which the SDK stops.
pub(super) fn fold(chunks: Json<'_, '_>) -> Folded {
    let mut fold = Fold::default();
    for (n, json) in chunks.items().enumerate() {
        let place = place_of(json, format!("/{n}"));
        if let Err(words) = fold.take(n, &place, &json.to_value()) {
            fold.folded.trouble =
                Some(Trouble { place, words: format!("UIMessageStreamError: {words}"), loses: None });
            break;
        }
    }
    fold.folded
}

#[derive(Default)]
struct Fold {
    folded: Folded,
    /// The index of the step's first part.
    step: usize,
    /// Each call's parts, in order.
    calls: BTreeMap<String, Vec<usize>>,
    /// Open texts and thoughts, by kind and id.
    open: BTreeMap<(bool, String), usize>,
}

impl Fold {
    fn take(&mut self, n: usize, place: &Place, chunk: &Value) -> Result<(), &'static str> {
        let kind = text(chunk, "type");
        match kind {
            "start" => self.folded.id = chunk.get("messageId").and_then(Value::as_str).map(str::to_owned),
            "start-step" => {
                self.push(n, place, json!({ "type": "step-start" }));
                self.step = self.folded.parts.len();
            }
            "finish-step" => self.open.clear(),
            "text-start" | "reasoning-start" => {
                let kind = kind.trim_end_matches("-start");
                let key = (kind == "text", text(chunk, "id").to_owned());
                let metadata = chunk.get("providerMetadata");
                let part =
                    self.push(n, place, json!({ "type": kind, "text": "", "providerMetadata": metadata }));
                self.open.insert(key, part);
            }
            "text-delta" | "reasoning-delta" | "text-end" | "reasoning-end" => return self.said(n, chunk),
            "file" => {
                let value =
                    json!({ "type": kind, "mediaType": chunk.get("mediaType"), "url": chunk.get("url") });
                self.push(n, place, value);
            }
            "tool-input-start" => self.call(n, place, chunk, "input-streaming"),
            "tool-input-delta" => {
                let part =
                    self.any(text(chunk, "toolCallId")).ok_or("a delta of a call that did not start")?;
                self.add(n, part, &[]);
            }
            "tool-input-available" => self.call(n, place, chunk, "input-available"),
            "tool-input-error" => self.call(n, place, chunk, "output-error"),
            "tool-approval-request" => self.change(n, chunk, "approval-request")?,
            "tool-approval-response" => self.answer(n, chunk),
            "tool-output-available" | "tool-output-error" | "tool-output-denied" => {
                self.change(n, chunk, kind.trim_start_matches("tool-"))?;
            }
            _ => {}
        }
        Ok(())
    }

    fn push(&mut self, n: usize, place: &Place, value: Value) -> usize {
        self.folded.parts.push(Part { place: place.clone(), value, chunks: vec![n] });
        self.folded.parts.len() - 1
    }

    fn said(&mut self, n: usize, chunk: &Value) -> Result<(), &'static str> {
        let key = (text(chunk, "type").starts_with("text"), text(chunk, "id").to_owned());
        let part = self.open.get(&key).copied().ok_or("a delta of a text that did not start")?;
        self.add(n, part, &["providerMetadata"].map(|key| (key, chunk.get(key))));
        if let Some(Value::String(said)) =
            self.folded.parts.get_mut(part).and_then(|part| part.value.get_mut("text"))
        {
            said.push_str(text(chunk, "delta"));
        }
        if text(chunk, "type").ends_with("-end") {
            self.open.remove(&key);
        }
        Ok(())
    }

    /// `updateToolPart` and `updateDynamicToolPart`: updates the part of the step with that id and the same
    /// kind, or adds a new one. An input error updates either kind.
    fn call(&mut self, n: usize, place: &Place, chunk: &Value, state: &str) {
        let id = text(chunk, "toolCallId");
        let mut is_dynamic = chunk.get("dynamic").and_then(Value::as_bool) == Some(true);
        let parts = self.calls.get(id).map(Vec::as_slice).unwrap_or_default();
        let own = &parts[parts.partition_point(|part| *part < self.step)..];
        let sort = |part: &usize| {
            self.folded.parts.get(*part).is_some_and(|part| text(&part.value, "type") == "dynamic-tool")
        };
        if let Some(first) = own.first()
            && state == "output-error"
        {
            is_dynamic = sort(first);
        }
        let found = own.iter().copied().find(|part| sort(part) == is_dynamic);
        let name = text(chunk, "toolName");
        let kind = if is_dynamic { "dynamic-tool".to_owned() } else { format!("tool-{name}") };
        let part = found.unwrap_or_else(|| {
            let part = self.push(n, place, json!({ "toolCallId": id }));
            self.calls.entry(id.to_owned()).or_default().push(part);
            part
        });
        let (kind, state) = (json!(kind), json!(state));
        let is_raw = state == "output-error" && !is_dynamic;
        let input = chunk.get("input");
        let fields = [
            ("type", Some(&kind)),
            ("toolName", chunk.get("toolName")),
            ("state", Some(&state)),
            ("input", input.filter(|_| !is_raw)),
            ("rawInput", input.filter(|_| is_raw)),
            ("output", None),
            ("errorText", chunk.get("errorText")),
            ("approval", None),
        ];
        self.add(n, part, &fields);
        let kept = ["providerExecuted", "providerMetadata"].map(|key| (key, chunk.get(key)));
        let kept: Vec<_> = kept.into_iter().filter(|(_, value)| value.is_some()).collect();
        self.add(n, part, &kept);
    }

    /// Applies the outcome of a call to its part of the step, or to the call's last part anywhere.
    fn change(&mut self, n: usize, chunk: &Value, kind: &str) -> Result<(), &'static str> {
        let part = self.any(text(chunk, "toolCallId")).ok_or("No tool invocation found for the tool call")?;
        match kind {
            "approval-request" => {
                let approval = json!({ "id": chunk.get("approvalId") });
                self.add(
                    n,
                    part,
                    &[("state", Some(&json!("approval-requested"))), ("approval", Some(&approval))],
                );
            }
            state => {
                let state = json!(state);
                self.add(n, part, &[("state", Some(&state))]);
                if kind != "output-denied" {
                    let fields = ["output", "errorText"].map(|key| (key, chunk.get(key)));
                    self.add(n, part, &fields);
                }
            }
        }
        Ok(())
    }

    /// Applies the user's answer as version 7 does. The answer names the approval request instead of the
    /// call.
    fn answer(&mut self, n: usize, chunk: &Value) {
        let asked = |part: &Part| part.value.pointer("/approval/id") == chunk.get("approvalId");
        let Some(part) = self.folded.parts.iter().rposition(asked) else { return };
        let [approved, reason] = ["approved", "reason"].map(|key| chunk.get(key));
        let mut approval = json!({ "id": chunk.get("approvalId"), "approved": approved });
        if let Some(reason) = reason.filter(|reason| !reason.is_null()) {
            approval["reason"] = reason.clone();
        }
        let state = json!("approval-responded");
        self.add(n, part, &[("state", Some(&state)), ("approval", Some(&approval))]);
    }

    fn any(&self, id: &str) -> Option<usize> {
        let parts = self.calls.get(id)?;
        let own = &parts[parts.partition_point(|part| *part < self.step)..];
        own.first().or(parts.last()).copied()
    }

    /// Sets fields of a part. A field without a value is removed.
    fn add(&mut self, n: usize, part: usize, fields: &[(&str, Option<&Value>)]) {
        let Some(part) = self.folded.parts.get_mut(part) else { return };
        if part.chunks.last() != Some(&n) {
            part.chunks.push(n);
        }
        let Some(own) = part.value.as_object_mut() else { return };
        for (name, value) in fields {
            match value {
                Some(value) => own.insert((*name).to_owned(), (*value).clone()),
                None if *name == "providerMetadata" => None,
                None => own.remove(*name),
            };
        }
    }
}
