//! Tests of the command line and of the public interface of the library, in one binary.

mod compare;
mod compressed;
mod contract;
mod convert;
mod corpus;
mod dfg;
mod documents;
mod doors;
mod faults;
#[cfg(unix)]
mod fleet;
mod folders;
mod golden;
#[cfg(target_os = "linux")]
mod growth;
mod io_time;
mod outline;
mod outputs;
mod packaging;
mod parity;
mod predict;
mod report;
#[cfg(feature = "serve")]
mod serve;
#[cfg(target_os = "linux")]
mod threads;
mod truth;
#[cfg(target_os = "linux")]
mod watch;
