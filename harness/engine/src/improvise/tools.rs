//! Chooses the tools that the model calls.
//!
//! The program really runs its tools. So the model prefers tools with names that suggest read-only access. It
//! calls a tool that writes or executes only if a request offers no other tool.

use brickbat_scenario::random::Random;
use brickbat_scenario::wire::offer::CallableTool;
use brickbat_scenario::wire::{Offer, ToolChoice};

/// The maximum number of calls in one reply.
pub(super) const MAX_CALLS: usize = 3;

/// The fewest calls in one reply, if several are allowed.
const MIN_CALLS: u64 = 2;

/// The tools to call, in order. A tool may be called twice: that is also a parallel batch.
pub(super) fn called<'t, 'a>(offer: &Offer<'t, 'a>, random: &mut Random) -> Vec<CallableTool<'t, 'a>> {
    let forced = forced(offer);
    if !forced.is_empty() || offer.choice == ToolChoice::Never {
        return forced;
    }
    let working: Vec<_> = offer.tools.iter().filter(|tool| !is_closing(&tool.name)).collect();
    let tools = if working.is_empty() { offer.tools.iter().collect() } else { working };
    let Some(mildest) = tools.iter().map(|tool| Effect::of(&tool.name)).min() else {
        return Vec::new();
    };
    let mild: Vec<_> = tools.into_iter().filter(|tool| Effect::of(&tool.name) == mildest).collect();
    let n_calls = if offer.parallel { MIN_CALLS + random.below(MAX_CALLS as u64 - MIN_CALLS + 1) } else { 1 };
    (0..n_calls).filter_map(|_| random.pick(&mild).map(|tool| (*tool).clone())).collect()
}

/// The tool that a request requires; programs use this to get structured answers.
pub(super) fn forced<'t, 'a>(offer: &Offer<'t, 'a>) -> Vec<CallableTool<'t, 'a>> {
    let wanted = match &offer.choice {
        ToolChoice::Only(name) => offer.tools.iter().find(|tool| tool.name == *name),
        ToolChoice::Any => {
            offer.tools.iter().min_by_key(|tool| (is_closing(&tool.name), Effect::of(&tool.name)))
        }
        ToolChoice::Free | ToolChoice::Never => None,
    };
    wanted.into_iter().cloned().collect()
}

/// The tool that ends a turn of the program, if the request offers one. Without such a call, the program would ask
/// the model again and again. A request that forbids calls gets none, and one that requires a tool gets that tool.
pub(super) fn closing<'t, 'a>(offer: &Offer<'t, 'a>) -> Vec<CallableTool<'t, 'a>> {
    match offer.choice {
        ToolChoice::Only(_) | ToolChoice::Never => forced(offer),
        ToolChoice::Free | ToolChoice::Any => match offer.tools.iter().find(|tool| is_closing(&tool.name)) {
            Some(tool) => vec![tool.clone()],
            None => forced(offer),
        },
    }
}

/// The names of tools that end a turn of an agent, as words in snake case: smolagents and LangChain call
/// `final_answer`, OpenHands and BeeAI `finish`, Cline and Roo Code `attempt_completion`, gptme `complete`.
const CLOSING: [&str; 10] = [
    "final_answer",
    "final_result",
    "finish",
    "finish_task",
    "attempt_completion",
    "complete",
    "complete_task",
    "task_complete",
    "submit",
    "submit_answer",
];

/// True if a program ends its turn by a call of this tool.
pub(crate) fn is_closing(name: &str) -> bool {
    CLOSING.contains(&words(name).join("_").as_str())
}

/// The effect of a tool, judged by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Effect {
    Looks,
    Unknown,
    Asks,
    Acts,
}

/// Words in the names of tools that only read.
const LOOKING: &str = "read view get list ls glob grep search find lookup look show cat query status check count \
                       describe weather time";

/// Words in the names of tools that ask the user, start other agents or end the work.
const ASKING: &str = "ask question task agent plan mode attempt complete completion finish exit done todo";

/// Words in the names of tools that change something, execute something or access the network.
const ACTING: &str = "write edit create update delete remove move rename patch apply replace insert bash shell exec \
                      execute run command terminal kill send post push commit install deploy fetch web browser http \
                      save upload download notebook git process";

impl Effect {
    fn of(name: &str) -> Effect {
        let words = words(name);
        let has = |known: &str| known.split_whitespace().any(|known| words.iter().any(|word| word == known));
        match () {
            () if has(ACTING) => Effect::Acts,
            () if has(ASKING) => Effect::Asks,
            () if has(LOOKING) => Effect::Looks,
            () => Effect::Unknown,
        }
    }
}

/// The words of a name in snake case, kebab case or camel case, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || (letter.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = letter.is_lowercase();
        if let (Some(word), true) = (words.last_mut(), letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_reveal_the_effect_of_a_tool() {
        for (name, effect) in [
            ("read_file", Effect::Looks),
            ("Glob", Effect::Looks),
            ("mcp__files__listFolder", Effect::Looks),
            ("order", Effect::Unknown),
            ("AskUserQuestion", Effect::Asks),
            ("TodoRead", Effect::Asks),
            ("Bash", Effect::Acts),
            ("run_shell_command", Effect::Acts),
            ("WebFetch", Effect::Acts),
            ("NotebookEdit", Effect::Acts),
        ] {
            assert_eq!(Effect::of(name), effect, "{name}");
        }
        assert_eq!(words("getHTTPStatus"), ["get", "httpstatus"]);
    }
}
