//! Orders that are given while the provider runs: a stop or a fault, at a point of a future reply.

use std::fmt;

use super::faults::FaultKind;
use super::log::Followed;
use super::stop::{NoPoint, ReplyPoint};
use brickbat_scenario::action::Action;
use brickbat_scenario::plan::{BoundAction, Plan, PlannedAction, Script};
use brickbat_scenario::trace::{Confidence, ExchangeId};

/// The event that is ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ordered {
    /// The reply is held there until it is released, so that the user can stop the agent.
    Stop,
    /// A fault is injected there.
    Fault(FaultKind),
}

impl Ordered {
    /// The name of the event.
    pub fn name(self) -> &'static str {
        match self {
            Ordered::Stop => "stop",
            Ordered::Fault(kind) => kind.name(),
        }
    }

    /// The event with this name.
    pub fn named(word: &str) -> Option<Ordered> {
        let mut all = std::iter::once(Ordered::Stop).chain(FaultKind::ALL.map(Ordered::Fault));
        all.find(|ordered| ordered.name() == word)
    }

    fn action(self, overloaded_status: u16) -> BoundAction {
        match self {
            Ordered::Stop => Action::Abort,
            Ordered::Fault(kind) => kind.action(overloaded_status),
        }
    }
}

/// A stop or a fault at a point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    what: Ordered,
    at: ReplyPoint,
}

/// The status of an order that is only inspected; its value does not matter.
const SOME_STATUS: u16 = 503;

impl Order {
    /// Creates an order.
    ///
    /// # Errors
    ///
    /// Fails if the event cannot happen at that point.
    pub fn new(what: Ordered, at: ReplyPoint) -> Result<Order, NoPoint> {
        let refusal = match at.point.region(at.side) {
            Ok(region) => what.action(SOME_STATUS).spec().refusal(region),
            Err(refusal) => Some(refusal),
        };
        if !at.later().is_zero() {
            return Err(NoPoint::because(format!(
                "{} {at}: only a program that `wrap` runs is ended later",
                what.name()
            )));
        }
        match refusal {
            Some(refusal) => {
                Err(NoPoint::because(format!("{} {at}: {}; {}", what.name(), refusal.message, refusal.hint)))
            }
            None => Ok(Order { what, at }),
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.what.name(), self.at)
    }
}

/// The orders of a provider.
#[derive(Debug, Default)]
pub(super) struct Orders {
    all: Vec<Placed>,
}

/// An order, and the exchange in which it was carried out.
#[derive(Debug)]
struct Placed {
    order: Order,
    /// The number of replies before the order was given.
    n_before: u32,
    exchange: Option<ExchangeId>,
}

/// The outcome of an order.
#[derive(Debug, Clone, serde::Serialize)]
pub struct OrderRecord {
    /// The order, as a phrase.
    pub words: String,
    /// The exchange with the reply, if there was one with this point.
    pub exchange: Option<u32>,
    /// The confidence of its receipt, if it happened.
    pub receipt: Option<Confidence>,
    /// The answer to the next request in the same dialect.
    pub then: Option<Followed>,
}

/// The maximum number of orders. A test has a few.
const MAX_ORDERS: usize = 1000;

impl Orders {
    /// Takes an order and returns its number. Replies are counted from here.
    pub(super) fn place(&mut self, order: Order, n_before: u32) -> Result<usize, NoPoint> {
        let number = n_before.saturating_add(order.at.reply);
        let is_open = |placed: &&Placed| placed.exchange.is_none() && placed.number() == number;
        if let Some(other) = self.all.iter().find(is_open) {
            return Err(NoPoint::because(format!(
                "{order}: `{}` is ordered for the same reply",
                other.order
            )));
        }
        if self.all.len() >= MAX_ORDERS {
            return Err(NoPoint::because(format!("{MAX_ORDERS} orders are enough for one provider")));
        }
        self.all.push(Placed { order, n_before, exchange: None });
        Ok(self.all.len() - 1)
    }

    /// Starts counting replies again.
    pub(super) fn count_anew(&mut self) {
        self.all.iter_mut().for_each(|placed| placed.n_before = 0);
    }

    /// The order for this reply. An order for a point that the reply does not have stays open.
    pub(super) fn due(
        &mut self,
        exchange: ExchangeId,
        number: u32,
        plan: &Plan,
        script: &Script,
        overloaded_status: u16,
    ) -> Option<PlannedAction> {
        let is_due = |placed: &&mut Placed| placed.exchange.is_none() && placed.number() == number;
        let placed = self.all.iter_mut().find(is_due)?;
        let action = placed.order.at.planned(plan, script, placed.order.what.action(overloaded_status))?;
        placed.exchange = Some(exchange);
        Some(action)
    }

    /// The number of the order that is carried out in an exchange.
    pub(super) fn of_exchange(&self, exchange: ExchangeId) -> Option<usize> {
        self.all.iter().position(|placed| placed.exchange == Some(exchange))
    }

    /// The orders with their exchanges, in the order in which they were given.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Order, Option<ExchangeId>)> {
        self.all.iter().map(|placed| (&placed.order, placed.exchange))
    }
}

impl Placed {
    fn number(&self) -> u32 {
        self.n_before.saturating_add(self.order.at.reply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(what: &str, at: &str) -> Result<Order, NoPoint> {
        Order::new(Ordered::named(what).expect(what), at.parse().expect(at))
    }

    #[test]
    fn impossible_orders_are_rejected() {
        for (what, at) in [
            ("stop", "after end a of reply 2"),
            ("reset", "after delta b 2"),
            ("overloaded", "before headers"),
            ("stall", "after text 1"),
        ] {
            assert!(order(what, at).is_ok(), "{what} {at}");
        }
        for (what, at) in [("overloaded", "after end a"), ("error", "before headers")] {
            assert!(order(what, at).is_err(), "{what} {at}");
        }
    }

    #[test]
    fn a_reply_has_one_order_and_counting_starts_with_the_order() {
        let mut orders = Orders::default();
        let of = |at| order("stop", at).expect(at);
        assert_eq!(orders.place(of("after calls of reply 2"), 0), Ok(0));
        assert!(orders.place(of("after end a of reply 1"), 1).is_err());
        assert_eq!(orders.place(of("after end a of reply 2"), 1), Ok(1));
    }
}
