//! A column of values that stays one value for as long as all rows agree.

/// A column of `T`. While every row holds the same value only that value and the count are kept; the first
/// different value turns the column into a plain vector. Traces have many such columns: one rank, one file,
/// no offsets.
#[derive(Debug, Clone, PartialEq)]
pub enum Column<T> {
    /// All rows hold `value`.
    Constant {
        /// The value of every row.
        value: T,
        /// Number of rows.
        len: usize,
    },
    /// One value a row.
    Values(Vec<T>),
}

impl<T: Copy + PartialEq + Default> Default for Column<T> {
    fn default() -> Self {
        Column::Constant { value: T::default(), len: 0 }
    }
}

impl<T: Copy + PartialEq> Column<T> {
    /// `len` rows of `value`.
    pub(crate) fn constant(value: T, len: usize) -> Self {
        Column::Constant { value, len }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Column::Constant { len, .. } => *len,
            Column::Values(v) => v.len(),
        }
    }

    /// True if there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of row `i`.
    ///
    /// # Panics
    /// If `i` is not a row and the column is a vector.
    #[inline]
    pub fn get(&self, i: usize) -> T {
        match self {
            Column::Constant { value, .. } => *value,
            Column::Values(v) => v[i],
        }
    }

    /// Appends a row.
    #[inline]
    pub fn push(&mut self, x: T) {
        match self {
            Column::Values(v) => v.push(x),
            Column::Constant { value, len } if *value == x => *len += 1,
            Column::Constant { .. } => self.push_different(x),
        }
    }

    #[cold]
    fn push_different(&mut self, x: T) {
        if let Column::Constant { value, len } = *self {
            if len == 0 {
                *self = Column::Constant { value: x, len: 1 };
                return;
            }
            let mut v = Vec::with_capacity((len + 1).next_power_of_two().max(16));
            v.resize(len, value);
            v.push(x);
            *self = Column::Values(v);
        }
    }

    /// Appends the rows of `other`.
    pub(crate) fn append(&mut self, other: Column<T>) {
        match other {
            Column::Constant { len: 0, .. } => {}
            o if self.is_empty() => *self = o,
            Column::Constant { value, len } => match self {
                Column::Constant { value: mine, len: n } if *mine == value => *n += len,
                _ => {
                    self.materialise();
                    if let Column::Values(v) = self {
                        v.resize(v.len() + len, value);
                    }
                }
            },
            Column::Values(more) => {
                self.materialise();
                if let Column::Values(v) = self {
                    v.extend_from_slice(&more);
                }
            }
        }
    }

    /// Removes all rows but keeps the memory of a vector.
    pub(crate) fn clear(&mut self) {
        match self {
            Column::Constant { len, .. } => *len = 0,
            Column::Values(v) => v.clear(),
        }
    }

    fn materialise(&mut self) {
        if let Column::Constant { value, len } = *self {
            *self = Column::Values(vec![value; len]);
        }
    }

    /// Replaces every value by `f` of it.
    pub(crate) fn map_in_place(&mut self, mut f: impl FnMut(T) -> T) {
        match self {
            Column::Constant { value, .. } => *value = f(*value),
            Column::Values(v) => v.iter_mut().for_each(|x| *x = f(*x)),
        }
    }

    /// The values in row order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = T> + '_ {
        (0..self.len()).map(|i| self.get(i))
    }

    /// The one value of all rows, if that is how the column is kept.
    pub fn as_constant(&self) -> Option<T> {
        match self {
            Column::Constant { value, .. } => Some(*value),
            Column::Values(_) => None,
        }
    }

    /// Bytes on the heap.
    #[cfg(test)]
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Column::Constant { .. } => 0,
            Column::Values(v) => v.capacity() * size_of::<T>(),
        }
    }
}

impl<T> From<Vec<T>> for Column<T> {
    fn from(v: Vec<T>) -> Self {
        Column::Values(v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn behaves_like_a_vector(a in prop::collection::vec(0u8..3, 0..40), b in prop::collection::vec(0u8..3, 0..40)) {
            let mut x = Column::default();
            a.iter().for_each(|&v| x.push(v));
            let mut y = Column::default();
            b.iter().for_each(|&v| y.push(v));
            x.append(y);
            let all: Vec<u8> = a.iter().chain(&b).copied().collect();
            prop_assert_eq!(x.iter().collect::<Vec<_>>(), all);
        }
    }

    #[test]
    fn equal_rows_cost_nothing() {
        let mut x = Column::default();
        for _ in 0..1_000_000 {
            x.push(7u64);
        }
        assert_eq!((x.len(), x.heap_bytes()), (1_000_000, 0));
    }
}
