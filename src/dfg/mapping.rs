//! The partial mapping of calls to activities.

use std::str::FromStr;

use super::case::CaseId;
use super::groups::Glob;
use super::template::Template;
use crate::error::{Error, ErrorKind};
use crate::record::is_system_path;
use crate::signal::NamePattern;

/// The start of paths that a short name stands for: `/p/scratch/user=$SCRATCH`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alias {
    path: String,
    name: String,
}

impl FromStr for Alias {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.split_once('=') {
            Some((path, name)) if !path.is_empty() && !name.is_empty() => {
                let path = if path.len() > 1 { path.trim_end_matches('/') } else { path };
                Ok(Alias { path: path.to_owned(), name: name.to_owned() })
            }
            _ => Err(Error::new(ErrorKind::Usage, format!("`{text}` is not an alias")).expected("PATH=NAME")),
        }
    }
}

impl Alias {
    /// The rest of a path after that of the alias, if it is this path or one below it.
    fn rest<'p>(&self, path: &'p str) -> Option<&'p str> {
        path.strip_prefix(&*self.path).filter(|r| r.is_empty() || r.starts_with('/'))
    }
}

/// Gives a call its activity, or none: then it is not in the graph (section IV, eq. 4).
#[derive(Debug, Clone)]
pub struct Mapping {
    /// How activities are written.
    pub template: Template,
    /// Levels of the path where the template does not say.
    pub path_levels: usize,
    /// Short names for starts of paths; the longest that fits is taken.
    pub aliases: Vec<Alias>,
    /// Only these calls; all if there are none.
    pub calls: Vec<Glob>,
    /// Only paths that match, before or after aliases.
    pub paths: Option<NamePattern>,
    /// Also calls without a path, in templates that want one.
    pub pathless: bool,
    /// Also calls on pipes, sockets, terminals, `/proc`, `/sys`, `/dev`, `/etc` and shared libraries.
    pub all_files: bool,
}

impl Default for Mapping {
    fn default() -> Self {
        Mapping {
            template: Template::default(),
            path_levels: 2,
            aliases: Vec::new(),
            calls: Vec::new(),
            paths: None,
            pathless: false,
            all_files: false,
        }
    }
}

impl Mapping {
    /// The activity of a call of this case; `path` is empty for calls that have none.
    pub(crate) fn activity(&self, case: &CaseId, call: &str, path: &str) -> Option<String> {
        if !self.calls.is_empty() && !self.calls.iter().any(|g| g.matches(call)) {
            return None;
        }
        if path.is_empty() && !self.pathless && self.template.needs_path() {
            return None;
        }
        if !self.all_files && is_system_path(path) {
            return None;
        }
        let alias = self.aliases.iter().filter_map(|a| Some((a, a.rest(path)?))).max_by_key(|(a, _)| a.path.len());
        let short = alias.map(|(a, rest)| format!("{}{rest}", a.name));
        if let Some(regex) = &self.paths
            && !regex.is_match(path)
            && !short.as_ref().is_some_and(|s| regex.is_match(s))
        {
            return None;
        }
        Some(self.template.fill(case, call, short.as_deref().unwrap_or(path), self.path_levels))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_and_aliases() {
        let mut m = Mapping::default();
        let id = CaseId::default();
        let of = |m: &Mapping, call: &str, path: &str| m.activity(&id, call, path);
        assert_eq!(of(&m, "read", "/usr/lib/a").as_deref(), Some("read:/usr/lib"));
        assert_eq!(of(&m, "brk", ""), None);
        assert_eq!((of(&m, "read", "/proc/cpuinfo"), of(&m, "read", "/usr/lib/libc.so.6")), (None, None));
        let all = Mapping { all_files: true, ..m.clone() };
        assert_eq!(of(&all, "read", "/proc/cpuinfo").as_deref(), Some("read:/proc/cpuinfo"));
        m.pathless = true;
        assert_eq!(of(&m, "brk", "").as_deref(), Some("brk"));
        m.aliases = vec!["/p/scratch=$S".parse().unwrap(), "/p/scratch/user/=$USER".parse().unwrap()];
        assert_eq!(of(&m, "read", "/p/scratch/user/x/y").as_deref(), Some("read:$USER/x"));
        assert_eq!(of(&m, "read", "/p/scratch/user").as_deref(), Some("read:$USER"));
        assert_eq!(of(&m, "read", "/p/scratch2/x").as_deref(), Some("read:/p/scratch2"));
        m.calls = vec!["p?read*".parse().unwrap(), "write".parse().unwrap()];
        assert!(
            of(&m, "read", "/a").is_none() && of(&m, "p2read64", "/a").is_some() && of(&m, "write", "/a").is_some()
        );
        m.paths = Some(r"^\$USER".parse().unwrap());
        assert!(of(&m, "write", "/p/scratch/user/x").is_some() && of(&m, "write", "/a").is_none());
        assert!("x".parse::<Alias>().is_err() && "=x".parse::<Alias>().is_err());
    }
}
