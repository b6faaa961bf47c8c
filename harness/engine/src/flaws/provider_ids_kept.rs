//! BUG: When a thread continues with another provider, its calls keep ids that this provider does not accept.
//! maple-proxy: <https://github.com/OpenSecretCloud/maple-proxy/issues/18>

use super::prelude::*;

flaw! {
    Flaw::new("provider-ids-kept", "thread-survives").class("id-format");

    fn fits_foreign_ids(&self) -> bool {
        false
    }
}
