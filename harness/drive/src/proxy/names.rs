//! Looks up the addresses of a host name at the name servers that the machine is configured with.
//!
//! It is written in Rust: `getaddrinfo` loads modules of the C library, which a static binary cannot.

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};

use hickory_resolver::TokioResolver;
use hyper_util::client::legacy::connect::dns::Name;
use tower_service::Service;

/// The resolver. Without name servers, it resolves only the names of this machine.
#[derive(Debug, Clone)]
pub(super) struct Names {
    resolver: Option<TokioResolver>,
}

impl Names {
    /// Uses the configuration of the machine.
    pub(super) fn of_machine() -> Names {
        Names { resolver: TokioResolver::builder_tokio().and_then(|builder| builder.build()).ok() }
    }
}

impl Service<Name> for Names {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let names = self.clone();
        Box::pin(async move {
            let found = names.addresses(name.as_str()).await?;
            // The connector sets the port.
            let addresses: Vec<SocketAddr> =
                found.into_iter().map(|address| SocketAddr::new(address, 0)).collect();
            Ok(addresses.into_iter())
        })
    }
}

impl Names {
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        if is_this_machine(name) {
            return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
        }
        let Some(resolver) = &self.resolver else {
            return Err(io::Error::other("this machine has no name server configured"));
        };
        let found = resolver.lookup_ip(name).await.map_err(io::Error::other)?;
        Ok(found.iter().collect())
    }
}

/// Names of this machine never leave it (RFC 6761, 6.3).
fn is_this_machine(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}
