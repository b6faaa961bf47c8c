//! BUG: When a thread goes on with another provider, its calls keep ids that this one does not take.
//! maple-proxy: <https://github.com/OpenSecretCloud/maple-proxy/issues/18>

use super::prelude::*;

pub static FLAW: Flaw =
    Flaw::new("provider-ids-kept", "thread-survives", || Box::new(ProviderIdsKept)).class("id-format");

struct ProviderIdsKept;

impl Decisions for ProviderIdsKept {
    fn fits_foreign_ids(&self) -> bool {
        false
    }
}
