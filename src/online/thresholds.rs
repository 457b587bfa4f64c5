//! Thresholds that decide a prediction.
//!
//! Set on replayed traces of generated jobs and of the corpus (`scripts/replay_score.py`), unless a row names another source.
//! The change detectors keep the parameters of their papers in their own files.
//!
//! Half, double: replayed traces in which a prediction or a change differs if the value is halved or doubled. Measured on 86
//! traces, too few to call a row idle, by `scripts/sensitivity.py`. Rows that neither changes were tried at a thousandth and at the
//! thousandfold on 171 traces: `far_inside` 1, 5; `whole` 2, 4; `looks` 3, 0; `new_gaps_most` 3, 0; `prior_values` 0, 3; `chance` 0, 1;
//! `seldom_most` 159, 0; `firm`, `multiple`, `same_size` and `prior_sd` none. These stand in for one another: without the first three and
//! Student's t together, 8 of 20 changes of `y_regimes` and `u_gap_change` are found instead of 20. `record_prior` is in probabilities,
//! which are not compared.

use crate::thresholds::thresholds;

thresholds! {
    /// Thresholds of a followed job.
    "online":

    // Burst threshold and forecast
    /// A burst within this many standard deviations of its forecast is the forecast one,
    /// Half: 8, double: 2.
    expected_sds: f64 = 3.0;
    /// but at most this share of the period away; later, a prediction is due and the regime is no longer kept against other results,
    /// Half: 11, double: 9.
    expected_most: f64 = 0.25;
    /// and always if it is no further away than this share. A burst still going on has to be that close.
    /// Half: 9, double: 11.
    expected_least: f64 = 0.05;
    /// Bursts with less than this share of the median bytes are noise.
    /// Half: 6, double: 13.
    smallest_burst: f64 = 0.2;
    /// Latest bursts that forecast bytes and width.
    /// Half: 1, double: 0.
    recent: usize = 32;
    /// Bursts that the confidence of a period is worth, beside those whose predictions have been compared with them.
    /// Half: 0, double: 0.
    record_prior: f64 = 8.0;
    /// Latest gaps that have to agree for a second search, of the latest bursts alone,
    /// Half: 5, double: 1.
    regular_gaps: usize = 4;
    /// by no more than this share of their median; two new gaps, in log.
    /// Half: 0, double: 1.
    regular: f64 = 0.05;
    /// Share of the typical idle time, or of the longest of late, that parts two bursts.
    /// Half: 13, double: 17.
    parting: f64 = 0.25;
    /// Bursts that may be missing before the period is over.
    /// Half: 1, double: 1.
    missed: f64 = 2.0;

    // Rhythms inside bursts
    /// Periods without a burst that are a pause.
    /// Half: 1, double: 0.
    pause: f64 = 8.0;
    /// Pauses that differ by no more than this in log recur.
    /// Half: 1, double: 0.
    resumed: f64 = 0.4;

    // Onset correction
    /// Levels tried below the burst threshold, each half of the one above.
    /// Half: 1, double: 0.
    halvings: i32 = 10;
    /// Earlier onsets may scatter this many times as much as the bursts do,
    /// Half: 2, double: 0.
    onset_scatter: f64 = 1.25;
    /// or by this share of the period.
    /// Half: 0, double: 1.
    onset_steady: f64 = 0.01;
    /// An onset further ahead than this share of the period is background.
    /// Half: 1, double: 0.
    onset_farthest: f64 = 0.5;
    /// Idle times within a burst that are tried, as shares of the period.
    /// Half: 1, double: 0.
    onset_idle: [f64; 3] = [0.1, 0.2, 0.3];

    // Per-mode state
    /// In a window that begins with a regime a period has to hold over this share of it.
    /// Half: 0, double: 2.
    window_share: f64 = 0.2;
    /// The window drops what came before the first period once that has lasted this many cycles
    /// Half: 1, double: 3.
    settled_cycles: u64 = 4;
    /// with this confidence.
    /// Half: 3, double: 13.
    settled_confidence: f64 = 0.9;
    /// Another mode is reported once it has moved this many times the bytes of the one reported.
    /// Half: 1, double: 0.
    clearly_more: f64 = 1.5;

    // Bounded profile
    /// Steps shorter than this share of the idle time between bursts are joined first.
    /// Half: 0, double: 2.
    inside: f64 = 0.1;
    /// Steps shorter than this share of the longest idle time are joined before anything is dropped: the burst before a single pause.
    /// Half: 0, double: 0.
    far_inside: f64 = 1e-3;
    /// Share of the bytes that joining other steps may move in time, where both are active, so that no edge of a burst is lost.
    /// Half: 3, double: 2.
    blur: f64 = 2e-4;

    // Regime tracker
    /// Confidence that another period needs to end a regime.
    /// Half: 2, double: 6.
    other_confidence: f64 = 0.8;
    /// Periods, the longer of both, for which the analysis has to report another one before it replaces the regime.
    /// Half: 0, double: 0.
    insists: f64 = 2.0;
    /// Periods closer than this in log are one.
    /// Half: 1, double: 1.
    same_period: f64 = 0.1;
    /// Share of the cycles that need a burst.
    /// Half: 0, double: 10.
    on_period: f64 = 0.6;
    /// A burst is in phase within this share of the period, or within `expected_sds` standard deviations of the gaps; a ratio of periods this
    /// close to a whole number is a multiple.
    /// Half: 0, double: 0.
    whole: f64 = 0.015;
    /// Periods, the longer of both, that a regime has to last before its end is a change.
    /// Half: 3, double: 1.
    established: f64 = 2.9;
    /// Confidence that a regime must once have had for its end to be a change.
    /// Half: 1, double: 2.
    known: f64 = 0.98;
    /// Where the new bursts fall on multiples of the period, cycles asked for per multiple.
    /// Half: 0, double: 0.
    multiple: f64 = 2.0;
    /// A burst within this share of the period of its place continues the regime; so does a period that differs by no more after a pause.
    /// Half: 4, double: 5.
    in_phase: f64 = 0.15;
    /// unless these explain this share of the bytes more, or no less than that with a half or a third of the period. A weak rhythm
    /// beside bursts of requests needs it.
    /// Half: 0, double: 0.
    better: f64 = 0.1;

    // Changes of the gap between bursts
    /// A gap is near the old period, or the new one, within this share of their difference.
    /// Half: 0, double: 2.
    near: f64 = 0.5;
    /// Latest gaps that may show a change: with fewer a burst may be missing or cut in two,
    /// Half: 0, double: 2.
    new_gaps_fewest: usize = 2;
    /// with more it is drift.
    /// Half: 0, double: 0.
    new_gaps_most: usize = 6;
    /// They differ from their mean by at most this share of its distance from the old period,
    /// Half: 0, double: 0.
    new_gaps_agree: f64 = 0.25;
    /// Gaps that all follow the period before two multiples of it are a change.
    /// Half: 0, double: 0.
    firm: usize = 8;
    /// Burst sizes closer than this in log are one.
    /// Half: 0, double: 0.
    same_size: f64 = 0.2;
    /// Such analyses per update.
    /// Half: 0, double: 0.
    looks: usize = 2;
    /// Probability that the gaps of one regime ever look like two, over all looks at it: 1 / k (k + 1) of it after k
    /// gaps.
    /// Half: 0, double: 0.
    chance: f64 = 1e-4;
    /// Prior standard deviation of the log gaps,
    /// Half: 0, double: 0.
    prior_sd: f64 = 0.03;
    /// and how many values it is worth.
    /// Half: 0, double: 0.
    prior_values: f64 = 3.0;

    // When a prediction is due
    /// Factor by which the longest idle time shrinks at each idle time.
    /// Half: 12, double: 23.
    forget: f64 = 0.9;
    /// Share of the bytes of a burst at which it seems to have begun,
    /// Half: 14, double: 14.
    seeming: f64 = 0.05;
    /// and at which there is no doubt.
    /// Half: 33, double: 39.
    doubtless: f64 = 0.3;
    /// Bursts without idle time between them that are counted by their bytes.
    /// Half: 4, double: 3.
    soon: f64 = 8.0;
    /// While no burst is known, one idle time in this many of those so far triggers a prediction,
    /// Half: 5, double: 7.
    seldom: u64 = 16;
    /// or one in this many if that is fewer.
    /// Half: 0, double: 0.
    seldom_most: u64 = 128;
    /// While no period is known, share of the time so far between two predictions at idle times.
    /// Half: 31, double: 35.
    least_time: f64 = 0.02;
    /// Share of the window after which a prediction is due while nothing is periodic.
    /// Half: 32, double: 35.
    growth: f64 = 0.125;
}
