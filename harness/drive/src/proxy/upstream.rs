//! The only server that a proxy connects to.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::http::method::InvalidMethod;
use hyper::http::uri::{Authority, Scheme};
use hyper::{HeaderMap, Method, Request, Response, Uri};
use hyper_rustls::{ConfigBuilderExt, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::{ClientConfig, RootCertStore};

use super::names::Names;

/// The time limit for connecting. It takes less than a second to a distant server; a lost packet is sent
/// again after one, two and four seconds.
const CONNECT_TIME: Duration = Duration::from_secs(15);

/// The server behind a proxy.
#[derive(Clone)]
pub struct Upstream {
    scheme: Scheme,
    authority: Authority,
    /// The path prefix for each request, without a trailing slash.
    base: String,
    /// The time for which the server may be silent.
    pub(super) silence: Duration,
    client: Client<HttpsConnector<HttpConnector<Names>>, Full<Bytes>>,
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upstream").field("url", &self.url()).finish_non_exhaustive()
    }
}

/// The reason why a URL leads to no server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoUpstream {
    /// It is not the URL of a server.
    #[error(
        "`{0}` is not the URL of a server\nhint: write it as `https://api.anthropic.com` or `http://127.0.0.1:11434`"
    )]
    NotAUrl(String),
    /// It has a part that the URL of a server does not have: a key in it would be visible to everyone who
    /// lists processes.
    #[error("the URL has {0}\nhint: leave it out; the program's own headers pass through")]
    Extra(&'static str),
    /// The certificates of the machine cannot be read.
    #[error(
        "cannot read the root certificates: {0}\nhint: install them (ca-certificates), or name a file with SSL_CERT_FILE"
    )]
    NoCertificates(String),
}

/// The reason why the server did not answer a request.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoAnswer {
    #[error("the path cannot be forwarded: {0}")]
    Path(#[from] hyper::http::Error),
    #[error(transparent)]
    Method(#[from] InvalidMethod),
    #[error("{}", words_of(.0))]
    Failed(#[from] hyper_util::client::legacy::Error),
    #[error("it did not begin to answer in time")]
    TimedOut,
}

impl Upstream {
    /// The server at a URL, which may be silent for up to `silence`.
    ///
    /// # Errors
    ///
    /// It is not the URL of a server, or the certificates for TLS cannot be read.
    pub fn at(url: &str, silence: Duration) -> Result<Upstream, NoUpstream> {
        let wrong = || NoUpstream::NotAUrl(url.split('@').next_back().unwrap_or_default().to_owned());
        let uri: Uri = url.trim().parse().map_err(|_| wrong())?;
        let (Some(scheme), Some(authority)) = (uri.scheme(), uri.authority()) else { return Err(wrong()) };
        if *scheme != Scheme::HTTP && *scheme != Scheme::HTTPS {
            return Err(wrong());
        }
        if authority.as_str().contains('@') {
            return Err(NoUpstream::Extra("a user name or a password"));
        }
        if uri.query().is_some() || url.contains('#') {
            return Err(NoUpstream::Extra("a query or a fragment"));
        }
        let base = uri.path().trim_end_matches('/').to_owned();
        let client = client(*scheme == Scheme::HTTPS)?;
        Ok(Upstream { scheme: scheme.clone(), authority: authority.clone(), base, silence, client })
    }

    /// The URL, without a slash at its end.
    pub fn url(&self) -> String {
        format!("{}://{}{}", self.scheme, self.authority, self.base)
    }

    /// The host, with its port.
    pub fn host(&self) -> &str {
        self.authority.as_str()
    }

    /// Sends a request to the server. `target` is the path with its query, byte for byte as the client sent
    /// it.
    pub(super) async fn ask(
        &self,
        method: &str,
        target: &str,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Response<Incoming>, NoAnswer> {
        let uri = Uri::builder()
            .scheme(self.scheme.clone())
            .authority(self.authority.clone())
            .path_and_query(format!("{}{target}", self.base))
            .build()?;
        let method = Method::from_bytes(method.as_bytes())?;
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        *request.headers_mut() = headers;
        Ok(self.client.request(request).await?)
    }
}

/// An error with its sources. URLs are left out.
pub(super) fn words_of(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let own = error.to_string();
        if !words.contains(&own) {
            words.push_str(": ");
            words.push_str(&own);
        }
        source = error.source();
    }
    words
}

fn client(with_tls: bool) -> Result<Client<HttpsConnector<HttpConnector<Names>>, Full<Bytes>>, NoUpstream> {
    let mut connector = HttpConnector::new_with_resolver(Names::of_machine());
    connector.enforce_http(false);
    connector.set_connect_timeout(Some(CONNECT_TIME));
    connector.set_nodelay(true);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let failed = |error: &dyn Error| NoUpstream::NoCertificates(error.to_string());
    let config = config.map_err(|error| failed(&error))?;
    let config = match with_tls {
        true => config.with_native_roots().map_err(|error| failed(&error))?,
        // Without TLS, no certificate is ever checked.
        false => config.with_root_certificates(RootCertStore::empty()),
    };
    let https = HttpsConnectorBuilder::new().with_tls_config(config.with_no_client_auth());
    let connector = https.https_or_http().enable_http1().wrap_connector(connector);
    Ok(Client::builder(TokioExecutor::new()).pool_timer(TokioTimer::new()).build(connector))
}
