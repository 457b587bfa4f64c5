//! Thresholds that decide what a comparison reports.
//!
//! The section `[compare]` of a configuration file replaces them.

use std::collections::BTreeMap;

use crate::error::{Error, ErrorKind, Result};
use crate::thresholds::thresholds;

thresholds! {
    /// Thresholds of a comparison.
    "compare":

    /// Largest p value, after Holm, of a change that is reported.
    p: f64 = 0.01;
    /// Smallest change of bursts and of I/O time that is reported, as a share: |ln(after / before)| > ln(1 + share).
    time: f64 = 0.05;
    /// Change of I/O time from which one run on each side is enough to call one faster: more than runs of one job mostly differ by.
    single: f64 = 0.2;
    /// Smallest change of bytes and calls that is reported, as a share of them.
    volume: f64 = 0.01;
    /// Change of bytes from which the runs do different work.
    work: f64 = 0.05;
    /// Share of file families without a partner from which the runs do different work.
    families: f64 = 0.2;
    /// Standard deviations by which two periods differ.
    period_z: f64 = 3.0;
    /// Smallest change of a period that is reported, as a share.
    period: f64 = 0.01;
    /// Smallest earth mover's distance of request sizes that is reported, in powers of two.
    sizes: f64 = 0.1;
    /// Smallest change of the share of requests in order that is reported.
    order: f64 = 0.05;
    /// A change without an interval is reported from this share of the run on; so is the cost of a reason.
    run: f64 = 0.01;
}

impl Thresholds {
    /// The thresholds, with those of a table of names and numbers in place of the built-in ones.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] for a name that does not exist, or a number below 0.
    pub(super) fn with(table: &BTreeMap<String, f64>) -> Result<Thresholds> {
        #[cfg(feature = "sensitivity")]
        let mut t: Thresholds = *LIMITS;
        #[cfg(not(feature = "sensitivity"))]
        let mut t: Thresholds = LIMITS;
        for (name, &value) in table {
            let all = [
                ("p", &mut t.p),
                ("time", &mut t.time),
                ("single", &mut t.single),
                ("volume", &mut t.volume),
                ("work", &mut t.work),
                ("families", &mut t.families),
                ("period_z", &mut t.period_z),
                ("period", &mut t.period),
                ("sizes", &mut t.sizes),
                ("order", &mut t.order),
                ("run", &mut t.run),
            ];
            let names = all.each_ref().map(|x| x.0).join(", ");
            let Some((_, field)) = all.into_iter().find(|x| x.0 == name) else {
                return Err(Error::new(ErrorKind::Usage, format!("compare has no threshold {name}")).expected(names));
            };
            if !(value.is_finite() && value >= 0.0) {
                return Err(
                    Error::new(ErrorKind::Usage, format!("compare: {name} = {value}")).expected("a number from 0")
                );
            }
            *field = value;
        }
        Ok(t)
    }
}
