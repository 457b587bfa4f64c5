//! `iophase serve`: the HTTP interface and the live page.

use std::net::{SocketAddr, ToSocketAddrs};

use clap::Args;

use super::output;
use super::shared::{MinPeriodArgs, Verbosity, change_methods};
use crate::Remedy;
use crate::online::ChangeMethod;
use crate::online::{Options, Window};
use crate::serve::{self, Bounds};
use crate::{Error, ErrorKind, Result};

/// Arguments of `serve`.
#[derive(Debug, Args)]
#[command(after_help = NOTES)]
pub struct ServeArgs {
    /// Address to listen on; port 0 takes a free one
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8642")]
    listen: String,
    /// Allow an address that other machines reach, without authentication or encryption
    #[arg(long)]
    allow_remote: bool,
    /// With --allow-remote: further name by which requests may call this machine, beside its addresses and host name
    #[arg(long, value_name = "NAME", requires = "allow_remote")]
    allow_host: Vec<String>,
    /// Data to use: change (since the last change), none (no window: all data), last-K (periods), fixed:60s, fixed:4GiB
    #[arg(short, long, value_name = "WINDOW", default_value_t = Window::Change)]
    window: Window,
    /// Detector of changes of the period
    #[arg(long, value_name = "METHOD", default_value_t = ChangeMethod::Bayesian, value_parser = change_methods())]
    change: ChangeMethod,
    /// Periods
    #[command(flatten)]
    periods: MinPeriodArgs,
    /// Longest body of a request, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 20, value_parser = clap::value_parser!(u32).range(1..))]
    max_body: u32,
    /// Largest number of jobs; beyond it a new job replaces the one that has been silent longest
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..))]
    max_jobs: u32,
    /// Messages
    #[command(flatten)]
    verbosity: Verbosity,
}

const NOTES: &str = "POST a trace to /api/analyze, or the blocks of a running job (records, TMIO, maps with b, ts, te) to \
/api/jobs/NAME/blocks; the answers are those of analyze and predict. The page at / shows the jobs live. Ends with ctrl-c.";

/// Names that requests may use: those given, the one to listen on, and the host name, with and without its domain.
fn hosts(a: &ServeArgs) -> Vec<String> {
    let mut all = a.allow_host.clone();
    all.extend(a.listen.rsplit_once(':').map(|(host, _)| host.to_owned()));
    if let Ok(name) = std::fs::read_to_string("/proc/sys/kernel/hostname") {
        let name = name.trim();
        all.push(name.to_owned());
        all.extend(name.split_once('.').map(|(short, _)| short.to_owned()));
    }
    all.retain(|name| !name.is_empty());
    all
}

/// Runs the command until it is interrupted.
///
/// # Errors
/// [`ErrorKind::Usage`] for an address that cannot be listened on.
pub(super) fn run(a: &ServeArgs) -> Result<()> {
    let wrong = |what: String| {
        Error::new(ErrorKind::Usage, format!("{}: {what}", a.listen)).expected("HOST:PORT, such as 127.0.0.1:8642")
    };
    let addresses: Vec<SocketAddr> = a.listen.to_socket_addrs().map_err(|e| wrong(e.to_string()))?.collect();
    let remote = addresses.iter().any(|a| !a.ip().is_loopback());
    if remote && !a.allow_remote {
        return Err(wrong("not an address of this machine; there is no password and no encryption".into())
            .remedy(Remedy::UseLoopback));
    }
    let options = Options::default().window(a.window).change(a.change).min_period_s(a.periods.shortest_s());
    let bounds = Bounds {
        body_bytes: a.max_body as usize,
        jobs: a.max_jobs as usize,
        any_address: a.allow_remote,
        hosts: if a.allow_remote { hosts(a) } else { Vec::new() },
        ..Bounds::default()
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Error::new(ErrorKind::Io, e.to_string()))?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(&addresses[..]).await.map_err(|e| wrong(e.to_string()))?;
        if a.verbosity.quiet == 0
            && let Ok(address) = listener.local_addr()
        {
            output::message(&format!("listening on http://{address}/"));
        }
        let interrupted = async {
            // Without signals there is no end but that of the process.
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = serve::serve(listener, options, bounds) => {}
            () = interrupted => {}
        }
        Ok(())
    })
}
