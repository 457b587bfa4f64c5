//! The messages of a socket.

use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::pull::{Parcel, Pull, PullOptions};
use crate::error::{Error, Result};
use crate::formats::tail::{self, ClientClocks, Faults, Message};
use crate::online::follow::{Next, Source};

/// Messages taken before predictions are made.
const ROUND: usize = 4096;

/// See the module.
pub struct Socket {
    pull: Pull,
    /// What came while it was waited for.
    came: Option<Parcel>,
    clients: ClientClocks,
    faults: Faults,
    ended: bool,
}

impl Socket {
    /// Opens a socket at the first of the addresses that can be had.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io).
    pub fn bind(addresses: &[SocketAddr], options: &PullOptions) -> Result<Socket> {
        let pull = Pull::bind(addresses, options)?;
        Ok(Socket { pull, came: None, clients: ClientClocks::default(), faults: Faults::default(), ended: false })
    }

    /// Address it listens at.
    pub fn address(&self) -> SocketAddr {
        self.pull.address()
    }
}

impl Source for Socket {
    fn next(&mut self) -> Result<Next> {
        while let Some(parcel) = self.came.take().or_else(|| self.pull.take()) {
            match parcel {
                Parcel::Message(job, body) => match tail::decode(&body, &mut self.clients) {
                    Ok(message) => return Ok(Next::Message(Message { job: job.or(message.job), ..message })),
                    Err(e) => self.faults.add(|| e.to_string()),
                },
                Parcel::Fault(what) => self.faults.add(|| what),
            }
        }
        Ok(if self.ended { Next::End } else { Next::Nothing })
    }

    fn wait(&mut self, longest: Duration, _: &AtomicBool) {
        self.came = self.pull.receive(longest);
    }

    fn end(&mut self) {
        self.ended = true;
    }

    fn round(&self) -> usize {
        ROUND
    }

    fn faults(&self) -> Faults {
        self.faults.clone()
    }

    /// Senders may come or not.
    fn nothing_came(&self, _: &Faults) -> Option<Error> {
        None
    }
}
