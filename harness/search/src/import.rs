//! A bricked session as a scenario: its structure, and nothing of what was said.
//!
//! What is kept is an allow-list: who spoke, in which order, which calls a reply had, which of them have results and
//! where those stand, the kinds of the arguments, the sizes of pictures, what is left of signatures, and of texts, ids and
//! names what is odd about their form. Words, names, ids and paths are made anew from numbers. Then everything is taken
//! out without which the provider still refuses for the same reason, and what is odd without need becomes plain.
//!
//! Where the store shows how the thread broke, a second scenario is made of that, if a planted bug breaks it in the same
//! way.

mod cause;
mod minimise;
mod shape;

use std::collections::BTreeMap;

use brickbat_engine::agent::{Agent, Delivery};
use brickbat_engine::flaws::Canary;
use brickbat_engine::simulate::judged;
use brickbat_engine::triage::Signature;
use brickbat_rules::{Dialect, Profile, Rule};
use brickbat_scenario::lower;
use brickbat_scenario::scenario::{Block, Given, Provenance, Scenario, Tool, Turn};
use brickbat_scenario::verdict::{Finding, Verdict as Judged};
use brickbat_sessions::{Judgement, Session, Verdict};
use serde_json::json;
use thiserror::Error;

pub use cause::Sign;
use shape::Shape;

/// A scenario that was made of a session.
#[derive(Debug, Clone)]
pub struct Imported {
    /// The scenario, with the history that it begins with.
    pub scenario: Scenario,
    /// Messages of the session.
    pub n_before: usize,
    /// Messages that are left.
    pub n_after: usize,
    /// Reductions that were tried.
    pub n_tried: usize,
    /// The rule that is broken.
    pub rule: &'static Rule,
    /// The dialect in which it is broken.
    pub dialect: Dialect,
    /// A word for the structure: two sessions with one fault in one form share it.
    pub hash: String,
    /// What the session holds that a given history cannot say, and that the fault does without.
    pub left_out: Vec<&'static str>,
    /// Whether the reference agent survives the scenario. If not, nobody can be measured by it.
    pub is_survived: bool,
    /// How the thread broke.
    pub cause: Cause,
}

/// How a thread broke.
#[derive(Debug, Clone)]
pub enum Cause {
    /// The store does not show it.
    NotShown,
    /// The store shows something, and no scenario of it breaks a planted bug in the same way.
    NotFound(Vec<Sign>),
    /// A scenario of it, which breaks a planted bug and not the reference agent.
    Found(Sign, Box<Scenario>),
}

/// Why a session cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ImportError {
    /// The provider takes its next request.
    #[error("the session is not bricked, so there is no failure to keep")]
    Healthy,
    /// The fault is in something that a given history cannot say.
    #[error("the fault is in what a given history cannot say: {}", .0.join(", "))]
    CannotSay(Vec<&'static str>),
}

/// The id under which imported scenarios are played: that of all found scenarios, on which wire ids depend.
const PLAYED_AS: &str = "found";

/// Makes a scenario of a bricked session.
///
/// # Errors
///
/// The session is not bricked, or not by what a given history can say.
pub fn import(session: &Session, judgement: &Judgement) -> Result<Imported, ImportError> {
    if judgement.verdict != Verdict::Refused {
        return Err(ImportError::Healthy);
    }
    let profile = judgement.profile;
    let has_summary = session.n_compactions > 0;
    let (stored, left_out) = Shape::of(&session.messages, has_summary);
    // A product that gives up by itself names no rule; then it is the one for which a provider refuses what is stored.
    let own = judgement.refusals.first().and_then(|refusal| refusal.rule);
    let Some(rule) = own.or_else(|| stored.refusal(profile)) else {
        return Err(ImportError::CannotSay(match left_out.is_empty() {
            true => vec!["how the product itself gives up"],
            false => left_out,
        }));
    };
    let shows = |shape: &Shape| shape.refusal(profile).is_some_and(|found| found.id == rule.id);
    // What is stored, or, where the product hides more than it sends, what it sends.
    let readings = [(stored, left_out.clone()), Shape::of(&judgement.sent.messages, has_summary)];
    let found = readings.into_iter().find(|(shape, _)| shows(shape));
    let Some((shape, left_out)) = found else {
        return Err(ImportError::CannotSay(match left_out.is_empty() {
            true => vec!["what stands around the conversation in the request, or how the request says it"],
            false => left_out,
        }));
    };
    let (smallest, n_tried) = minimise::minimise(shape, shows);
    let named = smallest.named();
    let mut scenario = scenario(&session.product.to_string(), rule, profile, &named);
    let messages = scenario.given.as_ref().map_or(&[][..], |given| given.messages());
    let (n_before, n_after) = (session.messages.len(), messages.len());
    let hash = brickbat_sessions::report::hashed(&json!(messages).to_string(), rule.id);
    let dialect = profile.dialect;
    scenario.found = cause::shown_by(&scenario, dialect, rule)
        .map(|(canary, finding)| on_canary(canary, &finding, dialect));
    Ok(Imported {
        is_survived: scenario.found.is_some() || is_survived(&scenario, dialect),
        cause: cause(session, judgement, &named, rule),
        scenario,
        n_before,
        n_after,
        n_tried,
        rule,
        dialect,
        hash,
        left_out,
    })
}

/// How the thread broke, as a scenario that a planted bug fails.
fn cause(session: &Session, judgement: &Judgement, shape: &Shape, rule: &'static Rule) -> Cause {
    let signs = cause::signs(session, judgement);
    if signs.is_empty() {
        return Cause::NotShown;
    }
    let dialect = judgement.profile.dialect;
    for (sign, mut proposal) in cause::proposals(&signs, shape, rule) {
        proposal.profile = profile_of(judgement.profile);
        if let Some((canary, finding)) = cause::shown_by(&proposal, dialect, rule) {
            proposal.found = Some(on_canary(canary, &finding, dialect));
            return Cause::Found(sign, Box::new(proposal));
        }
    }
    Cause::NotFound(signs.into_iter().collect())
}

/// What a scenario was found to show on a planted bug.
fn on_canary(canary: Canary, finding: &Finding, dialect: Dialect) -> Provenance {
    let system = format!("canary/{}/simulated", canary.name());
    let mut found = Signature::of(finding).found(&system, dialect, 0);
    found.canary = Some(canary.name().to_owned());
    found
}

/// Whether the reference agent passes a scenario in the simulation.
fn is_survived(scenario: &Scenario, dialect: Dialect) -> bool {
    let Ok(plan) = lower::lower(PLAYED_AS, "", scenario, dialect, 0) else { return false };
    let judgement = judged(&plan, |plan| Agent::of_plan(plan, Delivery::Streamed, None));
    plan.impossible.is_none() && judgement.is_ok_and(|judgement| judgement.verdict == Judged::Pass)
}

/// The name of a profile, if it is not the one by which everybody is judged.
fn profile_of(profile: &Profile) -> Option<String> {
    let is_newest = std::ptr::eq(profile, Profile::newest(profile.dialect));
    (!is_newest).then(|| profile.name.to_owned())
}

fn scenario(product: &str, rule: &Rule, profile: &Profile, shape: &Shape) -> Scenario {
    let tool = |(name, called): (String, Option<&str>)| {
        let tool = match called {
            None => cause::returning(format!("result of {name}")),
            Some(called) => Tool {
                missing: true,
                called: Some(called.to_owned()),
                returns: None,
                ..cause::returning(String::new())
            },
        };
        (name, tool)
    };
    let tools: BTreeMap<String, Tool> = shape.tools().into_iter().map(tool).collect();
    let comment = format!(
        "A stored session ({product}) has a form that its provider refuses ({}). The user goes on, and the thread has to heal.",
        rule.id
    );
    let turn = Turn {
        user: "Go on.".to_owned(),
        process: 1,
        replies: vec![cause::reply(vec![Block::Text("It goes on.".to_owned())])],
        settle: Vec::new(),
        at: Vec::new(),
    };
    let history = shape.history(format!("Made of a stored session ({product}), without any of its words."));
    let given = Given { history: "history.json".to_owned(), content: Some(history) };
    Scenario { given: Some(given), profile: profile_of(profile), ..cause::plain(comment, tools, vec![turn]) }
}
