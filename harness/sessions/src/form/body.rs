//! A body that is being edited, and the place of a fault in it.

use brickbat_rules::Dialect;
use brickbat_rules::list_of;
use serde_json::{Map, Value};

use super::shapes::shape_of;

/// The body, with the pointer of the violated rule as steps.
pub(super) struct Body<'b> {
    pub(super) value: &'b mut Value,
    pub(super) dialect: Dialect,
    steps: Vec<String>,
}

impl<'b> Body<'b> {
    /// `pointer` is that of a violation, which begins with the name of the list also for a bare list.
    pub(super) fn at(value: &'b mut Value, dialect: Dialect, pointer: &str) -> Body<'b> {
        let steps = pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~"));
        Body { value, dialect, steps: steps.collect() }
    }

    /// The steps of the pointer. In a bare list, the first one names a list that is not there.
    fn own_steps(&self) -> &[String] {
        if self.value.is_array() && !self.steps.is_empty() { &self.steps[1..] } else { &self.steps }
    }

    /// The list of messages.
    pub(super) fn list(&mut self) -> Option<&mut Vec<Value>> {
        match self.value.is_array() {
            true => self.value.as_array_mut(),
            false => self.value.get_mut(list_of(self.dialect))?.as_array_mut(),
        }
    }

    /// The index of the message with the fault.
    pub(super) fn index(&self) -> Option<usize> {
        let own = self.own_steps();
        let own = if self.value.is_array() { own } else { own.get(1..)? };
        own.first()?.parse().ok()
    }

    /// The message with the fault.
    pub(super) fn message(&mut self) -> Option<&mut Value> {
        let index = self.index()?;
        self.list()?.get_mut(index)
    }

    /// The value at the fault, and those around it, the innermost first, as numbers of steps.
    fn depths(&self) -> impl Iterator<Item = usize> + use<> {
        (0..=self.own_steps().len()).rev()
    }

    fn pointer(&self, depth: usize) -> String {
        self.own_steps()[..depth]
            .iter()
            .map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1")))
            .collect()
    }

    /// The value at the fault.
    pub(super) fn spot(&mut self) -> Option<&mut Value> {
        let pointer = self.pointer(self.own_steps().len());
        self.value.pointer_mut(&pointer)
    }

    /// The innermost object at or around the fault for which this holds.
    pub(super) fn around(
        &mut self,
        is_meant: impl Fn(&Map<String, Value>) -> bool,
    ) -> Option<&mut Map<String, Value>> {
        let found = self
            .depths()
            .map(|depth| self.pointer(depth))
            .find(|pointer| self.value.pointer(pointer).and_then(Value::as_object).is_some_and(&is_meant))?;
        self.value.pointer_mut(&found)?.as_object_mut()
    }

    /// Removes the field at the fault from its object.
    pub(super) fn remove_field(&mut self) -> Option<Value> {
        let name = self.own_steps().last()?.clone();
        let pointer = self.pointer(self.own_steps().len() - 1);
        self.value.pointer_mut(&pointer)?.as_object_mut()?.shift_remove(&name)
    }

    /// The list with the innermost item at or around the fault below a message, and the index of that item.
    pub(super) fn item(&mut self) -> Option<(&mut Vec<Value>, usize)> {
        let n_outer = if self.value.is_array() { 1 } else { 2 };
        let depth = self.depths().take_while(|depth| *depth > n_outer).find(|depth| {
            let parent = self.pointer(depth - 1);
            self.value.pointer(&parent).is_some_and(Value::is_array)
        })?;
        let index = self.own_steps()[depth - 1].parse().ok()?;
        let parent = self.pointer(depth - 1);
        Some((self.value.pointer_mut(&parent)?.as_array_mut()?, index))
    }

    /// Takes the innermost item out of its list, and the message too if nothing is left of it.
    pub(super) fn remove_item(&mut self) -> Option<()> {
        let (list, index) = self.item()?;
        if index >= list.len() {
            return None;
        }
        list.remove(index);
        let is_void = list.is_empty();
        if is_void && self.message().is_some_and(|message| is_void_message(message)) {
            let index = self.index()?;
            self.list()?.remove(index);
        }
        Some(())
    }

    /// Takes the message out.
    pub(super) fn remove_message(&mut self) -> Option<Value> {
        let index = self.index()?;
        let list = self.list()?;
        (index < list.len()).then(|| list.remove(index))
    }
}

/// True for an object with one of these fields.
pub(super) fn has(names: &'static [&'static str]) -> impl Fn(&Map<String, Value>) -> bool {
    move |fields| names.iter().any(|name| fields.contains_key(*name))
}

/// True for a message without content and calls.
fn is_void_message(message: &Value) -> bool {
    let is_empty = |name: &str| match message.get(name) {
        None | Some(Value::Null) => true,
        Some(Value::Array(list)) => list.is_empty(),
        Some(Value::String(text)) => text.is_empty(),
        Some(_) => false,
    };
    ["content", "parts", "tool_calls"].iter().all(|name| is_empty(name))
}

/// The content of two messages as one.
pub(super) fn joined(first: Value, second: Value, dialect: Dialect) -> Value {
    let blocks = |content: Value| match content {
        Value::Array(list) => list,
        Value::Null => Vec::new(),
        Value::String(text) if text.is_empty() => Vec::new(),
        Value::String(text) => vec![(shape_of(dialect).text)(&text, false)],
        other => vec![other],
    };
    match (first, second) {
        (Value::Null, other) | (other, Value::Null) => other,
        (Value::String(first), Value::String(second)) => {
            let gap = if first.is_empty() || second.is_empty() { "" } else { "\n\n" };
            Value::String(format!("{first}{gap}{second}"))
        }
        (first, second) => Value::Array(blocks(first).into_iter().chain(blocks(second)).collect()),
    }
}
