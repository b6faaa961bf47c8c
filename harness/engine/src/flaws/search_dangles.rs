//! BUG: A turn that ends between the call of a provider's tool and its result keeps only the call. gsd-pi:
//! <https://github.com/open-gsd/gsd-pi/issues/1330>

use super::prelude::*;

flaw! {
    Flaw::new("search-dangles", "thread-survives").class("server-tool").only_on(SEARCHING, NO_SEARCH);

    fn drops_open_searches(&self) -> bool {
        false
    }
}
