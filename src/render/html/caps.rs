//! Bounds of a page: it stays small whatever the trace.

/// Bytes of a page unless asked otherwise.
pub const DEFAULT_SIZE: usize = 1_000_000;

/// How much a page shows at most.
#[derive(Debug, Clone, Copy)]
pub struct Caps {
    share: f64,
    tries: u32,
}

impl Caps {
    /// Of a page with so many runs.
    pub fn new(runs: usize) -> Caps {
        Caps { share: 1.0 / runs.max(1) as f64, tries: 0 }
    }

    /// Smaller ones if a page of `size` bytes is larger than it should be.
    pub fn smaller(self, size: usize, wanted: usize) -> Option<Caps> {
        let less = (0.9 * wanted as f64 / size as f64).min(0.7);
        (size > wanted && self.tries < 6).then_some(Caps { share: self.share * less, tries: self.tries + 1 })
    }

    /// A number of entries of which `most` are shown on a page of full size, and at least `least`.
    pub fn of(self, most: usize, least: usize) -> usize {
        ((most as f64 * self.share) as usize).clamp(least.min(most), most)
    }
}
