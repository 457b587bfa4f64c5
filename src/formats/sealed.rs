//! Only this library reads and writes formats: their traits may gain methods.

use super::{custom, darshan, radar, strace, tmio};

/// A format of this library.
pub trait Sealed {}

macro_rules! seal {
    ($($format:ty),+ $(,)?) => { $(impl Sealed for $format {})+ };
}

seal!(darshan::Darshan, radar::Radar, tmio::Tmio, strace::Strace, custom::Custom);
seal!(
    custom::write::Csv,
    custom::write::JsonLines,
    radar::write::Text,
    tmio::write_json::JsonLines,
    tmio::write_msgpack::MessagePack,
    strace::write::Files,
);
