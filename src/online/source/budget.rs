//! Bytes that all senders of a socket may have at one time.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

/// Bytes that are free, and those that wait for some.
#[derive(Debug, Clone)]
pub(super) struct Budget(Arc<(Mutex<u64>, Condvar)>);

/// What one message has of a budget, until it is dropped.
#[derive(Debug, Default)]
pub(super) struct Share {
    of: Option<Budget>,
    bytes: u64,
}

impl Budget {
    pub(super) fn new(bytes: u64) -> Budget {
        Budget(Arc::new((Mutex::new(bytes), Condvar::new())))
    }
}

impl Share {
    /// Nothing yet of a budget.
    pub(super) fn none(budget: &Budget) -> Share {
        Share { of: Some(budget.clone()), bytes: 0 }
    }

    /// Takes more, waited for until `until`; false if there was not enough.
    pub(super) fn take(&mut self, bytes: u64, until: Instant) -> bool {
        let Some(Budget(shared)) = &self.of else { return false };
        let (free, freed) = &**shared;
        let mut free = free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free < bytes {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            free = freed.wait_timeout(free, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        *free -= bytes;
        self.bytes += bytes;
        true
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if let Some(Budget(shared)) = &self.of {
            *shared.0.lock().unwrap_or_else(PoisonError::into_inner) += self.bytes;
            shared.1.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn a_share_waits_for_what_others_give_back() {
        let budget = Budget::new(10);
        let (mut a, mut b) = (Share::none(&budget), Share::none(&budget));
        let now = Instant::now();
        assert!(a.take(6, now) && a.take(2, now) && !b.take(3, now) && b.take(2, now));
        thread::scope(|s| {
            let waits = s.spawn(|| Share::none(&budget).take(9, Instant::now() + Duration::from_secs(60)));
            drop((a, b));
            assert!(waits.join().unwrap());
        });
        assert!(Share::none(&budget).take(10, now));
        assert!(!Share::default().take(0, now));
    }
}
