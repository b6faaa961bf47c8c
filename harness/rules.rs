//! The strict provider's rules.
#![allow(missing_docs)]
use crate::dialect::Dialect;
use serde_json::Value;
pub struct Rule {
    pub id: &'static str,
    pub status: u16,
}
#[derive(PartialEq)]
pub enum Severity {
    Error,
    Warning,
}
pub struct Violation {
    pub rule: &'static Rule,
    pub severity: Severity,
    pub pointer: String,
    pub message: String,
}
impl Violation {
    pub fn status(&self) -> u16 {
        self.rule.status
    }
    pub fn envelope(&self, _r: &str) -> Value {
        Value::Null
    }
}
#[derive(Debug)]
pub struct Profile {
    pub name: &'static str,
    pub dialect: Dialect,
}
static ALL: [Profile; 2] = [
    Profile { name: "anthropic-messages@2026-09", dialect: Dialect::AnthropicMessages },
    Profile { name: "openai-chat@2026-09", dialect: Dialect::OpenaiChat },
];
impl Profile {
    pub fn all() -> &'static [Profile] {
        &ALL
    }
    pub fn newest(d: Dialect) -> &'static Profile {
        ALL.iter().find(|p| p.dialect == d).expect("all")
    }
    pub fn named(n: &str) -> Option<&'static Profile> {
        ALL.iter().find(|p| p.name == n)
    }
}
pub fn validate(_p: &Profile, _b: &[u8]) -> Vec<Violation> {
    Vec::new()
}
pub fn validate_value(_p: &Profile, _b: &Value) -> Vec<Violation> {
    Vec::new()
}
pub fn refusal(v: &[Violation]) -> Option<&Violation> {
    v.iter().find(|v| v.severity == Severity::Error)
}
