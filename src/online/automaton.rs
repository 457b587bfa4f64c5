//! The regimes a job goes through, as an automaton: a state for each stable regime, a transition for each change.

use std::collections::VecDeque;
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two periods, or two burst sizes, of the same regime differ by no more than these (of the logarithm: 10 % and 28 %).
/// Jitter moves the mean of few intervals by a few per cent; checkpoints grow and shrink with the mesh.
const SAME_PERIOD: f64 = 0.1;
const SAME_BYTES: f64 = 0.25;
/// A regime follows its observations as slowly as a mean of this many.
const INERTIA: u64 = 32;
/// Regimes and transitions that are kept; the regime that was left longest ago goes first.
const MAX_STATES: usize = 64;
const MAX_TRANSITIONS: usize = 256;

/// A stable regime: the quantities that stay constant from burst to burst.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Regime {
    /// Period in seconds, finite and above 0.
    pub period_s: f64,
    /// Number of ranks that take part.
    pub ranks: u64,
    /// Bytes of a burst; 0 if not known.
    pub burst_bytes: f64,
}

impl Regime {
    fn is_valid(&self) -> bool {
        self.period_s.is_finite() && self.period_s > 0.0 && self.burst_bytes.is_finite() && self.burst_bytes >= 0.0
    }

    /// 0 the same, up to 1 within tolerance; `None`: another regime. The numbers of ranks must be equal; a burst size counts
    /// if both are known.
    fn distance(&self, other: &Regime) -> Option<f64> {
        let period = (self.period_s / other.period_s).ln().abs() / SAME_PERIOD;
        let bytes = if self.burst_bytes > 0.0 && other.burst_bytes > 0.0 {
            (self.burst_bytes / other.burst_bytes).ln().abs() / SAME_BYTES
        } else {
            0.0
        };
        (self.ranks == other.ranks && period <= 1.0 && bytes <= 1.0).then_some(period.max(bytes))
    }
}

/// Why a regime was entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// It is the first.
    Start,
    /// The period changed.
    Period,
    /// The number of ranks changed.
    Ranks,
    /// A change detector noticed a change in intervals or burst sizes.
    Statistics,
}

impl Cause {
    /// Its name in JSON and DOT.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Start => "start",
            Cause::Period => "period",
            Cause::Ranks => "ranks",
            Cause::Statistics => "statistics",
        }
    }
}

/// A regime that was seen, once or again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct State {
    /// Letter of the regime: A, B, ..., Z, AA, ... in order of appearance.
    pub name: String,
    /// Its period, ranks and burst size: mean over the latest observations.
    pub regime: Regime,
    /// Number of times it was entered.
    pub visits: u64,
    /// Number of observations in it.
    pub observations: u64,
    /// Time of the first observation, seconds on the trace's own clock.
    pub first_s: f64,
    /// Time of the latest observation, seconds on the trace's own clock.
    pub last_s: f64,
}

/// A change from one regime to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Transition {
    /// Letter of the regime left; `null` at the start.
    pub from: Option<String>,
    /// Letter of the regime entered.
    pub to: String,
    /// Reason for the change.
    pub cause: Cause,
    /// Time of the change, seconds on the trace's own clock.
    pub at_s: f64,
}

/// Regimes of a job so far and the transitions between them. At most 64 regimes and 256 transitions are kept, the latest.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Automaton {
    /// Letter of the regime that the job is in; `null` before the first.
    current: Option<String>,
    /// The regimes, the latest 64.
    states: Vec<State>,
    /// The changes of regime, the latest 256, oldest first.
    transitions: VecDeque<Transition>,
    /// Number of regimes that were ever seen.
    made: u64,
}

impl Automaton {
    /// Says that `regime` holds at `at_s` (seconds on the trace's clock), and gives the name of its state.
    ///
    /// It is the state of the moment if that is within tolerance (period 10 %, burst size 28 %, equal numbers of ranks),
    /// else the nearest state within tolerance, else a new one. `cause` is recorded if the state changes; the first
    /// transition has `Cause::Start` always. A regime or time that is not finite, and a period that is not above 0, change
    /// nothing; before the first regime the name is empty.
    pub fn observe(&mut self, at_s: f64, regime: &Regime, cause: Cause) -> &str {
        if !(regime.is_valid() && at_s.is_finite()) {
            return self.current().unwrap_or("");
        }
        let here = self.current.as_ref().and_then(|name| self.states.iter().position(|s| s.name == *name));
        let stays = here.filter(|&i| self.states[i].regime.distance(regime).is_some());
        let index = match stays.or_else(|| self.nearest(regime)) {
            Some(i) => i,
            None => self.new_state(at_s, regime),
        };
        let entered = self.current.as_ref() != Some(&self.states[index].name);
        let state = &mut self.states[index];
        state.visits += u64::from(entered);
        state.take(at_s, regime);
        let name = state.name.clone();
        if entered {
            let from = self.current.replace(name.clone());
            let cause = if from.is_none() { Cause::Start } else { cause };
            while self.transitions.len() >= MAX_TRANSITIONS {
                self.transitions.pop_front();
            }
            self.transitions.push_back(Transition { from, to: name, cause, at_s });
        }
        self.current().unwrap_or("")
    }

    /// The state of the moment; `None` before the first regime.
    pub fn current(&self) -> Option<&str> {
        self.current.as_deref()
    }

    /// The states, in the order of their first observation.
    pub fn states(&self) -> &[State] {
        &self.states
    }

    /// The transitions, in the order of time.
    pub fn transitions(&self) -> impl ExactSizeIterator<Item = &Transition> {
        self.transitions.iter()
    }

    /// `{"current", "states": [State], "transitions": [Transition]}`.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({ "current": self.current, "states": self.states, "transitions": self.transitions })
    }

    /// The automaton for Graphviz: equal transitions are one edge with their number and the time of the latest. The state of
    /// the moment has a double line.
    pub fn to_dot(&self) -> String {
        let mut dot = String::from("digraph regimes {\n  rankdir=LR;\n  node [shape=ellipse];\n");
        for s in &self.states {
            let r = &s.regime;
            let line = if self.current.as_ref() == Some(&s.name) { ", peripheries=2" } else { "" };
            // Writing to a string does not fail.
            let _ = writeln!(
                dot,
                "  {} [label=\"{}\\n{:.4} s, {} ranks\\n{:.4e} B\"{line}];",
                s.name, s.name, r.period_s, r.ranks, r.burst_bytes
            );
        }
        let known = |name: &str| self.states.iter().any(|s| s.name == name);
        let mut edges: Vec<(&Transition, u64)> = Vec::new();
        for t in &self.transitions {
            match edges.iter_mut().find(|(e, _)| (&e.from, &e.to, e.cause) == (&t.from, &t.to, t.cause)) {
                Some(edge) => *edge = (t, edge.1 + 1),
                None => edges.push((t, 1)),
            }
        }
        for (t, n) in edges {
            if let Some(from) = t.from.as_deref().filter(|from| known(from) && known(&t.to)) {
                let cause = t.cause.name();
                let _ = writeln!(dot, "  {from} -> {} [label=\"{cause} {n}x, {:.3} s\"];", t.to, t.at_s);
            }
        }
        dot.push_str("}\n");
        dot
    }

    fn nearest(&self, regime: &Regime) -> Option<usize> {
        let near = self.states.iter().enumerate().filter_map(|(i, s)| Some((i, s.regime.distance(regime)?)));
        near.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(i, _)| i)
    }

    fn new_state(&mut self, at_s: f64, regime: &Regime) -> usize {
        while self.states.len() >= MAX_STATES {
            let left = |s: &State| if self.current.as_ref() == Some(&s.name) { f64::INFINITY } else { s.last_s };
            let oldest =
                (0..self.states.len()).min_by(|&a, &b| left(&self.states[a]).total_cmp(&left(&self.states[b])));
            let Some(oldest) = oldest else { break };
            self.states.remove(oldest);
        }
        let name = letters(self.made);
        self.made = self.made.saturating_add(1);
        self.states.push(State { name, regime: *regime, visits: 0, observations: 0, first_s: at_s, last_s: at_s });
        self.states.len() - 1
    }
}

impl State {
    fn take(&mut self, at_s: f64, regime: &Regime) {
        self.observations = self.observations.saturating_add(1);
        self.last_s = self.last_s.max(at_s);
        let share = 1.0 / self.observations.min(INERTIA) as f64;
        self.regime.period_s += share * (regime.period_s - self.regime.period_s);
        if self.regime.burst_bytes == 0.0 {
            self.regime.burst_bytes = regime.burst_bytes;
        } else if regime.burst_bytes > 0.0 {
            self.regime.burst_bytes += share * (regime.burst_bytes - self.regime.burst_bytes);
        }
    }
}

/// 0 is A, 25 is Z, 26 is AA, as columns of a spreadsheet.
fn letters(mut n: u64) -> String {
    let mut name = Vec::new();
    loop {
        name.push(char::from(b'A' + (n % 26) as u8));
        if n < 26 {
            return name.into_iter().rev().collect();
        }
        n = n / 26 - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regime(period_s: f64, ranks: u64, burst_bytes: f64) -> Regime {
        Regime { period_s, ranks, burst_bytes }
    }

    #[test]
    fn regimes_that_return_are_recognised() {
        let mut a = Automaton::default();
        assert_eq!(a.observe(0.0, &regime(5.0, 8, 1e9), Cause::Period), "A");
        assert_eq!(a.observe(5.0, &regime(5.1, 8, 1.1e9), Cause::Period), "A");
        assert_eq!(a.observe(10.0, &regime(8.0, 8, 1e9), Cause::Period), "B");
        assert_eq!(a.observe(20.0, &regime(8.0, 16, 1e9), Cause::Ranks), "C");
        assert_eq!(a.observe(30.0, &regime(4.9, 8, 0.9e9), Cause::Statistics), "A");
        let steps: Vec<_> = a.transitions().map(|t| (t.from.as_deref(), t.to.as_str(), t.cause, t.at_s)).collect();
        assert_eq!(
            steps,
            [
                (None, "A", Cause::Start, 0.0),
                (Some("A"), "B", Cause::Period, 10.0),
                (Some("B"), "C", Cause::Ranks, 20.0),
                (Some("C"), "A", Cause::Statistics, 30.0)
            ]
        );
        let first = &a.states()[0];
        assert_eq!((first.visits, first.observations, first.first_s, first.last_s), (2, 3, 0.0, 30.0));
        assert!((first.regime.period_s - 5.0).abs() < 1e-12);
    }

    #[test]
    fn what_is_no_regime_changes_nothing() {
        let mut a = Automaton::default();
        assert_eq!(a.observe(0.0, &regime(f64::NAN, 8, 1.0), Cause::Period), "");
        a.observe(0.0, &regime(5.0, 8, 0.0), Cause::Period);
        let before = a.clone();
        for bad in [regime(0.0, 8, 1.0), regime(-1.0, 8, 1.0), regime(f64::INFINITY, 8, 1.0), regime(9.0, 8, f64::NAN)]
        {
            assert_eq!(a.observe(1.0, &bad, Cause::Period), "A");
        }
        assert_eq!(a.observe(f64::NAN, &regime(9.0, 8, 1.0), Cause::Period), "A");
        assert_eq!(a, before);
    }

    #[test]
    fn memory_is_bounded_and_names_are_not_reused() {
        let mut a = Automaton::default();
        let mut last = String::new();
        for i in 0..1000u32 {
            last = a.observe(f64::from(i), &regime(1.3f64.powi(i as i32 % 500), 1, 0.0), Cause::Period).to_owned();
        }
        assert_eq!(a.states().len(), MAX_STATES);
        assert_eq!(a.transitions().len(), MAX_TRANSITIONS);
        assert_eq!(last, letters(999));
        assert_eq!(a.current(), Some(last.as_str()));
    }

    #[test]
    fn a_state_survives_its_checkpoint() {
        let mut a = Automaton::default();
        a.observe(0.0, &regime(5.0, 8, 1e9), Cause::Period);
        a.observe(9.0, &regime(7.0, 8, 1e9), Cause::Statistics);
        let text = serde_json::to_string(&a).unwrap();
        assert_eq!(serde_json::from_str::<Automaton>(&text).unwrap(), a);
        assert_eq!(a.to_json()["transitions"][1]["cause"], "statistics");
        assert_eq!(a.to_json()["states"][1]["name"], "B");
    }

    #[test]
    fn dot_counts_equal_transitions() {
        let mut a = Automaton::default();
        for i in 0..6u32 {
            a.observe(f64::from(i), &regime(if i % 2 == 0 { 5.0 } else { 8.0 }, 8, 1e9), Cause::Period);
        }
        let dot = a.to_dot();
        assert!(dot.contains("A -> B [label=\"period 3x, 5.000 s\"]"), "{dot}");
        assert!(dot.contains("B -> A [label=\"period 2x, 4.000 s\"]"), "{dot}");
        assert!(dot.contains("B [label=\"B\\n8.0000 s, 8 ranks\\n1.0000e9 B\", peripheries=2]"), "{dot}");
    }

    #[test]
    fn letters_are_those_of_spreadsheets() {
        assert_eq!([0, 25, 26, 701, 702].map(letters), ["A", "Z", "AA", "ZZ", "AAA"]);
    }
}
