//! Who may ask: requests that name this host, and no page of another one. A browser would otherwise carry requests of any page
//! to a server on the loopback address (DNS rebinding, cross-site requests).

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::answer::Refusal;
use super::{Bounds, Shared};

/// Content of the page may come from this server alone.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Refuses requests from elsewhere; adds headers to every answer.
pub(super) async fn guard(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    // One answer a turn: a connection that sends many requests at once does not keep the others waiting for all of its answers.
    tokio::task::yield_now().await;
    let mut answer = match refusal(request.headers(), &shared.bounds) {
        Some(r) => r.into_response(),
        None => next.run(request).await,
    };
    let headers = answer.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    answer
}

fn refusal(headers: &HeaderMap, bounds: &Bounds) -> Option<Refusal> {
    let text = |name| headers.get(name).and_then(|v: &HeaderValue| v.to_str().ok());
    let Some(host) = text(header::HOST) else {
        return Some(Refusal::new(StatusCode::BAD_REQUEST, "a request without a host"));
    };
    if !is_allowed(host, bounds) {
        let what = "a request for another host; --allow-host names those that are allowed";
        return Some(Refusal::new(StatusCode::FORBIDDEN, what));
    }
    match text(header::ORIGIN) {
        Some(origin) if origin.strip_prefix("http://") != Some(host) => {
            Some(Refusal::new(StatusCode::FORBIDDEN, "a request of a page of another host"))
        }
        _ => None,
    }
}

/// `localhost`, a loopback address, or what the bounds allow, with or without port.
fn is_allowed(host: &str, bounds: &Bounds) -> bool {
    let name = match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or(""),
        None => host.split(':').next().unwrap_or(""),
    };
    let address = name.parse::<std::net::IpAddr>().ok();
    address.is_some_and(|a| bounds.any_address || a.is_loopback())
        || name.eq_ignore_ascii_case("localhost")
        || bounds.hosts.iter().any(|h| name.eq_ignore_ascii_case(h))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_host_and_its_pages() {
        let ask = |pairs: &[(header::HeaderName, &'static str)], any| {
            let headers = pairs.iter().map(|(n, v)| (n.clone(), HeaderValue::from_static(v))).collect();
            let hosts = if any { vec!["node1".to_owned()] } else { Vec::new() };
            refusal(&headers, &Bounds { any_address: any, hosts, ..Bounds::default() }).is_none()
        };
        assert!(ask(&[(header::HOST, "127.0.0.1:8642")], false));
        assert!(ask(&[(header::HOST, "[::1]:8642"), (header::ORIGIN, "http://[::1]:8642")], false));
        assert!(ask(&[(header::HOST, "LocalHost")], false));
        assert!(!ask(&[(header::HOST, "evil.example:8642")], false));
        assert!(!ask(&[(header::HOST, "127.0.0.1.evil.example")], false));
        assert!(ask(&[(header::HOST, "Node1:8642")], true));
        assert!(ask(&[(header::HOST, "10.0.0.7:8642"), (header::ORIGIN, "http://10.0.0.7:8642")], true));
        assert!(!ask(&[(header::HOST, "evil.example:8642"), (header::ORIGIN, "http://evil.example:8642")], true));
        assert!(!ask(&[(header::HOST, "10.0.0.7:8642")], false));
        assert!(!ask(&[(header::HOST, "node1:8642"), (header::ORIGIN, "http://evil.example")], true));
        assert!(!ask(&[(header::HOST, "localhost:1"), (header::ORIGIN, "null")], false));
        assert!(!ask(&[], true));
    }
}
