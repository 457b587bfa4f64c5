//! How much of the past a prediction rests on.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind};

/// See the module.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Window {
    /// All data, as far as the bounded profile reaches.
    None,
    /// The last k periods, once k predictions in a row agreed on the period (the frequency hits of FTIO).
    LastPeriods(u32),
    /// The last seconds.
    Seconds(f64),
    /// The last bytes.
    Bytes(f64),
    /// All since the last change.
    #[default]
    Change,
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Window::None => f.write_str("none"),
            Window::LastPeriods(k) => write!(f, "last-{k}"),
            Window::Seconds(s) => write!(f, "fixed:{s}s"),
            Window::Bytes(b) => write!(f, "fixed:{b}"),
            Window::Change => f.write_str("change"),
        }
    }
}

const FORMS: &str = "none, last-K, fixed:SECONDSs, fixed:BYTES (with kB, MB, GB, TB or KiB, MiB, GiB, TiB), or change";

impl FromStr for Window {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::new(ErrorKind::Usage, format!("invalid window `{text}`")).expected(FORMS);
        let positive = |x: f64| if x > 0.0 && x.is_finite() { Ok(x) } else { Err(wrong()) };
        match text {
            "none" => return Ok(Window::None),
            "change" => return Ok(Window::Change),
            _ => {}
        }
        if let Some(k) = text.strip_prefix("last-") {
            // Fewer periods than three are no evidence of one.
            return k.parse().ok().filter(|k| (3..=1_000_000).contains(k)).map(Window::LastPeriods).ok_or_else(wrong);
        }
        let fixed = text.strip_prefix("fixed:").ok_or_else(wrong)?;
        const UNITS: [(&str, f64); 9] = [
            ("KiB", 1024.0),
            ("MiB", 1_048_576.0),
            ("GiB", 1_073_741_824.0),
            ("TiB", 1_099_511_627_776.0),
            ("kB", 1e3),
            ("MB", 1e6),
            ("GB", 1e9),
            ("TB", 1e12),
            ("B", 1.0),
        ];
        if let Some((number, factor)) = UNITS.iter().find_map(|(u, f)| Some((fixed.strip_suffix(u)?, f))) {
            return positive(number.trim().parse::<f64>().map_err(|_| wrong())? * factor).map(Window::Bytes);
        }
        if let Some(seconds) = fixed.strip_suffix('s') {
            return positive(seconds.parse().map_err(|_| wrong())?).map(Window::Seconds);
        }
        positive(fixed.parse().map_err(|_| wrong())?).map(Window::Bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        for (text, window) in [
            ("none", Window::None),
            ("change", Window::Change),
            ("last-5", Window::LastPeriods(5)),
            ("fixed:90s", Window::Seconds(90.0)),
            ("fixed:1.5s", Window::Seconds(1.5)),
            ("fixed:4096", Window::Bytes(4096.0)),
            ("fixed:2GiB", Window::Bytes(2_147_483_648.0)),
            ("fixed:10kB", Window::Bytes(1e4)),
        ] {
            assert_eq!(text.parse::<Window>().unwrap(), window, "{text}");
            assert_eq!(window.to_string().parse::<Window>().unwrap(), window);
        }
        for text in ["", "last-2", "last-k", "fixed:", "fixed:-1s", "fixed:0", "fixed:infs", "fixed:nan", "sliding"] {
            assert_eq!(text.parse::<Window>().unwrap_err().kind(), ErrorKind::Usage, "{text}");
        }
    }
}
