//! What a program and its descendants read and write, from the counters of the kernel (`/proc/PID/io`).
//!
//! The counters of a process include those of all its threads, also of those that have ended, and those of its children from the moment
//! on at which it has waited for them. So that nothing counts twice, the last known counters of a child that has gone are
//! taken off the ancestor whose counters grew by as much or more in every one of them (`account`). What a child moved between
//! the last reading and its end, and what children moved that came and went between two readings, counts for that ancestor.
//! A process that is not waited for (its parent ignores `SIGCHLD`) takes what it moved after the last reading with it.
//!
//! An open `/proc/PID/io` belongs to its process, not to the number: a number that is used again is another process.
//! New processes are noticed by the number that the kernel gave last (`/proc/loadavg`), so that a reading costs a call for each
//! watched process and one more, however many others run (`tree`).

mod account;
mod files;
mod tree;

pub use account::Moved;
pub use files::Counters;
pub use tree::ProcTree;
