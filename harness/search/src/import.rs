//! Imports a bricked session as a scenario: it keeps the structure, and no text.
//!
//! An allow-list defines what is kept: the order of the messages and their roles, the calls in each reply,
//! which of them have results and where, the types of the arguments, the sizes of images, what is left of
//! signatures, and the unusual features of texts, ids and names. Texts, names, ids and paths are replaced by
//! numbered ones. The import then removes everything that is not needed for the same rejection, and
//! normalizes unneeded oddities.
//!
//! If the store reveals how the thread broke, a second scenario is made from that, provided that a planted
//! bug breaks it in the same way.

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
use brickbat_scenario::scenario::{Block, Given, Provenance, Reply, Scenario, Tool, Turn};
use brickbat_scenario::verdict::{Finding, Verdict as Judged};
use brickbat_sessions::{Judgement, Session, Verdict};
use serde_json::json;
use thiserror::Error;

pub use cause::Sign;
use shape::Shape;

/// A scenario that was made from a session.
#[derive(Debug, Clone)]
pub struct Imported {
    /// The scenario, with its given history.
    pub scenario: Scenario,
    /// The number of messages in the session.
    pub n_before: usize,
    /// The number of messages that are left.
    pub n_after: usize,
    /// The number of reductions tried.
    pub n_tried: usize,
    /// The broken rule.
    pub rule: &'static Rule,
    /// The dialect in which it is broken.
    pub dialect: Dialect,
    /// A hash of the structure: two sessions with the same fault and structure have the same hash.
    pub hash: String,
    /// Parts of the session that a given history cannot express, and that the fault does not depend on.
    pub left_out: Vec<&'static str>,
    /// True if the reference agent survives the scenario. If it does not, no system can be judged by the
    /// scenario.
    pub is_survived: bool,
    /// How the thread broke.
    pub cause: Cause,
}

/// How a thread broke.
#[derive(Debug, Clone)]
pub enum Cause {
    /// The store does not reveal it.
    NotShown,
    /// The store contains signs of it, but no scenario made from them breaks a planted bug in the same way.
    NotFound(Vec<Sign>),
    /// A scenario made from a sign, which a planted bug fails and the reference agent passes.
    Found(Sign, Box<Scenario>),
}

/// The reason why a session cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ImportError {
    /// The provider accepts its next request.
    #[error("the session is not bricked, so there is no failure to keep")]
    Healthy,
    /// The fault is in something that a given history cannot express.
    #[error("a given history cannot express the fault: {}", .0.join(", "))]
    CannotSay(Vec<&'static str>),
}

/// The id under which imported scenarios run. It is that of all found scenarios, and wire ids depend on it.
const PLAYED_AS: &str = "found";

/// Makes a scenario from a bricked session.
///
/// # Errors
///
/// The session is not bricked, or the fault is in something that a given history cannot express.
pub fn import(session: &Session, judgement: &Judgement) -> Result<Imported, ImportError> {
    if judgement.verdict != Verdict::Refused {
        return Err(ImportError::Healthy);
    }
    let profile = judgement.profile;
    let has_summary = session.n_compactions > 0;
    let (stored, left_out) = Shape::of(&session.messages, has_summary);
    // A product that gives up by itself names no rule. The rule is then the one for which a provider refuses
    // the stored messages.
    let own = judgement.refusals.first().and_then(|refusal| refusal.rule);
    let Some(rule) = own.or_else(|| stored.refusal(profile)) else {
        return Err(ImportError::CannotSay(match left_out.is_empty() {
            true => vec!["how the product itself gives up"],
            false => left_out,
        }));
    };
    let shows = |shape: &Shape| shape.refusal(profile).is_some_and(|found| found.id == rule.id);
    // The stored messages, or, if the product hides more than it sends, the messages that it sends.
    let sent = std::iter::once_with(|| Shape::of(&judgement.sent.messages, has_summary));
    let mut readings = std::iter::once((stored, left_out.clone())).chain(sent);
    let found = readings.find_map(|(shape, left_out)| {
        let (found, place) = shape.refused(profile)?;
        (found.id == rule.id).then_some((shape, left_out, place))
    });
    let Some((shape, left_out, place)) = found else {
        return Err(ImportError::CannotSay(match left_out.is_empty() {
            true => vec!["parts of the request outside the conversation, or how the request expresses it"],
            false => left_out,
        }));
    };
    let (smallest, n_tried) = minimise::minimise(shape, place, shows);
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

/// The provenance of a scenario that a planted bug fails.
fn on_canary(canary: Canary, finding: &Finding, dialect: Dialect) -> Provenance {
    let system = format!("canary/{}/simulated", canary.name());
    let mut found = Signature::of(finding).found(&system, dialect, 0);
    found.canary = Some(canary.name().to_owned());
    found
}

/// True if the reference agent passes a scenario in the simulation.
fn is_survived(scenario: &Scenario, dialect: Dialect) -> bool {
    let Ok(plan) = lower::lower(PLAYED_AS, "", scenario, dialect, 0) else { return false };
    let judgement = judged(&plan, |plan| Agent::of_plan(plan, Delivery::Streamed, None));
    plan.impossible.is_none() && judgement.is_ok_and(|judgement| judgement.verdict == Judged::Pass)
}

/// The name of a profile, or `None` for the default, which is the newest profile of its dialect.
fn profile_of(profile: &Profile) -> Option<String> {
    let is_newest = std::ptr::eq(profile, Profile::newest(profile.dialect));
    (!is_newest).then(|| profile.name.to_owned())
}

fn scenario(product: &str, rule: &Rule, profile: &Profile, shape: &Shape) -> Scenario {
    let tool = |(name, called): (String, Option<&str>)| {
        let tool = match called {
            None => Tool::returning(format!("result of {name}")),
            Some(called) => Tool { missing: true, called: Some(called.to_owned()), ..Tool::default() },
        };
        (name, tool)
    };
    let tools: BTreeMap<String, Tool> = shape.tools().into_iter().map(tool).collect();
    let comment = format!(
        "A stored session ({product}) has a form that its provider refuses ({}). The user continues, \
         and the thread must recover.",
        rule.id
    );
    let turn = Turn::new("Go on.", vec![Reply::new(vec![Block::Text("It goes on.".to_owned())])]);
    let history = shape.history(format!("Made from a stored session ({product}), without any of its text."));
    let given = Given { history: "history.json".to_owned(), content: Some(history) };
    Scenario { given: Some(given), profile: profile_of(profile), ..cause::plain(comment, tools, vec![turn]) }
}
