//! Which pattern a record is due in: one hash lookup for any number of open patterns.

use hashbrown::HashTable;

/// Stands for any size.
pub(super) const ANY_SIZE: u64 = u64::MAX;

/// What a pattern waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub stream: u32,
    /// Bytes, or [`ANY_SIZE`].
    pub size: u64,
    pub offset: u64,
}

impl Place {
    #[inline]
    pub fn hash(self) -> u64 {
        mix(
            self.offset ^ 0x9e37_79b9_7f4a_7c15,
            self.size.rotate_left(32) ^ u64::from(self.stream) ^ 0xd6e8_feb8_6659_fd93,
        )
    }
}

/// Both halves of a 128-bit product, folded: regular numbers spread over all bits.
#[inline]
pub(super) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ b.rotate_left(23)) * 0xa076_1d64_78bd_642f_u128;
    let folded = (product >> 64) as u64 ^ product as u64;
    let product = u128::from(folded ^ b) * 0xe703_7ed1_a0b4_28db_u128;
    (product >> 64) as u64 ^ product as u64
}

/// From places to numbers. One place may be due in several.
#[derive(Debug)]
pub(super) struct Due<T> {
    table: HashTable<(Place, T)>,
}

impl<T: Copy + PartialEq> Due<T> {
    pub fn new() -> Due<T> {
        Due { table: HashTable::new() }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    #[inline]
    pub fn find(&self, place: Place) -> Option<T> {
        self.table.find(place.hash(), |(p, _)| *p == place).map(|(_, t)| *t)
    }

    #[inline]
    pub fn insert(&mut self, place: Place, value: T) {
        self.table.insert_unique(place.hash(), (place, value), |(p, _)| p.hash());
    }

    #[inline]
    pub fn remove(&mut self, place: Place, value: T) {
        if let Ok(entry) = self.table.find_entry(place.hash(), |(p, t)| *p == place && *t == value) {
            entry.remove();
        }
    }
}
