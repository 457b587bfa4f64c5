//! Where the data come from: files that grow, and sockets.

mod file;
mod folder;
pub mod peer;
#[cfg(target_os = "linux")]
mod proc;
mod pull;
mod push;
pub(crate) mod room;
mod socket;
mod stream;

pub use file::{GrowingFile, Grown, Mark};
pub use folder::{GrowingFolder, LeftOut};
#[cfg(target_os = "linux")]
pub use proc::{Counters, Moved, ProcTree};
pub use pull::{Parcel, Pull, PullOptions};
pub use push::Push;
pub use socket::Socket;
pub use stream::Stream;

use std::net::{SocketAddr, ToSocketAddrs};

use crate::error::{Error, ErrorKind, Result};
use crate::remedy::Remedy;

/// The socket addresses of `zmq://host:port` (or `tcp://host:port`).
///
/// # Errors
/// [`ErrorKind::Usage`] if it is none, or if the host is not this machine and `allow_remote` is not set.
pub fn endpoint(address: &str, allow_remote: bool) -> Result<Vec<SocketAddr>> {
    let wrong =
        |what: String| Error::new(ErrorKind::Usage, what).expected("zmq://HOST:PORT, such as zmq://127.0.0.1:5555");
    let host = address.strip_prefix("zmq://").or_else(|| address.strip_prefix("tcp://"));
    let host = host.ok_or_else(|| wrong(format!("`{address}` is not a socket address")))?;
    let host = host.replace("*:", "0.0.0.0:");
    let found = host.to_socket_addrs().map_err(|e| wrong(format!("`{address}`: {e}")))?;
    let found: Vec<SocketAddr> = found.collect();
    if found.is_empty() {
        return Err(wrong(format!("`{address}` names no address")));
    }
    if !allow_remote && found.iter().any(|a| !a.ip().is_loopback()) {
        return Err(Error::new(
            ErrorKind::Usage,
            format!("`{address}` is not this machine; the protocol knows neither passwords nor encryption"),
        )
        .remedy(Remedy::UseLoopback));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_unless_told_otherwise() {
        assert_eq!(endpoint("zmq://127.0.0.1:5555", false).unwrap(), ["127.0.0.1:5555".parse().unwrap()]);
        assert_eq!(endpoint("tcp://[::1]:80", false).unwrap(), ["[::1]:80".parse().unwrap()]);
        for a in ["zmq://0.0.0.0:5555", "zmq://*:5555", "zmq://192.0.2.1:1"] {
            assert_eq!(endpoint(a, false).unwrap_err().kind(), ErrorKind::Usage);
            assert!(endpoint(a, true).is_ok(), "{a}");
        }
        for a in ["127.0.0.1:5555", "zmq://", "zmq://127.0.0.1", "zmq://127.0.0.1:port"] {
            assert_eq!(endpoint(a, true).unwrap_err().kind(), ErrorKind::Usage, "{a}");
        }
    }
}
