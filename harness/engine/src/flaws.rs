//! The planted bugs: each file gets a few of the reference agent's decisions wrong, as a real system did.
//!
//! A canary is the reference agent with one flaw. The suite must catch it with the check that the flaw names.
//! No check, rule or provider knows about flaws. To plant one, add its file and list it here in both lists.

mod approval_forgotten;
mod approval_talked_over;
mod aside_without_tools;
mod asked_kill_loses_siblings;
mod backs_off_silently;
mod bad_arguments_skipped;
mod bad_name_kept;
mod batch_split;
mod branch_followed;
mod broken_request_repeated;
mod calls_reordered;
mod client_call_dangles;
mod client_call_made_up;
mod consent_misrouted;
mod credits_dangle;
mod cut_arguments_repaired;
mod cut_reply_continued;
mod dangling_on_abort;
mod deaf_tool_awaited;
mod deltas_to_latest;
mod denied_keeps_reply;
mod early_error_ignored;
mod empty_arguments_kept;
mod empty_id_kept;
mod empty_reply_kept;
mod empty_result_dropped;
mod empty_summary_taken;
mod empty_text_kept;
mod empty_tool_turn;
mod error_as_output;
mod error_loses_results;
mod error_parked;
mod error_twice;
mod errors_not_lowered;
mod failed_write_denies_results;
mod failed_write_drops_results;
mod failed_write_ends_memory;
mod failed_write_ends_writing;
mod failed_write_reruns;
mod failure_cancelled;
mod failure_ends_turn;
mod final_tool_unanswered;
mod finished_batch_lost;
mod finished_batch_reruns;
mod finished_turn_dropped;
mod first_call_only;
mod foreign_id_kept;
mod full_context_cuts_pair;
mod guardrail_dangles;
mod half_summary_taken;
mod handoff_drops_siblings;
mod handoff_ends_siblings;
mod handoff_unanswered;
mod heals_the_end_alone;
mod hook_splits_batch;
mod hook_stop_dangles;
mod in_flight_dropped;
mod kill_dangles;
mod kill_forgets;
mod kill_loses_results;
mod large_results_kept;
mod last_result_apart;
mod last_result_only;
mod late_result_joins_batch;
mod late_result_revived;
mod late_result_twice;
mod length_dangles;
mod limit_leaves_calls;
mod lone_thought_kept;
mod loop_goes_on;
mod mechanics;
mod memory_doubled;
mod nameless_call_joined;
mod never_ends;
mod new_agent_speaks_early;
mod new_tool_unoffered;
mod no_word_after_results;
mod not_object_kept;
mod note_wanders;
mod old_schema_offered;
mod order_from_ids;
mod order_of_arrival;
mod overflow_cuts_pair;
mod partial_arguments_run;
mod parts_overwritten;
mod pause_ignored;
mod pause_taken_for_end;
mod picture_kept;
mod placeholder_kept;
mod prelude;
mod prompt_before_results;
mod prompt_lost;
mod prompts_doubled;
mod prompts_interleave;
mod provider_ids_kept;
mod provider_thoughts_kept;
mod question_taken_for_done;
mod reasoning_dropped;
mod reasoning_unsealed;
mod refusal_ignored;
mod refusal_retried;
mod refuses_own_history;
mod repair_adds_result;
mod repair_drifts;
mod reply_in_users_role;
mod request_storm;
mod result_surrogate_kept;
mod results_lost;
mod retry_continues_message;
mod retry_merges_steps;
mod retry_prefills;
mod rewind_forgotten;
mod run_denied;
mod running_calls_unsaved;
mod runs_twice;
mod same_id_kept;
mod search_answered;
mod search_dangles;
mod search_replaced;
mod second_batch_dangles;
mod second_handoff_unanswered;
mod second_stop_undoes;
mod server_thread_goes_on;
mod shown_as_failed;
mod siblings_cancelled;
mod signature_dropped;
mod stale_writer;
mod steer_splits_batch;
mod stop_lingers;
mod stop_runs_on;
mod stopped_summary_taken;
mod store_forgets;
mod sub_agent_error_unheard;
mod sub_agent_in_batch;
mod sub_agent_takes_over;
mod success_cancelled;
mod success_denied;
mod success_invented;
mod summary_asked_forever;
mod summary_cuts_arguments;
mod summary_drops_open_calls;
mod summary_flips_role;
mod summary_of_poison;
mod summary_orphans_call;
mod summary_orphans_search;
mod surrogate_kept;
mod text_beside_calls_dropped;
mod text_overtakes_calls;
mod text_splits_reply;
mod texts_doubled;
mod thinking_altered;
mod thinking_dropped;
mod thinking_forgotten;
mod thinking_moved;
mod thinking_switched_blindly;
mod thinking_unsigned;
mod trim_drops_prompt;
mod trim_orphans_result;
mod trim_starts_with_call;
mod trim_starts_with_words;
mod truncation_swallowed;
mod unknown_tool_dangles;
mod users_not_merged;
mod withdrawn_calls_dropped;
mod withdrawn_pairs_dropped;
mod withdrawn_results_dropped;
mod withdrawn_tool_offered;
mod wordless_throw_dropped;

use std::cmp::Ordering;
use std::fmt;

use brickbat_rules::dialect::Dialect;

use crate::agent::decisions::{Decisions, Reference};

/// Every flaw, in the order of the kill table.
static ALL: [&Flaw; 166] = [
    &dangling_on_abort::FLAW,
    &in_flight_dropped::FLAW,
    &early_error_ignored::FLAW,
    &retry_merges_steps::FLAW,
    &denied_keeps_reply::FLAW,
    &error_parked::FLAW,
    &results_lost::FLAW,
    &partial_arguments_run::FLAW,
    &late_result_twice::FLAW,
    &request_storm::FLAW,
    &prompt_lost::FLAW,
    &success_invented::FLAW,
    &runs_twice::FLAW,
    &calls_reordered::FLAW,
    &text_overtakes_calls::FLAW,
    &never_ends::FLAW,
    &truncation_swallowed::FLAW,
    &cut_reply_continued::FLAW,
    &refuses_own_history::FLAW,
    &approval_forgotten::FLAW,
    &refusal_ignored::FLAW,
    &kill_dangles::FLAW,
    &kill_forgets::FLAW,
    &kill_loses_results::FLAW,
    &running_calls_unsaved::FLAW,
    &signature_dropped::FLAW,
    &thinking_dropped::FLAW,
    &thinking_switched_blindly::FLAW,
    &withdrawn_tool_offered::FLAW,
    &old_schema_offered::FLAW,
    &new_tool_unoffered::FLAW,
    &withdrawn_results_dropped::FLAW,
    &withdrawn_calls_dropped::FLAW,
    &withdrawn_pairs_dropped::FLAW,
    &thinking_altered::FLAW,
    &thinking_moved::FLAW,
    &thinking_unsigned::FLAW,
    &error_as_output::FLAW,
    &success_denied::FLAW,
    &success_cancelled::FLAW,
    &failed_write_denies_results::FLAW,
    &failed_write_drops_results::FLAW,
    &failed_write_ends_memory::FLAW,
    &failed_write_ends_writing::FLAW,
    &failed_write_reruns::FLAW,
    &failure_cancelled::FLAW,
    &run_denied::FLAW,
    &repair_drifts::FLAW,
    &note_wanders::FLAW,
    &stop_lingers::FLAW,
    &stop_runs_on::FLAW,
    &shown_as_failed::FLAW,
    &store_forgets::FLAW,
    &pause_ignored::FLAW,
    &refusal_retried::FLAW,
    &unknown_tool_dangles::FLAW,
    &bad_name_kept::FLAW,
    &bad_arguments_skipped::FLAW,
    &cut_arguments_repaired::FLAW,
    &not_object_kept::FLAW,
    &empty_arguments_kept::FLAW,
    &surrogate_kept::FLAW,
    &result_surrogate_kept::FLAW,
    &empty_id_kept::FLAW,
    &same_id_kept::FLAW,
    &foreign_id_kept::FLAW,
    &provider_ids_kept::FLAW,
    &provider_thoughts_kept::FLAW,
    &deltas_to_latest::FLAW,
    &length_dangles::FLAW,
    &empty_tool_turn::FLAW,
    &text_splits_reply::FLAW,
    &empty_text_kept::FLAW,
    &error_loses_results::FLAW,
    &second_batch_dangles::FLAW,
    &siblings_cancelled::FLAW,
    &last_result_only::FLAW,
    &last_result_apart::FLAW,
    &batch_split::FLAW,
    &order_of_arrival::FLAW,
    &error_twice::FLAW,
    &late_result_revived::FLAW,
    &late_result_joins_batch::FLAW,
    &question_taken_for_done::FLAW,
    &retry_continues_message::FLAW,
    &users_not_merged::FLAW,
    &no_word_after_results::FLAW,
    &retry_prefills::FLAW,
    &placeholder_kept::FLAW,
    &empty_reply_kept::FLAW,
    &finished_batch_lost::FLAW,
    &lone_thought_kept::FLAW,
    &thinking_forgotten::FLAW,
    &reasoning_unsealed::FLAW,
    &reasoning_dropped::FLAW,
    &server_thread_goes_on::FLAW,
    &picture_kept::FLAW,
    &deaf_tool_awaited::FLAW,
    &finished_turn_dropped::FLAW,
    &second_stop_undoes::FLAW,
    &empty_result_dropped::FLAW,
    &wordless_throw_dropped::FLAW,
    &limit_leaves_calls::FLAW,
    &final_tool_unanswered::FLAW,
    &handoff_drops_siblings::FLAW,
    &handoff_ends_siblings::FLAW,
    &handoff_unanswered::FLAW,
    &second_handoff_unanswered::FLAW,
    &new_agent_speaks_early::FLAW,
    &client_call_dangles::FLAW,
    &client_call_made_up::FLAW,
    &guardrail_dangles::FLAW,
    &credits_dangle::FLAW,
    &steer_splits_batch::FLAW,
    &hook_splits_batch::FLAW,
    &hook_stop_dangles::FLAW,
    &prompts_interleave::FLAW,
    &approval_talked_over::FLAW,
    &asked_kill_loses_siblings::FLAW,
    &consent_misrouted::FLAW,
    &finished_batch_reruns::FLAW,
    &trim_orphans_result::FLAW,
    &trim_starts_with_call::FLAW,
    &trim_starts_with_words::FLAW,
    &trim_drops_prompt::FLAW,
    &summary_orphans_call::FLAW,
    &full_context_cuts_pair::FLAW,
    &overflow_cuts_pair::FLAW,
    &large_results_kept::FLAW,
    &summary_flips_role::FLAW,
    &summary_cuts_arguments::FLAW,
    &summary_drops_open_calls::FLAW,
    &summary_of_poison::FLAW,
    &search_dangles::FLAW,
    &pause_taken_for_end::FLAW,
    &summary_orphans_search::FLAW,
    &search_answered::FLAW,
    &memory_doubled::FLAW,
    &rewind_forgotten::FLAW,
    &aside_without_tools::FLAW,
    &branch_followed::FLAW,
    &repair_adds_result::FLAW,
    &parts_overwritten::FLAW,
    &order_from_ids::FLAW,
    &errors_not_lowered::FLAW,
    &heals_the_end_alone::FLAW,
    &stale_writer::FLAW,
    &backs_off_silently::FLAW,
    &loop_goes_on::FLAW,
    &broken_request_repeated::FLAW,
    &sub_agent_takes_over::FLAW,
    &sub_agent_error_unheard::FLAW,
    &sub_agent_in_batch::FLAW,
    &first_call_only::FLAW,
    &texts_doubled::FLAW,
    &prompts_doubled::FLAW,
    &failure_ends_turn::FLAW,
    &search_replaced::FLAW,
    &reply_in_users_role::FLAW,
    &text_beside_calls_dropped::FLAW,
    &prompt_before_results::FLAW,
    &nameless_call_joined::FLAW,
    &half_summary_taken::FLAW,
    &empty_summary_taken::FLAW,
    &summary_asked_forever::FLAW,
    &stopped_summary_taken::FLAW,
];

/// A planted bug: its description, and its decisions.
struct Flaw {
    name: &'static str,
    check: &'static str,
    class: Option<&'static str>,
    only_on: Option<(&'static [Dialect], &'static str)>,
    not_on: [(&'static [Dialect], &'static str); 2],
    decisions: fn() -> Box<dyn Decisions>,
}

impl Flaw {
    /// A flaw with this name, which this check must catch.
    const fn new(name: &'static str, check: &'static str) -> Flaw {
        let decisions = || -> Box<dyn Decisions> { Box::new(Reference) };
        Flaw { name, check, class: None, only_on: None, not_on: [(&[], ""); 2], decisions }
    }

    /// Sets the decisions. Some of them are wrong.
    const fn deciding(mut self, decisions: fn() -> Box<dyn Decisions>) -> Flaw {
        self.decisions = decisions;
        self
    }

    /// Sets the failure class that it represents. Without a class, it represents a bug that has never been
    /// reported.
    const fn class(mut self, class: &'static str) -> Flaw {
        self.class = Some(class);
        self
    }

    /// Sets the only dialects in which it can occur, and the reason.
    const fn only_on(mut self, dialects: &'static [Dialect], why: &'static str) -> Flaw {
        self.only_on = Some((dialects, why));
        self
    }

    /// Sets dialects in which it cannot occur, and the reason. A second call adds a second group, and a
    /// third one does not compile.
    const fn not_on(mut self, dialects: &'static [Dialect], why: &'static str) -> Flaw {
        let at = if self.not_on[0].0.is_empty() { 0 } else { 1 };
        assert!(self.not_on[at].0.is_empty(), "there is room for two groups");
        self.not_on[at] = (dialects, why);
        self
    }
}

/// The reference agent with one planted bug.
#[derive(Clone, Copy)]
pub struct Canary(&'static Flaw);

impl Canary {
    /// All canaries, in the order of the kill table.
    pub fn all() -> impl ExactSizeIterator<Item = Canary> {
        ALL.iter().map(|flaw| Canary(flaw))
    }

    /// The canary with this name.
    pub fn from_name(name: &str) -> Option<Canary> {
        Canary::all().find(|canary| canary.name() == name)
    }

    /// The name in tables and options.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The id of the check that must catch it. The checks do not know this.
    pub fn caught_by(self) -> &'static str {
        self.0.check
    }

    /// The failure class that it represents, if it is a reported one.
    pub fn class(self) -> Option<&'static str> {
        self.0.class
    }

    /// The reason why the bug cannot occur in a dialect, if it cannot.
    pub fn senseless_in(self, dialect: Dialect) -> Option<&'static str> {
        let elsewhere = self.0.only_on.filter(|(dialects, _)| !dialects.contains(&dialect));
        let here = self.0.not_on.into_iter().find(|(dialects, _)| dialects.contains(&dialect));
        elsewhere.or(here).map(|(_, why)| why)
    }

    pub(crate) fn decisions(self) -> Box<dyn Decisions> {
        (self.0.decisions)()
    }

    fn place(self) -> usize {
        Canary::all().take_while(|other| other.name() != self.name()).count()
    }
}

impl PartialEq for Canary {
    fn eq(&self, other: &Canary) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Canary {}

impl Ord for Canary {
    fn cmp(&self, other: &Canary) -> Ordering {
        self.place().cmp(&other.place())
    }
}

impl PartialOrd for Canary {
    fn partial_cmp(&self, other: &Canary) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for Canary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
