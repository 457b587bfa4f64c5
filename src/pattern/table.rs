//! Hash tables of this room: a hash in a few instructions, with a key that is another one in each process, so that no trace
//! can be made whose keys collide.

use std::collections::HashMap;

/// A table.
pub(super) type Table<K, V> = HashMap<K, V, foldhash::fast::RandomState>;
