//! Decides which tool settles next.

use brickbat_scenario::plan::{CallKey, Plan, PlannedCall};

/// The calls of a plan and their progress.
#[derive(Debug)]
pub(super) struct ToolRuns {
    calls: Vec<CallProgress>,
    order: Vec<CallKey>,
    reserved: Vec<CallKey>,
    in_flight: Option<CallKey>,
}

/// The progress of one call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct CallProgress {
    replied: bool,
    /// True if its reply ended normally, so that its tool is expected to start.
    awaited: bool,
    started: bool,
    settled: bool,
    cancelled: bool,
    /// True if the tool must not start: the user has not approved it yet, no system can run it, or another
    /// handoff takes precedence.
    forbidden: bool,
    /// True if it starts a sub-agent, which ends on its own.
    is_sub_agent: bool,
    /// The call that started the sub-agent which makes this call.
    within: Option<CallKey>,
}

/// Conditions, besides the calls themselves, that decide which calls may settle.
#[derive(Debug, Clone, Copy)]
pub(super) struct Now {
    /// Tools that the system runs at once, if known.
    pub(super) width: Option<usize>,
    /// True if the user has stopped the turn.
    pub(super) stopped: bool,
    /// True if nothing else has happened for a while.
    pub(super) forced: bool,
}

impl CallProgress {
    fn is_open(self) -> bool {
        self.started && !self.settled && !self.cancelled
    }
}

impl ToolRuns {
    pub(super) fn new(plan: &Plan, turn: usize, reserved: &[CallKey]) -> ToolRuns {
        let progress = |(key, call): (u32, &PlannedCall)| CallProgress {
            forbidden: call.asks || call.is_invalid() || plan.is_extra_handoff(CallKey(key)),
            is_sub_agent: plan.sub_agent(CallKey(key)).is_some(),
            within: call.within,
            ..CallProgress::default()
        };
        let calls = (0..).zip(&plan.calls).map(progress).collect();
        let mut runs = ToolRuns { calls, order: Vec::new(), reserved: Vec::new(), in_flight: None };
        runs.begin(plan, turn, reserved);
        runs
    }

    pub(super) fn begin(&mut self, plan: &Plan, turn: usize, reserved: &[CallKey]) {
        self.order = plan.turns.get(turn).map(|turn| turn.settle.clone()).unwrap_or_default();
        self.reserved = reserved.to_vec();
    }

    /// Lets the call settle on its own, because no action will settle it.
    pub(super) fn release(&mut self, call: CallKey) {
        self.reserved.retain(|reserved| *reserved != call);
    }

    /// Lets all calls settle on their own, because no action will settle any.
    pub(super) fn release_all(&mut self) {
        self.reserved.clear();
    }

    /// Notes that the user has approved the call: its tool is expected to start.
    pub(super) fn allowed(&mut self, call: CallKey) {
        self.at(call).forbidden = false;
    }

    /// Notes that the tool has started, for the first time or again.
    pub(super) fn started(&mut self, call: CallKey) {
        let progress = self.at(call);
        *progress = CallProgress { started: true, settled: false, cancelled: false, ..*progress };
    }

    pub(super) fn settling(&mut self, call: CallKey) {
        self.in_flight = Some(call);
    }

    pub(super) fn settled(&mut self, call: CallKey) {
        self.at(call).settled = true;
        self.landed(call);
    }

    pub(super) fn cancelled(&mut self, call: CallKey) {
        self.at(call).cancelled = true;
        self.landed(call);
    }

    /// Notes that a run of the call has ended that is not its last one. Its result may have been in flight.
    pub(super) fn old_run_ended(&mut self, call: CallKey) {
        self.landed(call);
    }

    fn landed(&mut self, call: CallKey) {
        if self.in_flight == Some(call) {
            self.in_flight = None;
        }
    }

    /// Notes that the call's reply ended as it should: its tool is expected.
    pub(super) fn reply_complete(&mut self, call: CallKey) {
        self.at(call).replied = true;
        self.at(call).awaited = true;
    }

    /// Notes that the call's reply was cut off: its tool settles only if it has started.
    pub(super) fn reply_cut(&mut self, call: CallKey) {
        self.at(call).replied = true;
    }

    /// Gives up on the result in flight.
    pub(super) fn give_up(&mut self) {
        self.in_flight = None;
    }

    /// Handles the death of the process that ran the tools: none of them will settle, and no result is in
    /// flight.
    pub(super) fn die(&mut self) {
        self.in_flight = None;
        for progress in self.calls.iter_mut().filter(|progress| progress.is_open()) {
            progress.cancelled = true;
        }
    }

    /// True if the reply that makes the call has ended.
    pub(super) fn is_replied(&self, call: CallKey) -> bool {
        self.calls[call.0 as usize].replied
    }

    pub(super) fn has_started(&self, call: CallKey) -> bool {
        self.calls[call.0 as usize].started
    }

    pub(super) fn is_running(&self, call: CallKey) -> bool {
        self.calls[call.0 as usize].is_open()
    }

    /// True if a tool is running that a result can end. A sub-agent ends by its own replies.
    pub(super) fn is_any_running(&self) -> bool {
        self.calls.iter().any(|progress| progress.is_open() && !progress.is_sub_agent)
    }

    pub(super) fn has_settled(&self, call: CallKey) -> bool {
        self.calls[call.0 as usize].settled
    }

    pub(super) fn is_settling(&self) -> bool {
        self.in_flight.is_some()
    }

    pub(super) fn n_started(&self, plan: &Plan, turn: usize) -> u32 {
        self.count(plan, turn, |progress| progress.started)
    }

    pub(super) fn n_settled(&self, plan: &Plan, turn: usize) -> u32 {
        self.count(plan, turn, |progress| progress.settled)
    }

    fn count(&self, plan: &Plan, turn: usize, holds: impl Fn(CallProgress) -> bool) -> u32 {
        let calls = plan.calls.iter().zip(&self.calls);
        // A scenario counts only the calls in its own replies.
        let is_counted = |call: &PlannedCall| call.turn == turn && !call.given && call.within.is_none();
        calls.filter(|(call, progress)| is_counted(call) && holds(**progress)).count() as u32
    }

    /// True if every call that can run now has started: all that were made, or as many as the system runs at
    /// once.
    pub(super) fn is_ready(&self, width: Option<usize>, forced: bool) -> bool {
        let n_open = self.n_open();
        (self.all_started() && !self.awaits_sub_agent())
            || (n_open > 0 && (forced || width.is_some_and(|width| n_open >= width)))
    }

    /// True if tools are running and no expected tool has yet to start.
    pub(super) fn all_started(&self) -> bool {
        let progress = |call: &CallKey| self.calls[call.0 as usize];
        self.n_open() > 0
            && self.order.iter().map(progress).all(|call| call.started || !call.awaited || call.forbidden)
    }

    fn n_open(&self) -> usize {
        let is_open = |call: &&CallKey| {
            let progress = self.calls[call.0 as usize];
            progress.replied && progress.is_open() && !progress.is_sub_agent
        };
        self.order.iter().filter(is_open).count()
    }

    /// True if a sub-agent is about to send a request or to call a tool. That comes first.
    fn awaits_sub_agent(&self) -> bool {
        let progress = |call: &CallKey| self.calls[call.0 as usize];
        let calls_tool = |agent: CallKey| {
            let mut open = self.order.iter().map(progress).filter(|call| call.replied && call.is_open());
            open.any(|call| call.within == Some(agent))
        };
        let runs = |agent: &CallKey| progress(agent).is_sub_agent && progress(agent).is_open();
        self.order.iter().any(|agent| runs(agent) && !calls_tool(*agent))
    }

    /// The call that settles next.
    ///
    /// While the turn runs, calls settle in the turn's order, once their reply has ended and the batch is
    /// ready. After the user's stop only the tools that ignore it settle; if nothing else happens, so do the
    /// remaining ones. Tools from earlier turns that still run, or run again, also settle.
    pub(super) fn next(&self, plan: &Plan, turn: usize, now: Now) -> Option<CallKey> {
        let is_ready = self.is_ready(now.width, now.forced);
        let may_settle = |call: &CallKey| {
            let progress = self.calls[call.0 as usize];
            let planned = &plan.calls[call.0 as usize];
            let is_due = if now.stopped {
                planned.deaf || now.forced
            } else {
                planned.turn < turn
                    || planned.given
                    || (is_ready && progress.replied && self.is_batch_replied(progress))
            };
            let hangs = planned.hangs && planned.turn == turn;
            progress.is_open() && !progress.is_sub_agent && is_due && !hangs && !self.reserved.contains(call)
        };
        let all = (0..plan.calls.len() as u32).map(CallKey);
        let is_old = |call: &brickbat_scenario::plan::PlannedCall| call.turn < turn || call.given;
        let leftovers = all.filter(|call| is_old(&plan.calls[call.0 as usize]));
        self.order.iter().copied().chain(leftovers).find(may_settle)
    }

    /// True if the reply that made the call, or that started the sub-agent making it, has ended.
    fn is_batch_replied(&self, progress: CallProgress) -> bool {
        progress.within.is_none_or(|starter| self.calls[starter.0 as usize].replied)
    }

    fn at(&mut self, call: CallKey) -> &mut CallProgress {
        &mut self.calls[call.0 as usize]
    }
}
