//! Thresholds of the burst pipeline that decide an answer.
//!
//! Set on generated traces (`docs/confidence.md`: seeds below 200), unless a row names another source. Sizes of buffers and
//! bounds of cost stand where they are used, and so do the parameters of the features that the classifier was trained on.
//!
//! Half, double: traces with another verdict, number of periods, period or next burst (1 % of the period) if the value is halved
//! or doubled. Measured on 1362 traces by `scripts/sensitivity.py`.

use crate::thresholds::thresholds;

thresholds! {
    /// Thresholds of the burst pipeline.
    "period::chains":

    // Burst lists
    /// Levels at which the profile is cut, as shares of the byte-weighted median rate.
    /// Half: 51, double: 33.
    levels: [f64; 4] = [1e-4, 0.1, 0.3, 0.6];
    /// The same above a background.
    /// Half: 3, double: 2.
    levels_above: [f64; 2] = [0.3, 0.6];
    /// Bursts smaller than this share of the byte-weighted median burst are dropped; one list for each share.
    /// Half: 0, double: 7.
    smallest: [f64; 3] = [0.0, 0.03, 0.2];
    /// Bursts this many times as large as the next smaller ones have a list of their own.
    /// Half: 68, double: 21.
    larger: f64 = 2.0;
    /// Smallest log ratio of two neighbouring sorted gaps that makes a merge distance: pauses within a burst are shorter than those
    /// between bursts by a quarter at least, else light and heavy bursts in turn are merged.
    /// Half: 2, double: 10.
    smallest_break: f64 = 0.3;
    /// The background is the rate not exceeded for this share of the time.
    /// Half: 5, double: 6.
    background: f64 = 0.2;
    /// Of lists with more bursts than the first number, those whose counts differ by at most the second, a share, are searched once.
    /// Half: 1, double: 5.
    alike: (usize, f64) = (256, 0.15);

    // Chain search
    /// Relative standard deviations of a gap that are tried.
    /// Half: 14, double: 18.
    tolerances: [f64; 6] = [0.003, 0.012, 0.04, 0.1, 0.2, 0.4];
    /// Probability that a burst is off the chain, where that is rare.
    /// Half: 7, double: 8.
    rare: f64 = 0.15;
    /// Log probability of an empty cycle.
    /// Half: 10, double: 16.
    log_empty: f64 = -std::f64::consts::LN_10;
    /// End bursts longer than this share of the period are dropped.
    /// Half: 24, double: 3.
    longest_burst: f64 = 0.95;

    // Period and trend
    /// Onsets from which single outliers can be told from the rest.
    /// Half: 1, double: 4.
    huber_from: usize = 6;
    /// Fewest gaps that show a trend.
    /// Half: 3, double: 3.
    trend_gaps: usize = 4;
    /// Standard errors by which the slope of the gaps has to differ from 0. Random gaps have such a slope in 15 of 1000
    /// chains of four gaps, 4 of five (Student's t).
    /// Half: 5, double: 3.
    trend_errors: f64 = 8.0;
    /// Gaps that alternate by less than this share do not multiply the period.
    /// Half: 1, double: 1.
    smallest_wobble: f64 = 0.03;
    /// Decimal digits of evidence that a multiple of the period needs.
    /// Half: 6, double: 4.
    multiple_evidence: f64 = 2.5;

    // Choice among hypotheses
    /// Hypotheses closer than this in log period support each other.
    /// Half: 4, double: 7.
    agree: f64 = 0.03;
    /// Among periods this close to the best pooled logit the single strongest hypothesis wins.
    /// Half: 1, double: 4.
    close: f64 = 0.5;
    /// Logit that a modulation has to be ahead of a chain with the same period to report it.
    /// Half: 7, double: 2.
    modulation_handicap: f64 = 4.0;
    /// Bursts of the short period per burst of the long one, in the mean, that make them nested.
    /// Half: 24, double: 14.
    nested_parts: f64 = 2.5;
    /// Share of the bytes of either that the other has to explain.
    /// Half: 3, double: 51.
    nested_shared: f64 = 0.8;

    /// Largest standard deviation of the next onset, in periods, of bursts that count as periodic: the definition of "periodic" in
    /// docs/concepts.md.
    /// Half: 39, double: 4.
    regular: f64 = 0.48;

    /// Evidence of the gaps, ln of the likelihood ratio, from which they tell a period without the bytes,
    /// Half: 0, double: 0.
    gaps_alone: f64 = 14.0;
    /// and the share of such answers that are right: 644 of 680 generated traces. Reads of validation in a heat map of training need it.
    /// Half: 0, double: 0.
    gaps_alone_right: f64 = 0.95;

    // A rhythm inside bursts
    /// Pauses between the pieces of a burst, as a share of their distance, from which on these are bursts of their own.
    /// Half: 8, double: 9.
    inner_idle: f64 = 0.2;
    /// Shortest distance of such pieces in seconds: below lie single requests of a burst.
    /// Half: 41, double: 4.
    inner_shortest_s: f64 = 0.1;
    /// Largest coefficient of variation of the gaps between pieces.
    /// Half: 8, double: 5.
    inner_regular: f64 = 0.2;

    // Stretches of a period
    /// Idle times this many times as long as the next shorter one are silences, which end a stretch.
    /// Half: 1, double: 0.
    silence: f64 = 4.0;
    /// Confidence that a period needs which shows only without the silences: a second look.
    /// Half: 2, double: 5.
    second_look: f64 = 0.8;
    /// Seconds; a shorter period in a short stretch is that of requests,
    /// Half: 0, double: 1.
    request_s: f64 = 1.0;
    /// until it has held for this many seconds.
    /// Half: 0, double: 0.
    requests_hold_s: f64 = 10.0;
    /// Smallest change in log gap: a smaller one gives the same answer. The epochs of DLIO, 3.1, 2.06 and 1.92 s a step, need it.
    /// Half: 0, double: 0.
    step: f64 = 0.025;

    // Windows and further iterations
    /// A last burst shorter than this share of any before it has not ended.
    /// Half: 0, double: 0.
    unfinished: f64 = 0.9;
    /// A further period equal to a reported one is of other bursts if these keep this distance, in periods.
    /// Half: 2, double: 0.
    apart: f64 = 0.1;
    /// Bursts are erased down to this share of their level.
    /// Half: 2, double: 1.
    rise: f64 = 0.15;
    /// Their rise and fall are at most this share of their length each.
    /// Half: 4, double: 0.
    longest_rise: f64 = 0.25;
    /// Periods of two iterations closer than this in log are one with several windows.
    /// Half: 0, double: 1.
    same_period: f64 = 0.02;
    /// Share of the run over which a period has to hold without a break: inside a burst requests often follow each
    /// other like clockwork, which is no period of the job.
    /// Half: 12, double: 13.
    shortest_window: f64 = 0.05;
    /// Shortest period in seconds. Below lie the calls of a burst, the steps of a collective call, disk seeks and
    /// scheduler time slices (4 to 10 ms), which can be as regular as any period.
    /// Half: 3, double: 1.
    shortest_period_s: f64 = 0.02;

    // Binned data
    /// Cycles per bin from which on the edges of bins do not show where a burst begins, and a train in bins is fitted. At twenty bins a
    /// period an edge is within 5 % of the period of it.
    /// Half: 2, double: 5.
    bins_lowest: f64 = 0.05;
    /// Cycles per bin from which on the edges of bins do not show a period, and a train of another period can be the answer. At eight bins a
    /// period the edges are right within 5 % after two cycles.
    /// Half: 0, double: 2.
    bins_few: f64 = 0.125;
    /// Share of the variance of the bins that a train has to explain: more than all else together.
    /// Half: 5, double: 32.
    bins_explained: f64 = 0.5;
    /// Misfit, as a share of the variance, that real bursts have as they are no rectangles.
    /// Half: 1, double: 4.
    bins_misfit: f64 = 0.03;
    /// A cycle of any shape has to leave less than this share of what the train leaves unexplained: it follows chance as well. Bursts that
    /// fill a third of a period of two and a half bins need it.
    /// Half: 0, double: 1.
    bins_simpler: f64 = 0.85;

    // Traces without a period
    /// Level of a burst, as a share of the burst level.
    /// Half: 5, double: 16.
    verdict_level: f64 = 0.1;
    /// Gaps shorter than this share of the run do not part two bursts.
    /// Half: 27, double: 17.
    verdict_gap: f64 = 0.01;
    /// Bursts with less than this share of the bytes are headers and summaries.
    /// Half: 14, double: 22.
    verdict_small: f64 = 0.03;
    /// Largest coefficient of variation of a constant rate.
    /// Half: 15, double: 15.
    flat: f64 = 0.35;
    /// Least share of the run with I/O of a constant rate: what pauses longer than it writes comes in bursts.
    /// Half: 2, double: 8.
    busy: f64 = 0.5;
    /// Requests in a row per writer from which one stretch of I/O is a stream, not a burst.
    /// Half: 2, double: 0.
    streaming: f64 = 8.0;
}
