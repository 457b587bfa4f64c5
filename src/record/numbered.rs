//! Values by the number of a rank or of a file.

use std::collections::HashMap;

use foldhash::fast::FixedState;

/// Numbers below this have a place each, so that no hash is taken; there are seldom more ranks.
const NEAR: usize = 1 << 17;

/// A value for each of some numbers.
#[derive(Debug)]
pub(crate) struct Numbered<T> {
    near: Vec<Option<T>>,
    far: HashMap<u32, T, FixedState>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Numbered { near: Vec::new(), far: HashMap::default() }
    }
}

impl<T> Numbered<T> {
    /// The value of a number, `new` if it has none yet.
    #[inline]
    pub fn get_or(&mut self, number: u32, new: T) -> &mut T {
        let i = number as usize;
        if i >= NEAR {
            return self.far.entry(number).or_insert(new);
        }
        if i >= self.near.len() {
            self.near.resize_with(i + 1, || None);
        }
        self.near[i].get_or_insert(new)
    }

    /// The value of a number, if it has one.
    #[inline]
    pub fn get(&self, number: u32) -> Option<&T> {
        match number as usize {
            i if i < NEAR => self.near.get(i)?.as_ref(),
            _ => self.far.get(&number),
        }
    }

    /// All values, in no order.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.near.iter().flatten().chain(self.far.values())
    }
}

impl<T> IntoIterator for Numbered<T> {
    type Item = (u32, T);
    type IntoIter = std::vec::IntoIter<(u32, T)>;

    /// Numbers and values, in the order of the numbers.
    fn into_iter(self) -> Self::IntoIter {
        let mut far: Vec<(u32, T)> = self.far.into_iter().collect();
        far.sort_unstable_by_key(|x| x.0);
        let near = self.near.into_iter().zip(0u32..).filter_map(|(value, number)| Some((number, value?)));
        near.chain(far).collect::<Vec<_>>().into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_in_order_wherever_they_are_kept() {
        let mut sums: Numbered<u64> = Numbered::default();
        for number in [u32::MAX, 7, NEAR as u32, 0, 7, u32::MAX, NEAR as u32 - 1] {
            *sums.get_or(number, 0) += 1;
        }
        assert_eq!(sums.values().sum::<u64>(), 7);
        let all: Vec<(u32, u64)> = sums.into_iter().collect();
        assert_eq!(all, [(0, 1), (7, 2), (NEAR as u32 - 1, 1), (NEAR as u32, 1), (u32::MAX, 2)]);
    }
}
