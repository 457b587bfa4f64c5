//! Fixed-width numbers at fixed places, in the byte order of the log.

/// Byte order of every number in a log except the version text and the compression byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl ByteOrder {
    /// `little` or `big`.
    pub fn name(self) -> &'static str {
        match self {
            ByteOrder::Little => "little",
            ByteOrder::Big => "big",
        }
    }
}

/// The bytes of a header, a record or a segment. The methods take the place of a number in bytes; asking past the end is
/// a mistake of the caller, who has the length from the layout.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    pub bytes: &'a [u8],
    pub order: ByteOrder,
}

impl Fields<'_> {
    #[inline]
    fn array<const N: usize>(self, at: usize) -> [u8; N] {
        let mut a = [0; N];
        a.copy_from_slice(&self.bytes[at..at + N]);
        a
    }

    #[inline]
    pub fn u32(self, at: usize) -> u32 {
        match self.order {
            ByteOrder::Little => u32::from_le_bytes(self.array(at)),
            ByteOrder::Big => u32::from_be_bytes(self.array(at)),
        }
    }

    #[inline]
    pub fn u64(self, at: usize) -> u64 {
        match self.order {
            ByteOrder::Little => u64::from_le_bytes(self.array(at)),
            ByteOrder::Big => u64::from_be_bytes(self.array(at)),
        }
    }

    #[inline]
    pub fn i64(self, at: usize) -> i64 {
        self.u64(at).cast_signed()
    }

    #[inline]
    pub fn f64(self, at: usize) -> f64 {
        f64::from_bits(self.u64(at))
    }
}

/// The text before the first NUL, or all of it.
pub(super) fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|&b| b == 0).next().unwrap_or(bytes)
}
