//! Codes in place of users and names, for fleets that leave the centre.

use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::tables::LogRows;

/// Letters of a code.
const CODE: usize = 12;

/// Replaces names by codes: the first 48 bits of their HMAC-SHA256 with a key, so that who has the key can find them again.
pub struct Hide(Hmac<Sha256>);

impl Hide {
    /// With this key.
    pub fn new(key: &[u8]) -> Hide {
        // HMAC takes keys of any length
        Hide(<Hmac<Sha256> as Mac>::new_from_slice(key).unwrap_or_else(|_| unreachable!("any length is right")))
    }

    /// The code of a name.
    pub fn code(&self, name: &str) -> String {
        let mut mac = self.0.clone();
        mac.update(name.as_bytes());
        let hex: String = mac.finalize().into_bytes().iter().map(|b| format!("{b:02x}")).collect();
        hex[..CODE].to_owned()
    }

    /// A path with codes for its parts. `#`, which stands for digits, is kept as the end of a part.
    fn path(&self, path: &str) -> String {
        let part = |p: &str| match p {
            "" => String::new(),
            p => self.code(p),
        };
        path.split('/').map(part).collect::<Vec<_>>().join("/")
    }

    /// Hides users, paths and commands of a log. Applications, mounts and job ids stay.
    pub(super) fn rows(&self, rows: &mut LogRows) {
        let code = |x: &mut Option<String>| *x = x.as_deref().map(|x| self.code(x));
        let path = |x: &mut Option<String>| *x = x.as_deref().map(|x| self.path(x));
        code(&mut rows.common.user_id);
        code(&mut rows.log.uri);
        rows.log.command = None;
        if let Some(reason) = &mut rows.log.reason {
            // an error or a warning can quote the log
            *reason = reason.split(' ').filter(|w| !w.contains('/')).collect::<Vec<_>>().join(" ");
        }
        rows.files.iter_mut().for_each(|f| path(&mut f.family));
        rows.findings.iter_mut().for_each(|f| path(&mut f.top_file));
        rows.patterns.iter_mut().for_each(|p| path(&mut p.file));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_depend_on_name_and_key_only() {
        // RFC 4231, test case 2
        let hide = Hide::new(b"Jefe");
        assert_eq!(hide.code("what do ya want for nothing?"), "5bdcc146bf60");
        assert_ne!(Hide::new(b"other").code("ann"), hide.code("ann"));
        let (a, b) = (hide.path("/home/ann/x.#.h5"), hide.path("/home/bob/x.#.h5"));
        assert!(!a.contains("ann") && a.rsplit('/').next() == b.rsplit('/').next() && a != b);
    }
}
