//! BUG: When a thread continues with another provider, its calls keep ids that this provider does not accept.
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
