# Made by scripts/generate.py from the JSON Schemas. Do not edit.

"""Answers and their parts."""

from ._base import Answer, ComparisonBase, DfgBase, Part, PeriodBase, ReportBase, SignalBase, Field


class AccessSizes(Part):
    "Accesses by size."

    __slots__ = ()
    common = Field('common', '[CommonSize]', "The commonest sizes in bytes, as far as the four of each file tell.")
    consecutive = Field('consecutive', '', "Shares of the reads and writes that start where the last access ended.")
    layer = Field('layer', '', "The layer.")
    reads = Field('reads', '', "Reads by class of size: up to 100 bytes, 1 KB, 10 KB, 100 KB, 1 MiB, 4 MiB, 10 MiB, 100 MiB, 1 GiB, and more.")
    sequential = Field('sequential', '', "Shares of the reads and writes that start where the last access ended or later; `null` if the layer does not count them.")
    writes = Field('writes', '', "Writes by class of size.")

class ActivityChange(Part):
    "An activity in both groups."

    __slots__ = ()
    activity = Field('activity', '', "Its name.")
    duration_difference_s = Field('duration_difference_s', '', "Seconds a case, green less red: what the order of the list goes by.")
    green = Field('green', 'Measures', "In the green cases; `null` if it is not there.")
    red = Field('red', 'Measures', "In the red cases; `null` if it is not there.")

class Advice(Part):
    "A policy, why, and what to set."

    __slots__ = ()
    hints = Field('hints', '', "Settings: value by name.")
    policy = Field('policy', '', "Name of the policy.")
    why = Field('why', '', "Reason, from the trace.")

class Aside(Part):
    "Small accesses between the data, as a library makes them for itself: headers, indices."

    __slots__ = ()
    accesses = Field('accesses', '', "Number of accesses.")
    bytes = Field('bytes', '', "Bytes moved.")
    bytes_written = Field('bytes_written', '', "Bytes written, of those moved.")
    largest_bytes = Field('largest_bytes', '', "Size of the largest access in bytes.")
    ranks = Field('ranks', '', "Ranks that make them.")

class Bounds(Part):
    "A value that the data only bound; both ends are equal where it is exact."

    __slots__ = ()
    high = Field('high', '', "High end.")
    low = Field('low', '', "Low end.")

class BurstBuffer(Part):
    "Storage that takes bursts and drains between them."

    __slots__ = ()
    capacity = Field('capacity', '', "Bytes that it holds.")
    rate = Field('rate', '', "Bytes per second that the job can write to it.")

class Bursts(Part):
    "The bursts of the dominant period."

    __slots__ = ()
    bytes = Field('bytes', 'ByteSpread', "Bytes per burst.")
    count = Field('count', '', "Number of bursts.")
    duty_cycle = Field('duty_cycle', '', "Share of the period that a burst lasts: median width / period.")
    regularity = Field('regularity', 'Regularity', "How regular they are; `null` for fewer than three gaps.")
    starts_s = Field('starts_s', '', "Start of each burst, seconds on the trace's own clock.")
    width_s = Field('width_s', 'Spread', "Seconds from the first to the last byte of a burst.")

class ByteRange(Part):
    "Bytes from `start` to before `end`."

    __slots__ = ()
    end = Field('end', '', "Offset one past the last byte.")
    start = Field('start', '', "Offset of the first byte.")

class ByteSpread(Part):
    "Smallest, middle and largest number of bytes."

    __slots__ = ()
    max = Field('max', '', "Largest number of bytes.")
    median = Field('median', '', "Median number of bytes.")
    min = Field('min', '', "Smallest number of bytes.")

class Candidate(Part):
    "A period that was considered."

    __slots__ = ()
    confidence = Field('confidence', '', "Probability or score, as for the dominant period.")
    frequency_hz = Field('frequency_hz', '', "Frequency in Hz: 1 / `period_s`.")
    harmonic_of = Field('harmonic_of', '', "Frequency in Hz of the candidate of which this is a harmonic; `null` if it is none.")
    period_s = Field('period_s', '', "Period in seconds.")
    score = Field('score', '', "Score of the detector (the z-score or its equivalent), or the logit of the classifier.")

class CaseReport(Part):
    "A case."

    __slots__ = ()
    case = Field('case', '', "Name of the case: `cid_host_rid`, with `#pid` where cases are split by process.")
    cid = Field('cid', '', "Identifier of the command.")
    events = Field('events', '', "Number of events in the graph.")
    file = Field('file', '', "File that the case was read from.")
    group = Field('group', '', "Group of the case, if two are compared.")
    host = Field('host', '', "Name of the machine.")
    pid = Field('pid', '', "Process id.")
    rid = Field('rid', '', "Launching process, or rank.")

class Classes(Answer):
    "The classes of all files of a trace."

    __slots__ = ()
    advice = Field('advice', '[Advice]', "Settings for the job as a whole.")
    files = Field('files', '[FileClasses]', "Files, in the order of their first access.")
    path = Field('path', '', "Path of the trace as the user gave it.")
    records = Field('records', '', "Number of accesses classified.")
    schema = Field('schema', '', "Name and version of the schema.")
    warnings = Field('warnings', '[Warning]', "Warnings for the user.")

class Clock(Part):
    "The zero of the times of a trace."

    __slots__ = ()
    kind = Field('kind', '', "The zero of the clock.")
    zero_unix_s = Field('zero_unix_s', '', "The zero in seconds since 1970-01-01 00:00 UTC; `null` if it is not known.")

class CommonSize(Part):
    "A common access size."

    __slots__ = ()
    count = Field('count', '', "Number of accesses.")
    size = Field('size', '', "Bytes.")

class Comparison(ComparisonBase):
    "Two sets of runs against each other."

    __slots__ = ()
    after = Field('after', 'Side', "The runs after.")
    before = Field('before', 'Side', "The runs before.")
    bursts = Field('bursts', '[Row]', "Properties of bursts that differ.")
    files = Field('files', '[FileChange]', "Families of files that differ.")
    findings = Field('findings', 'FindingChanges', "Findings that differ.")
    graph = Field('graph', '[GraphChange]', "Edges of the graph of calls whose frequency differs.")
    io_time = Field('io_time', 'IoTimeChange', "Time in I/O.")
    job = Field('job', '[Fact]', "Facts of the jobs that differ.")
    layers = Field('layers', '[Row]', "Bytes, calls and sizes that differ, by layer.")
    patterns = Field('patterns', '[PatternChange]', "Access patterns that differ.")
    periods = Field('periods', '[Row]', "Periods that differ.")
    reasons = Field('reasons', '[Reason]', "Reasons of the difference, by cost; those without a cost from the cause to the effect.")
    schema = Field('schema', '', "Name and version of the schema.")
    time = Field('time', '[Row]', "Time in I/O by kind, share of the run and imbalance, where they differ.")
    tool = Field('tool', 'Tool', "The program that wrote this.")
    unchanged = Field('unchanged', '', "Properties that were compared and do not differ.")
    verdict = Field('verdict', '', "The answer.")
    warnings = Field('warnings', '[Warning]', "Warnings for the user.")

class Component(Part):
    "A cosine a cos(2π f (t − start) + φ) of the signal; f = 0 is the mean."

    __slots__ = ()
    amplitude_bytes_per_s = Field('amplitude_bytes_per_s', '', "Amplitude a in bytes per second.")
    frequency_hz = Field('frequency_hz', '', "Frequency f in Hz; 0 for the mean.")
    phase_rad = Field('phase_rad', '', "Phase φ at the start of the signal (`start_s`), radians.")

class CounterReport(Part):
    "Tables of the counters of a trace."

    __slots__ = ()
    access_sizes = Field('access_sizes', '[AccessSizes]', "Accesses by size, by layer.")
    cost = Field('cost', '[LayerCost]', "Time in I/O, by layer.")
    families = Field('families', '[Family]', "Families of files, those that took most time first; digits in names are replaced by `#`.")
    families_total = Field('families_total', '', "Number of families.")
    files = Field('files', '[FileKind]', "Files by what was done with them, by layer.")
    hints = Field('hints', '', "MPI-IO hints with which the tracer wrote its log; `null` if it names none.")
    mounts = Field('mounts', '[MountUse]', "Mounted file systems with files of the job.")
    operations = Field('operations', '', "Number of calls by name, by layer.")

class Coverage(Part):
    "How much of a trace the patterns explain."

    __slots__ = ()
    bytes = Field('bytes', '', "Bytes that the accesses move.")
    folded_patterns = Field('folded_patterns', '', "Patterns that are counted here and not listed: those of fewest bytes, where a trace has more than about a hundred thousand.")
    matched = Field('matched', '', "Accesses that belong to a pattern.")
    matched_bytes = Field('matched_bytes', '', "Bytes that those in a pattern move.")
    predicted = Field('predicted', '', "Accesses that an open pattern was waiting for: predicted before they happened.")
    records = Field('records', '', "Accesses: reads and writes at a known place.")

class Detection(PeriodBase):
    "The answer for one signal."

    __slots__ = ()
    candidates = Field('candidates', '[Candidate]', "Periods that were considered, best first.")
    detector = Field('detector', '', "How outliers of the spectrum were found.")
    dominant = Field('dominant', 'Dominant', "The period that holds where the trace ends; if several do, or none, the one that moves the most bytes.")
    method = Field('method', '', "Method that searched for the period.")
    others = Field('others', '[OtherPeriod]', "Further independent periods.")
    periodic = Field('periodic', '', "Whether there is a period; `null` if the data cannot tell (verdict `not-resolvable`).")
    spectrum = Field('spectrum', 'SpectrumStatistics', "Statistics of the power spectrum.")
    verdict = Field('verdict', '', "The answer in one word.")

class Dfg(DfgBase):
    "A directly-follows graph."

    __slots__ = ()
    bytes = Field('bytes', '', "Bytes moved.")
    cases = Field('cases', '[CaseReport]', "The cases.")
    comparison = Field('comparison', 'DfgComparison', "The two groups side by side; `null` if nothing is compared.")
    duration_s = Field('duration_s', '', "Sum of all durations in seconds.")
    edges = Field('edges', '[EdgeReport]', "Edges, by the names of their ends.")
    events = Field('events', '', "Number of events in the graph.")
    interrupted_calls = Field('interrupted_calls', '', "Number of interrupted calls that were made again; they are no events.")
    map = Field('map', '', "Template of the names of activities.")
    nodes = Field('nodes', '[NodeReport]', "Activities, by name.")
    schema = Field('schema', '', "Name and version of the schema.")
    unmapped_events = Field('unmapped_events', '', "Number of events left out: on system files, without a path, or outside of the selection.")
    warnings = Field('warnings', '[Warning]', "Warnings for the user.")

class DfgComparison(Part):
    "Two groups side by side."

    __slots__ = ()
    activities = Field('activities', '[ActivityChange]', "Activities of either, those whose duration a case differs most first.")
    edges = Field('edges', '[EdgeChange]', "Edges whose count a case differs, those that differ most first.")
    green = Field('green', 'GroupTotals', "All green cases.")
    only_green = Field('only_green', 'Exclusive', "Activities and edges of green cases alone.")
    only_red = Field('only_red', 'Exclusive', "Activities and edges of red cases alone.")
    red = Field('red', 'GroupTotals', "All red cases.")

class Dominant(Part):
    "A period that was found."

    __slots__ = ()
    amplitude_bytes_per_s = Field('amplitude_bytes_per_s', '', "Amplitude of the cosine of this frequency in the signal, bytes per second.")
    confidence = Field('confidence', '', "With method `auto`: probability that the period is right within 5 %. With other methods: score of the detector, 0 to 1. Limited where bins of a heatmap are wide for the period (warning `near-bin-width`).")
    cycles = Field('cycles', '', "Number of periods seen, those without a burst included.")
    dft_bin = Field('dft_bin', '', "The bin of the DFT, if the period was taken from one.")
    frequency_hz = Field('frequency_hz', '', "Frequency in Hz: 1 / `period_s`.")
    period_s = Field('period_s', '', "Seconds from the start of one burst to the start of the next.")
    period_std_s = Field('period_std_s', '', "Standard error of the period in seconds.")
    phase_rad = Field('phase_rad', '', "Phase of that cosine at the start of the signal (`start_s`), radians.")

class EdgeChange(Part):
    "An edge whose counts differ."

    __slots__ = ()
    difference = Field('difference', '', "Count a case, green less red: what the order of the list goes by.")
    from_ = Field('from', '', "An activity or `<start>`.")
    green = Field('green', '', "How often in the green cases.")
    red = Field('red', '', "How often in the red cases.")
    to = Field('to', '', "An activity or `<end>`.")

class EdgeRef(Part):
    "An edge of one group."

    __slots__ = ()
    count = Field('count', '', "How often `to` directly follows `from`.")
    from_ = Field('from', '', "An activity or `<start>`.")
    to = Field('to', '', "An activity or `<end>`.")

class EdgeReport(Part):
    "An edge."

    __slots__ = ()
    color = Field('color', '', "Group that has it.")
    count = Field('count', '', "How often `to` directly follows `from`.")
    from_ = Field('from', '', "An activity or `<start>`.")
    to = Field('to', '', "An activity or `<end>`.")

class Example(Part):
    "A request."

    __slots__ = ()
    end_s = Field('end_s', '', "End in seconds on the trace's own clock.")
    file = Field('file', '', "Name of the file.")
    offset = Field('offset', '', "Offset; `null` if the trace does not say.")
    rank = Field('rank', '', "Rank.")
    size = Field('size', '', "Bytes.")
    start_s = Field('start_s', '', "Start in seconds on the trace's own clock.")

class Exclusive(Part):
    "Activities and edges that only one group has."

    __slots__ = ()
    activities = Field('activities', '', "Activities, by name.")
    edges = Field('edges', '[EdgeRef]', "Edges, the most frequent first.")

class Expected(Part):
    "The forecast of a model of earlier runs for a file, before it is accessed."

    __slots__ = ()
    accesses = Field('accesses', '', "Number of accesses.")
    bytes = Field('bytes', '', "Bytes moved.")
    global_ = Field('global', '[ExpectedClass]', "Classes in the order in which they come.")
    learned_from = Field('learned_from', '', "The file of the earlier runs that is matched: the same name, or one that differs in its digits.")
    passes = Field('passes', '', "How often each rank goes over its bytes, at most.")
    runs = Field('runs', '', "Number of earlier runs.")

class ExpectedClass(Part):
    "A class that a file will have for a while."

    __slots__ = ()
    advice = Field('advice', '[Advice]', "Settings that follow from it.")
    bytes = Field('bytes', '', "Bytes moved.")
    mix = Field('mix', '', "Whether there are reads, writes or both.")
    passes = Field('passes', '', "How often each rank goes over its bytes meanwhile.")
    ranks = Field('ranks', '', "Number of ranks.")
    sequentiality = Field('sequentiality', '', "Order of the offsets, over all ranks.")
    size = Field('size', '', "Sizes of the requests, and whether they vary.")

class Fact(Part):
    "A fact that differs."

    __slots__ = ()
    after = Field('after', '', "After.")
    before = Field('before', '', "Before.")
    what = Field('what', '', "The fact.")

class Family(Part):
    "A family of files on all layers."

    __slots__ = ()
    bytes_read = Field('bytes_read', '', "Bytes read.")
    bytes_written = Field('bytes_written', '', "Bytes written.")
    file = Field('file', '', "Name of the file; of several with `#` for digits.")
    files = Field('files', '', "Number of files.")
    layer = Field('layer', '', "The lowest layer that has it.")
    metadata_s = Field('metadata_s', '', "Seconds of opening, closing and the like, all ranks.")
    ranks = Field('ranks', '', "Number of ranks; `null` if the counters are of all ranks.")
    read_s = Field('read_s', '', "Seconds of reading in the outermost layer, all ranks.")
    write_s = Field('write_s', '', "Seconds of writing, all ranks.")

class FileChange(Part):
    "A family of files that differs."

    __slots__ = ()
    after = Field('after', '', "After.")
    before = Field('before', '', "Before; `null` if it is not there.")
    file = Field('file', '', "Its name, without the folder of the run; digits are `#`.")
    what = Field('what', '', "`appeared`, `vanished`, `class`, `stripes`, `mount`, `bytes` or `count`.")

class FileClasses(Part):
    "The classes of one file."

    __slots__ = ()
    aside = Field('aside', 'Aside', "Accesses that are in no class, since they are none of the program's data; `null` if there are none.")
    expected = Field('expected', 'Expected', "Behaviour of earlier runs, known when the file is opened; `null` without a model that knows the file.")
    file = Field('file', '', "Name of the file; `null` if the trace does not say.")
    global_ = Field('global', '[GlobalClass]', "Classes of the whole job, by time.")
    local = Field('local', '[LocalClass]', "Classes of the single ranks, by rank and time.")

class FileKind(Part):
    "Files of one kind."

    __slots__ = ()
    files = Field('files', '', "Number of files.")
    kind = Field('kind', '', "`read-only`, `write-only`, `read-write` or `opened`.")
    largest_bytes = Field('largest_bytes', '', "Largest of them.")
    layer = Field('layer', '', "The layer.")
    mean_bytes = Field('mean_bytes', '', "Mean of the files' sizes, by the highest byte accessed; `null` if the layer does not know it.")

class FileShare(Part):
    "A family of files in a finding."

    __slots__ = ()
    bytes = Field('bytes', '', "Bytes.")
    count = Field('count', '', "Requests, calls or files, as the finding counts.")
    file = Field('file', '', "Name of the file; of several with `#` for digits.")
    files = Field('files', '', "Number of files.")
    ranges = Field('ranges', '[ByteRange]', "Byte ranges of all files of the family, at most 16: smaller gaps are left out; empty without requests.")
    rank_list = Field('rank_list', '', "The first of the ranks, at most 16; empty without requests.")
    ranks = Field('ranks', '', "Ranks; `null` for files with the totals of all ranks.")
    time_s = Field('time_s', '', "Seconds of the ranks in it.")
    windows = Field('windows', '[TimeWindow]', "Times of the requests, at most 16: smaller gaps are left out; empty without requests.")

class Finding(Part):
    "A finding."

    __slots__ = ()
    also = Field('also', '', "Codes that describe the same requests of the same files.")
    audience = Field('audience', '', "Who can do something about it.")
    certainty = Field('certainty', '', "How sure the numbers are.")
    code = Field('code', '', "Stable code.")
    detail = Field('detail', '', "The evidence, in numbers.")
    drishti = Field('drishti', '', "Triggers of Drishti for the same.")
    examples = Field('examples', '[Example]', "The longest requests, at most five; empty without requests.")
    files = Field('files', '[FileShare]', "The families of files that take most of the time, or of the bytes; digits in names are replaced by `#`.")
    files_total = Field('files_total', '', "Number of files.")
    layer = Field('layer', '', "Layer of the I/O stack: `posix`, `mpiio`, `stdio`, `hdf5`, `pnetcdf`, `lustre` or `job`.")
    lost_basis = Field('lost_basis', '', "How `lost_s` was made; `null` with it.")
    lost_low_s = Field('lost_low_s', '', "Seconds that can be gained at least, where `lost_s` is an upper bound; else as `lost_s`.")
    lost_s = Field('lost_s', '', "Seconds that could be gained; `null` if not known.")
    measured = Field('measured', '', "Numbers behind it.")
    name = Field('name', '', "Stable name.")
    remedies = Field('remedies', '[RemedyReport]', "Remedies.")
    severity = Field('severity', '', "How much it matters.")
    threshold = Field('threshold', '', "Thresholds.")
    time_low_s = Field('time_low_s', '', "Seconds spent in it at least, where `time_s` is modelled from counters; else as `time_s`.")
    time_s = Field('time_s', '', "Seconds spent in it, an upper bound of the gain; `null` if not known.")
    title = Field('title', '', "Title.")
    why = Field('why', '', "Why it costs time.")

class FindingChange(Part):
    "A finding whose cost differs."

    __slots__ = ()
    after_s = Field('after_s', '', "Seconds lost after.")
    before_s = Field('before_s', '', "Seconds lost before.")
    code = Field('code', '', "The code.")

class FindingChanges(Part):
    "Findings that differ."

    __slots__ = ()
    changed = Field('changed', '[FindingChange]', "Codes whose cost differs.")
    gone = Field('gone', '', "Codes that are found before only.")
    new = Field('new', '', "Codes that are found after only.")

class Findings(Answer):
    "Findings of a trace."

    __slots__ = ()
    findings = Field('findings', '[Finding]', "The findings, the costliest first.")
    io = Field('io', 'IoTime', "Time in I/O.")
    not_checked = Field('not_checked', '[NotChecked]', "Codes that could not be checked.")
    ok = Field('ok', '', "Codes of good properties.")
    schema = Field('schema', '', "Name and version of the schema.")
    system = Field('system', 'System', "The machine, as the user described it.")
    tool = Field('tool', 'Tool', "The program that wrote this.")
    trace = Field('trace', 'TraceSummary', "The trace.")
    warnings = Field('warnings', '[Warning]', "Warnings for the user.")

class Fit(Part):
    "Mean square errors of the reconstructions."

    __slots__ = ()
    improvement = Field('improvement', '', "Share of the error that fitting removes: 1 − mse_fit / mse_dft.")
    mse_dft = Field('mse_dft', '', "Mean square error of the reconstruction with the cosines of the DFT, (bytes per second)².")
    mse_fit = Field('mse_fit', '', "The same with the fitted cosines.")

class FrequencyRange(Part):
    "How often this frequency was found periodic before: a range of frequencies that belong together, merged over the history of predictions."

    __slots__ = ()
    high_hz = Field('high_hz', '', "Highest frequency of the range in Hz.")
    low_hz = Field('low_hz', '', "Lowest frequency of the range in Hz.")
    periodic_probability = Field('periodic_probability', '', "Probability of periodic given a frequency in the range.")
    predictions = Field('predictions', '', "Predictions of the history with a frequency in the range, this one included.")
    probability = Field('probability', '', "Share of all predictions of the history that have a frequency in the range.")

class GlobalClass(Part):
    "The access class of the whole job in a file during one time window."

    __slots__ = ()
    accesses = Field('accesses', '', "Number of accesses seen; 0 if the class was known before them.")
    advice = Field('advice', '[Advice]', "Settings that follow from it.")
    bytes = Field('bytes', '', "Bytes moved.")
    classifier = Field('classifier', '', "Method that gave the local classes below.")
    end_s = Field('end_s', '', "End of the last access of its ranks, seconds on the trace's own clock; `null` (not a number) if they have no times.")
    mix = Field('mix', '', "Whether there are reads, writes or both.")
    ranks = Field('ranks', '', "Ranks of the class.")
    sequentiality = Field('sequentiality', '', "Order of the offsets, over all ranks.")
    size = Field('size', '', "Sizes of the requests, and whether they vary.")
    staggered = Field('staggered', '', "The ranks come one after the other, not at the same time.")
    start_s = Field('start_s', '', "Start of the first access of its ranks, seconds on the trace's own clock; `null` (not a number) if they have no times.")

class GraphChange(Part):
    "An edge whose frequency differs."

    __slots__ = ()
    after = Field('after', '', "How often a case goes this way, after.")
    before = Field('before', '', "How often a case goes this way, before.")
    from_ = Field('from', '', "An activity or `<start>`.")
    p = Field('p', '', "p value, after Holm, of equal shares of what follows `from`.")
    to = Field('to', '', "An activity or `<end>`.")

class GroupTotals(Part):
    "The whole of a group."

    __slots__ = ()
    bytes = Field('bytes', '', "Bytes moved.")
    cases = Field('cases', '', "Cases with events.")
    duration_s = Field('duration_s', '', "Sum of all durations in seconds.")
    events = Field('events', '', "Events.")

class Info(Answer):
    "Contents of a trace."

    __slots__ = ()
    byte_order = Field('byte_order', '', "`little` or `big`.")
    calls = Field('calls', '', "Number of calls by name.")
    clock = Field('clock', 'Clock', "The zero of all times.")
    compression = Field('compression', '', "Compression inside or around the trace.")
    counters = Field('counters', 'CounterReport', "Tables of the counters; `null` if the trace has none.")
    end_s = Field('end_s', '', "End of the last access, seconds on the trace's own clock.")
    files = Field('files', '', "Number of files.")
    format = Field('format', '', "Name of the file format.")
    io = Field('io', 'IoTime', "Time in I/O.")
    job = Field('job', 'Job', "Facts about the job; `null` if the trace has none.")
    layers = Field('layers', '[LayerSummary]', "Contents of each layer.")
    partial = Field('partial', '', "Names of the parts of the trace that are known to be incomplete.")
    path = Field('path', '', "Path of the trace as the user gave it.")
    ranks = Field('ranks', '', "Number of processes of the job, or of ranks seen if the trace does not say.")
    schema = Field('schema', '', "Name and version of the schema.")
    start_s = Field('start_s', '', "Start of the first access, seconds on the trace's own clock.")
    version = Field('version', '', "Version of the format.")
    warnings = Field('warnings', '[Warning]', "Warnings for the user.")

class IoTime(Part):
    "Time in I/O: what a rank spends inside calls of the outermost layer that recorded the file. From counters the sum over the files of a rank; from single requests the union of their spans."

    __slots__ = ()
    complete = Field('complete', '', "True if the time of everything that the ranks did is recorded.")
    io_s = Field('io_s', '', "Low end of `slowest_s`.")
    layer = Field('layer', '', "The outermost layer with most of the time: `posix`, `mpiio`, `stdio`, `hdf5`, `pnetcdf`, `daos`, or `requests` where single requests are all that is known; `null` without times.")
    layers = Field('layers', '[LayerTime]', "All layers that have times, each with what it spends in those below it.")
    mean_metadata_s = Field('mean_metadata_s', '', "Seconds of metadata, mean of all ranks.")
    mean_read_s = Field('mean_read_s', '', "Seconds of reading, mean of all ranks.")
    mean_s = Field('mean_s', '', "Seconds, mean of all ranks; `null` without times.")
    mean_write_s = Field('mean_write_s', '', "Seconds of writing and synchronising, mean of all ranks.")
    rate = Field('rate', 'Bounds', "Bytes per second: what the outermost layer moved, by the time of the slowest rank. `null` without times or bytes.")
    run_s = Field('run_s', '', "Length of the run in seconds; of the accesses, if the trace does not know the run.")
    share = Field('share', '', "`io_s / run_s`, at most 1; `null` if the recording is not complete.")
    share_range = Field('share_range', 'Bounds', "Ends of the share of the run of the slowest rank.")
    slowest_rank = Field('slowest_rank', '', "The rank with most time in files of its own; `null` if all files are counted over all ranks.")
    slowest_s = Field('slowest_s', 'Bounds', "Seconds of the slowest rank; `null` without times.")
    waiting_s = Field('waiting_s', '', "Seconds inside MPI-IO and outside the POSIX calls below it, mean of all ranks: waiting for other ranks and exchanging data with them. `null` without MPI-IO.")
    wall_s = Field('wall_s', '', "Seconds in which at least one rank is in a request; `null` without single requests.")
    why = Field('why', '', "The reason why the recording is not complete; `null` if it is.")

class IoTimeChange(Part):
    "Change of the time in I/O."

    __slots__ = ()
    after_s = Field('after_s', '', "After, in seconds.")
    basis = Field('basis', '', "Samples behind the interval.")
    before_s = Field('before_s', '', "Before: seconds in I/O of the slowest rank as in findings, mean of the runs, the low end if it is only bounded; `null` if the trace does not say.")
    change = Field('change', '', "`after_s - before_s`.")
    high = Field('high', '', "High end of the interval.")
    high_s = Field('high_s', '', "High ends of both.")
    layer = Field('layer', '', "The outermost layer with most of the time, before and after, as in findings; `null` if that differs.")
    low = Field('low', '', "Low end of the interval of 95 % of `change`, of 90 % for three runs on each side; `null` for one value a side.")
    run_s = Field('run_s', '', "Seconds of the run before and after, mean of the runs.")

class Job(Part):
    "Facts about the job; `None` where the trace does not say."

    __slots__ = ()
    end_unix_s = Field('end_unix_s', '', "End in seconds since 1970-01-01 00:00 UTC.")
    executable = Field('executable', '', "Command line.")
    id = Field('id', '', "Job id of the batch system.")
    ranks = Field('ranks', '', "Number of processes.")
    run_time_s = Field('run_time_s', '', "Run time in seconds.")
    start_unix_s = Field('start_unix_s', '', "Start in seconds since 1970-01-01 00:00 UTC.")
    uid = Field('uid', '', "Numeric user id.")

class LayerCost(Part):
    "Time in I/O on a layer."

    __slots__ = ()
    layer = Field('layer', '', "`posix`, `mpiio`, `stdio`, `h5f`, `h5d`, `pnetcdf_file`, `pnetcdf_var`.")
    metadata_s = Field('metadata_s', '', "Seconds of opening, closing and the like, a rank's mean.")
    quartiles_s = Field('quartiles_s', '', "Seconds of the ranks in files of their own: the least, the quartiles, the most; `null` if all files are shared.")
    read_s = Field('read_s', '', "Seconds of reading, a rank's mean.")
    share = Field('share', '', "`slowest_s` / run time, at most 1; `null` if the run time is not known.")
    slowest_rank = Field('slowest_rank', '', "The rank with the most in files of its own; `null` if all files are shared.")
    slowest_s = Field('slowest_s', '', "Seconds of the slowest rank, at least: which rank is the slowest in all shared files together is not recorded.")
    write_s = Field('write_s', '', "Seconds of writing, a rank's mean.")

class LayerSummary(Part):
    "Totals of one kind of data in a trace (`posix`, `dxt-posix`, `heatmap-stdio`, `requests`, `phases`, ...)."

    __slots__ = ()
    bytes_read = Field('bytes_read', '', "Bytes read.")
    bytes_written = Field('bytes_written', '', "Bytes written.")
    first_s = Field('first_s', '', "Start of the first access, seconds on the trace's own clock.")
    last_s = Field('last_s', '', "End of the last access, seconds on the trace's own clock.")
    layer = Field('layer', '', "`posix`, `mpiio`, `stdio` (counters, or calls), `dfs`, `daos`, `h5f`, `h5d`, `pnetcdf_file`, `pnetcdf_var` (counters), `mpi`, `hdf5`, `pnetcdf`, `netcdf`, `user` (calls), `dxt-posix`, `dxt-mpiio` (segments), `heatmap-posix`, ..., `apmpi`, `bg/q` (records that are only counted), `requests`, `phases`.")
    reads = Field('reads', '', "Number of read operations; `null` if the layer does not count them, or a count is impossible.")
    records = Field('records', '', "Number of records: counter records, segments, heatmap records, requests or phases.")
    writes = Field('writes', '', "Number of write operations; `null` if the layer does not count them, or a count is impossible.")

class LayerTime(Part):
    "Time in I/O of one layer."

    __slots__ = ()
    layer = Field('layer', '', "Name as in [`IoTime::layer`].")
    mean_metadata_s = Field('mean_metadata_s', '', "Seconds of metadata, mean of all ranks.")
    mean_read_s = Field('mean_read_s', '', "Seconds of reading, mean of all ranks.")
    mean_write_s = Field('mean_write_s', '', "Seconds of writing, mean of all ranks.")
    slowest_s = Field('slowest_s', 'Bounds', "Seconds of the slowest rank.")

class LocalClass(Part):
    "The access class of one rank in a file during one time window."

    __slots__ = ()
    accesses = Field('accesses', '', "Number of accesses.")
    classifier = Field('classifier', '', "Method that gave the class.")
    end_offset = Field('end_offset', '', "Offset one past the last byte.")
    end_s = Field('end_s', '', "End of the last access, seconds on the trace's own clock; `null` (not a number) if the accesses have no times.")
    mix = Field('mix', '', "Whether there are reads, writes or both.")
    rank = Field('rank', '', "Rank.")
    sequentiality = Field('sequentiality', '', "Order of the offsets.")
    size = Field('size', '', "Sizes of the requests, and whether they vary.")
    start_offset = Field('start_offset', '', "Offset of the first byte.")
    start_s = Field('start_s', '', "Start of the first access, seconds on the trace's own clock; `null` (not a number) if the accesses have no times.")

class Loop(Part):
    "One loop of a nest. Lists of loops are innermost first."

    __slots__ = ()
    count = Field('count', '', "Passes of the loop.")
    stride = Field('stride', '', "Bytes from one pass to the next; may be negative or zero.")

class Measures(Part):
    "The statistics of an activity in one group."

    __slots__ = ()
    bytes = Field('bytes', '', "Bytes moved.")
    data_rate_bytes_per_s = Field('data_rate_bytes_per_s', '', "Mean data rate of single events, bytes a second.")
    duration_s = Field('duration_s', '', "Sum of the durations in seconds.")
    events = Field('events', '', "Events.")
    max_concurrency = Field('max_concurrency', '', "Largest number of events at the same moment.")
    relative_duration = Field('relative_duration', '', "Share of the durations of all activities of the group.")

class Mount(Part):
    "A file system; `null` what was not given."

    __slots__ = ()
    ost_rate = Field('ost_rate', '', "Bytes per second of one storage target.")
    path = Field('path', '', "Path of the mount point.")
    scratch = Field('scratch', '', "Large data belong here.")
    stripe_unit = Field('stripe_unit', '', "Bytes of a stripe.")
    type = Field('type', '', "Type, such as `lustre`.")

class MountUse(Part):
    "A mounted file system."

    __slots__ = ()
    bytes_read = Field('bytes_read', '', "Bytes read by POSIX and STDIO.")
    bytes_written = Field('bytes_written', '', "Bytes written by POSIX and STDIO.")
    files = Field('files', '', "Number of files.")
    kind = Field('kind', '', "Type, such as `lustre`.")
    path = Field('path', '', "Path of the mount point.")

class NextAccess(Part):
    "One access of a pattern, as it is expected."

    __slots__ = ()
    offset = Field('offset', '', "Bytes from the start of the file.")
    size = Field('size', '', "Bytes; `null` where sizes vary.")

class NodeReport(Part):
    "An activity. `<start>` and `<end>` are no activities and have no node."

    __slots__ = ()
    activity = Field('activity', '', "Name of the activity.")
    bytes = Field('bytes', '', "Bytes moved by transfers that succeeded.")
    color = Field('color', '', "Group that has it.")
    data_rate_bytes_per_s = Field('data_rate_bytes_per_s', '', "Mean over single events of bytes by duration, bytes per second; `null` if no event has both.")
    duration_s = Field('duration_s', '', "Sum of the durations in seconds.")
    events = Field('events', '', "Number of events.")
    max_concurrency = Field('max_concurrency', '', "Largest number of events at the same moment, over all cases.")
    rate_events = Field('rate_events', '', "Number of events in that mean: transfers that succeeded, with a duration above zero.")
    relative_duration = Field('relative_duration', '', "Share of the durations of all activities; `null` if none has any.")
    untimed_events = Field('untimed_events', '', "Number of events whose duration is not known.")

class NotChecked(Part):
    "A code that could not be checked."

    __slots__ = ()
    code = Field('code', '', "The code.")
    how = Field('how', '', "How to record that.")
    name = Field('name', '', "The name.")
    needs = Field('needs', '', "Data that it needs.")

class OtherPeriod(Part):
    "A further independent period."

    __slots__ = ()
    amplitude_bytes_per_s = Field('amplitude_bytes_per_s', '', "Amplitude of the cosine of this frequency in the signal, bytes per second.")
    confidence = Field('confidence', '', "With method `auto`: probability that the period is right within 5 %. With other methods: score of the detector, 0 to 1. Limited where bins of a heatmap are wide for the period (warning `near-bin-width`).")
    cycles = Field('cycles', '', "Number of periods seen, those without a burst included.")
    dft_bin = Field('dft_bin', '', "The bin of the DFT, if the period was taken from one.")
    frequency_hz = Field('frequency_hz', '', "Frequency in Hz: 1 / `period_s`.")
    period_s = Field('period_s', '', "Seconds from the start of one burst to the start of the next.")
    period_std_s = Field('period_std_s', '', "Standard error of the period in seconds.")
    phase_rad = Field('phase_rad', '', "Phase of that cosine at the start of the signal (`start_s`), radians.")
    prediction = Field('prediction', 'ReportPrediction', "Its next burst; `null` if it no longer holds where the trace ends.")
    relation = Field('relation', '', "When it holds, relative to the dominant period.")
    validity = Field('validity', '[Validity]', "Where it holds.")

class Overdue(Part):
    "A burst that was due and has not come."

    __slots__ = ()
    due_s = Field('due_s', '', "When it was due, seconds on the trace's own clock.")
    ended_probability = Field('ended_probability', '', "Probability that the period has ended here, by the rule of succession: n earlier silences of at least this length ended with a burst; with one that has not been seen, as rare as this one is long, the odds are 1 to n + 1 / (periods of silence).")

class PatternChange(Part):
    "Accesses that differ."

    __slots__ = ()
    after = Field('after', '', "After.")
    before = Field('before', '', "Share of the bytes, or the size or stride of most of the bytes, before.")
    file = Field('file', '', "Family of files.")
    kind = Field('kind', '', "Type and loops of the pattern.")
    op = Field('op', '', "`read` or `write`.")
    what = Field('what', '', "`new`, `gone`, `size` or `stride`.")

class PatternGroup(Part):
    "Patterns of one operation, type and size in one file, or in files whose names differ in digits only."

    __slots__ = ()
    access_size = Field('access_size', '', "Bytes of each access; `null` for sequential patterns.")
    bytes = Field('bytes', '', "Bytes moved.")
    file = Field('file', '', "Name of the file; of several, of the one whose pattern began first.")
    files = Field('files', '', "Number of files.")
    kind = Field('kind', '', "Type of the patterns.")
    levels = Field('levels', '[Loop]', "Loops of each pattern, innermost first; `null` if they differ.")
    op = Field('op', '', "Whether the accesses read or write.")
    patterns = Field('patterns', '', "Number of patterns.")
    period = Field('period', 'PatternPeriod', "Period of the accesses of all patterns together.")
    period_reason = Field('period_reason', '', "Why there is no period; `null` if there is one.")
    ranks = Field('ranks', '', "Number of ranks.")
    records = Field('records', '', "Number of accesses.")
    then = Field('then', '', "The operation right after each access to the same bytes; `null` for patterns of one operation.")

class PatternPeriod(Part):
    "The period of the accesses of a pattern or a group."

    __slots__ = ()
    confidence = Field('confidence', '', "Probability that the period is right within 5 %.")
    period_s = Field('period_s', '', "The period in seconds.")

class PatternReport(Part):
    "One pattern."

    __slots__ = ()
    access_size = Field('access_size', '', "Bytes of each access; `null` for a sequential pattern.")
    bytes = Field('bytes', '', "Bytes moved.")
    end_offset = Field('end_offset', '', "One past the highest byte.")
    end_s = Field('end_s', '', "End of the last access, seconds on the trace's own clock; `null` (not a number) if the accesses have no times.")
    family = Field('family', '', "Patterns with the same number are the same walk by the same rank through files whose names differ in digits only, such as the checkpoints of a run; `null` if it is the only one.")
    file = Field('file', '', "Name of the file.")
    kind = Field('kind', '', "Type of the pattern.")
    levels = Field('levels', '[Loop]', "Loops, innermost first; those of a sequential pattern go around all of its accesses, and it has none if there is one pass.")
    next = Field('next', '[NextAccess]', "The next accesses, if they were asked for.")
    op = Field('op', '', "Whether the accesses read or write.")
    period = Field('period', 'PatternPeriod', "Period of its accesses; that of its family if this is in the file for one burst.")
    period_reason = Field('period_reason', '', "Why there is no period; `null` if there is one.")
    rank = Field('rank', '', "Rank; of several, the first.")
    ranks = Field('ranks', 'Ranks', "The ranks that make it together: the outermost of the `levels` goes through them, so that pass i is made by rank `rank + i * step`. `null` for a pattern of one rank.")
    records = Field('records', '', "Number of accesses.")
    size_summary = Field('size_summary', 'SizeSummary', "Sizes of a sequential pattern; `null` for others.")
    sizes = Field('sizes', '', "Sizes of one pass of a sequential pattern in order: size and how often in a row; `null` for others, and where they are too many to keep.")
    start_offset = Field('start_offset', '', "Offset of the first access.")
    start_s = Field('start_s', '', "Start of the first access, seconds on the trace's own clock; `null` (not a number) if the accesses have no times.")
    stride = Field('stride', '', "Stride of the innermost loop; `null` for a sequential pattern.")
    then = Field('then', '', "The operation right after each access to the same bytes, where it is another one: a read-modify-write, whose innermost loop of stride 0 goes through the two. `null` for a pattern of one operation.")

class Patterns(Answer):
    "The access patterns of one trace, alone."

    __slots__ = ()
    coverage = Field('coverage', 'Coverage', "How much of the accesses the patterns explain.")
    groups = Field('groups', '[PatternGroup]', "The same in groups, those of the most bytes first.")
    patterns = Field('patterns', '[PatternReport]', "The patterns, in the order in which they began.")
    schema = Field('schema', '', "Name and version of the schema.")
    tool = Field('tool', 'Tool', "The program that wrote this.")
    trace = Field('trace', 'TraceSummary', "The trace.")
    warnings = Field('warnings', '[Warning]', "Warnings for the user.")

class PatternsReport(Part):
    "The patterns of a trace."

    __slots__ = ()
    coverage = Field('coverage', 'Coverage', "How much they explain.")
    groups = Field('groups', '[PatternGroup]', "The same in groups, those of the most bytes first.")
    patterns = Field('patterns', '[PatternReport]', "The patterns, in the order in which they began.")

class Period(Part):
    "Bursts that repeat at equal intervals."

    __slots__ = ()
    bursts = Field('bursts', '', "Number of bursts.")
    bytes = Field('bytes', '', "Bytes of all bursts.")
    frequency_hz = Field('frequency_hz', '', "Frequency in Hz: 1 / `period_s`.")
    longest_s = Field('longest_s', '', "Longest time between the starts of two bursts; `null` for one burst.")
    op = Field('op', '', "Operation of the bursts.")
    period_s = Field('period_s', '', "Mean time from the start of a burst to the start of the next; nominal where bursts are missed or lie around a grid.")
    shortest_s = Field('shortest_s', '', "Shortest time between the starts of two bursts; `null` for one burst.")
    windows = Field('windows', '[Window]', "Where it holds: from the start of the first burst to the end of the last.")

class Phase(Part):
    "A burst of I/O."

    __slots__ = ()
    bytes = Field('bytes', '', "Bytes of all ranks.")
    end_s = Field('end_s', '', "End of its last access.")
    op = Field('op', '', "Operation.")
    start_s = Field('start_s', '', "Start of its first access.")

class Prediction(Answer):
    "One prediction."

    __slots__ = ()
    bytes = Field('bytes', '', "Bytes of the next burst: median of those seen.")
    bytes_p95 = Field('bytes_p95', '', "Bytes not exceeded by 95 % of the bursts seen.")
    change_point = Field('change_point', '', "The period has changed since the prediction before.")
    change_s = Field('change_s', '', "When the new period began, seconds on the trace's own clock; `null` without a change.")
    characteristic_time_s = Field('characteristic_time_s', '', "The characteristic time of IO-Sets (Boito, Pallez, Teylo, Vidal, IEEE TPDS 2023) in seconds: the period or, while none holds, the mean time between the starts of successive bursts in the window, pauses left out (more than 8 times the median). `null` below three bursts, without idle time between them, and below a second for the first ten seconds, as requests follow each other within a burst.")
    clock = Field('clock', 'Clock', "What all times count from.")
    confidence = Field('confidence', '', "Probability that the period is right (within 5 %), calibrated; without a period, the probability of the best candidate, which was rejected.")
    cycles = Field('cycles', '', "Number of periods seen in the window.")
    emitted_unix_s = Field('emitted_unix_s', '', "When this was printed: seconds since 1970-01-01 00:00 UTC on the machine of the predictor; `null` if it was not.")
    frequency_range = Field('frequency_range', 'FrequencyRange', "How this frequency did before; `null` if neither this prediction nor its best rejected candidate has one.")
    idle_s = Field('idle_s', '', "Seconds from the end of a burst to the start of the next.")
    job = Field('job', '', "The job, where a source carries several.")
    mode = Field('mode', '', "Which transfers the answer is about; `null` if nothing is periodic.")
    next_end_s = Field('next_end_s', '', "End of the next burst, seconds on the trace's own clock.")
    next_start_probability = Field('next_start_probability', '', "Probability that the next burst begins within 1.645 `next_start_std_s` of `next_start_s`, by the rule of succession: the bursts so far that began within such a window, and eight whose windows held with 0.9 of the confidence.")
    next_start_s = Field('next_start_s', '', "Start of the next burst, after `now_s`, seconds on the trace's own clock.")
    next_start_std_s = Field('next_start_std_s', '', "Standard deviation of that start in seconds, no smaller than the errors of the predictions so far.")
    next_start_unix_s = Field('next_start_unix_s', '', "The same in seconds since 1970-01-01 00:00 UTC; `null` if the clock of the trace is not known.")
    now_s = Field('now_s', '', "Latest time that the data have reached, seconds on the trace's own clock.")
    overdue = Field('overdue', 'Overdue', "The burst that should have begun, if it is late by more than a quarter of the period; `null` else, while no period is known, and once a burst has come, in its place or not. A period is taken up again after a pause of any length, at the second burst that keeps to it.")
    period_s = Field('period_s', '', "The period in seconds; `null` if none holds now.")
    period_std_s = Field('period_std_s', '', "Standard error of the period in seconds.")
    periodic = Field('periodic', '', "Whether a period holds now.")
    ranks = Field('ranks', '', "Number of ranks, if the source reports it.")
    schema = Field('schema', '', "Name and version of the schema.")
    sequence = Field('sequence', '', "Number of the prediction of this job, from 0, without gaps.")
    state = Field('state', '', "Letter of the regime the job is in, given in order of appearance; `null` until one is known. A regime that returns gets its old letter back; letters of different runs do not compare.")
    valid_until_s = Field('valid_until_s', '', "Time up to which the prediction is of use, the start of the burst after the next, seconds on the trace's own clock.")
    warnings = Field('warnings', '[Warning]', "Warnings for the user.")
    window = Field('window', 'WindowSpan', "The part of the trace that the prediction rests on.")

class QualityReport(Part):
    "Records that were lost, excluded or clamped, and how exact the times are."

    __slots__ = ()
    bin_s = Field('bin_s', '', "Width of the bins of a heatmap, or time between two samples of counters, in seconds; `null` for other rows.")
    clamped = Field('clamped', '', "Number of records whose times or sizes had to be brought into range.")
    clock_backwards = Field('clock_backwards', '', "Number of times a clock stepped back.")
    partial = Field('partial', '', "Names of the parts of the trace that are known to be incomplete.")
    records_dropped = Field('records_dropped', '', "Number of records that could not be used.")
    records_left_out = Field('records_left_out', '', "Number of records ignored on purpose: failed calls, system files.")
    records_read = Field('records_read', '', "Number of records in the input.")
    timing = Field('timing', '', "The kind of one row, which decides how exact its times are.")

class Ranks(Part):
    "The ranks of a pattern that several make together: its outermost loop goes through them."

    __slots__ = ()
    count = Field('count', '', "Number of ranks.")
    step = Field('step', '', "Difference from one rank to the next.")

class Reason(Part):
    "A probable reason."

    __slots__ = ()
    after = Field('after', '', "After.")
    before = Field('before', '', "Before: a value, or the median of bursts or runs; `null` if it is not there.")
    change = Field('change', '', "After less before: of bursts the median of all differences (Hodges and Lehmann).")
    codes = Field('codes', '', "Findings that are new, gone or changed with it.")
    files = Field('files', '', "Families of files with most of the change.")
    high = Field('high', '', "High end of the interval.")
    lost_s = Field('lost_s', '', "Seconds of the difference in I/O time that it explains, below 0 if time is gained; `null` if it has no cost of its own.")
    low = Field('low', '', "Low end of the interval of 95 % of `change`; `null` without one.")
    p = Field('p', '', "p value, after Holm; `null` for values that are counted.")
    unit = Field('unit', '', "Unit of all values: `s`, `bytes`, `bytes/s`, `count`, `ratio`.")
    what = Field('what', '', "The property.")

class Regularity(Part):
    "How regular bursts are: the coefficient of variation of their gaps, standard deviation over mean."

    __slots__ = ()
    cv = Field('cv', '', "Coefficient of variation of the gaps from burst to burst; missing bursts count as gaps of their own. 0 for a clock, 1 for bursts at random.")
    cv_high = Field('cv_high', '', "Upper end.")
    cv_low = Field('cv_low', '', "Lower end of its interval of 95 %, for gaps with a normal distribution.")

class RemedyReport(Part):
    "A remedy for one library or file system."

    __slots__ = ()
    commands = Field('commands', '', "Commands, each as it is typed.")
    id = Field('id', '', "Number of the remedy, or the policy of an access class.")
    settings = Field('settings', '', "Hints of MPI-IO and of libraries: value by name.")
    system = Field('system', '', "The library or file system; `any` for all.")
    url = Field('url', '', "Where it is described; empty if nowhere.")
    why = Field('why', '', "Advice in words, if there is neither command nor setting, and the reason.")

class Report(ReportBase):
    "The report of one trace."

    __slots__ = ()
    clock = Field('clock', 'Clock', "The zero of all times.")
    patterns = Field('patterns', 'PatternsReport', "Access patterns; `null` if the trace has no offsets or they were not asked for.")
    quality = Field('quality', 'QualityReport', "Quality of the data.")
    schema = Field('schema', '', "Name and version of the schema.")
    signals = Field('signals', '[SignalReport]', "One entry per signal.")
    tool = Field('tool', 'Tool', "The program that wrote this.")
    trace = Field('trace', 'TraceSummary', "The trace.")
    warnings = Field('warnings', '[Warning]', "Warnings for the user.")

class ReportPrediction(Part):
    "The next burst."

    __slots__ = ()
    bytes = Field('bytes', '', "Bytes of the next burst: median of those seen, or what their steady growth leads to.")
    bytes_p95 = Field('bytes_p95', '', "Bytes not exceeded by 95 % of the bursts seen.")
    confidence = Field('confidence', '', "Confidence in the period, as for the dominant period.")
    idle_s = Field('idle_s', '', "Seconds without I/O before the next burst.")
    next_end_s = Field('next_end_s', '', "End of the next burst, seconds on the trace's own clock.")
    next_start_s = Field('next_start_s', '', "Start of the next burst, seconds on the trace's own clock.")
    next_start_std_s = Field('next_start_std_s', '', "Standard deviation of that start in seconds.")
    next_start_unix_s = Field('next_start_unix_s', '', "The same in seconds since 1970-01-01 00:00 UTC; `null` if the clock of the trace is not known.")
    now_in_burst = Field('now_in_burst', '', "Whether a burst is under way where the trace ends: it has begun, and is shorter than any before it. The next one is the one after it.")
    period_s = Field('period_s', '', "The period in seconds.")
    set10 = Field('set10', 'Set10', "Class of the job for the IO-Sets scheduling policy.")
    valid_until_s = Field('valid_until_s', '', "Time up to which the prediction is of use, the start of the burst after the next, seconds on the trace's own clock.")

class Row(Part):
    "A property that differs."

    __slots__ = ()
    after = Field('after', '', "After.")
    before = Field('before', '', "Before: a value, or the median of bursts or runs; `null` if it is not there.")
    change = Field('change', '', "After less before: of bursts the median of all differences (Hodges and Lehmann).")
    high = Field('high', '', "High end of the interval.")
    low = Field('low', '', "Low end of the interval of 95 % of `change`; `null` without one.")
    p = Field('p', '', "p value, after Holm; `null` for values that are counted.")
    unit = Field('unit', '', "Unit of all values: `s`, `bytes`, `bytes/s`, `count`, `ratio`.")
    what = Field('what', '', "The property.")

class Scores(Part):
    "How periodic a signal is. `null` where there is nothing to compute it from."

    __slots__ = ()
    correlation = Field('correlation', '', "Correlation of the signal with the dominant cosine, −1 to 1.")
    period_correlation = Field('period_correlation', '', "Mean over the periods of the correlation inside each, weighed by how much of a period is in the run.")
    recurrence_entropy = Field('recurrence_entropy', '', "Recurrence period density entropy (Little et al., BioMedical Engineering OnLine 6:23, 2007): entropy of the times after which the signal comes back to what it was, over that of equally likely times. 0: always after the same time.")
    spectral_entropy = Field('spectral_entropy', '', "Entropy of the normalised powers over that of equal ones: 0 for a line, 1 for equal powers.")
    spectral_flatness = Field('spectral_flatness', '', "Geometric over arithmetic mean of the powers of the spectrum: 0 for a line, 1 for white noise of equal powers.")

class Set10(Part):
    "Class of a job in IO-Sets (Boito, Pallez et al., TPDS 2023): jobs of one set take turns."

    __slots__ = ()
    characteristic_s = Field('characteristic_s', '', "Seconds between the starts of I/O phases.")
    set = Field('set', '', "Number of the set: round(log10(`characteristic_s`)).")

class Side(Part):
    "The runs of one side."

    __slots__ = ()
    traces = Field('traces', '[TraceSummary]', "The traces.")

class SignalReport(SignalBase):
    "One signal and its results."

    __slots__ = ()
    abstraction_error = Field('abstraction_error', '', "Sampling error: bytes that sampling lost or added, as a share of `bytes`.")
    bursts = Field('bursts', 'Bursts', "The bursts of the dominant period; `null` without one.")
    bytes = Field('bytes', '', "Bytes moved.")
    components = Field('components', '[Component]', "The strongest cosines of the signal, the mean first; empty unless asked for.")
    end_s = Field('end_s', '', "End of the last transfer, seconds on the trace's own clock.")
    fit = Field('fit', 'Fit', "Errors of the reconstruction, if it was fitted.")
    mode = Field('mode', '', "The transfers that the signal consists of.")
    period = Field('period', 'Detection', "The period, or why there is none.")
    prediction = Field('prediction', 'ReportPrediction', "The next burst; `null` unless a period holds where the trace ends.")
    samples = Field('samples', '', "Number of samples.")
    sampling = Field('sampling', '', "How it was sampled.")
    sampling_hz = Field('sampling_hz', '', "Sampling rate in Hz.")
    scores = Field('scores', 'Scores', "Further scores of periodicity; `null` unless asked for.")
    start_s = Field('start_s', '', "Start of the first transfer, seconds on the trace's own clock.")
    track = Field('track', '[TrackPoint]', "The period over time, from methods that follow it (`stft`, `cwt`); empty otherwise.")
    validity = Field('validity', '[Validity]', "Where the dominant period holds.")

class SizeSummary(Part):
    "Five-number summary of the sizes of a sequential pattern, in bytes."

    __slots__ = ()
    max = Field('max', '', "Largest size in bytes.")
    median = Field('median', '', "Median of the sizes in bytes.")
    min = Field('min', '', "Smallest size in bytes.")
    q1 = Field('q1', '', "Lower quartile of the sizes in bytes.")
    q3 = Field('q3', '', "Upper quartile of the sizes in bytes.")

class SpectrumStatistics(Part):
    "Mean and standard deviation of the powers of a spectrum, normalised to a sum of 1 without the mean of the signal."

    __slots__ = ()
    mean = Field('mean', '', "Mean normalised power of a frequency bin.")
    std = Field('std', '', "Population standard deviation of the normalised powers.")

class Spread(Part):
    "Smallest, middle and largest value."

    __slots__ = ()
    max = Field('max', '', "Largest value.")
    median = Field('median', '', "Median.")
    min = Field('min', '', "Smallest value.")

class System(Part):
    "A machine; `null` what was not given."

    __slots__ = ()
    burst_buffer = Field('burst_buffer', 'BurstBuffer', "Storage that takes bursts and drains between them.")
    cores_per_node = Field('cores_per_node', '', "Cores of a node.")
    memory_per_node = Field('memory_per_node', '', "Memory of a node in bytes.")
    mounts = Field('mounts', '[Mount]', "File systems.")
    node_mtbf_h = Field('node_mtbf_h', '', "Mean time between failures of a node in hours.")
    nodes = Field('nodes', '', "Nodes of the job.")

class TimeWindow(Part):
    "A time, in seconds on the trace's own clock."

    __slots__ = ()
    end_s = Field('end_s', '', "Its end.")
    start_s = Field('start_s', '', "Its start.")

class Tool(Part):
    "Program and version that made a report."

    __slots__ = ()
    name = Field('name', '', "Name of the program: `iophase`.")
    version = Field('version', '', "Version of the program.")

class TraceSummary(Part):
    "The trace, in numbers."

    __slots__ = ()
    bytes_read = Field('bytes_read', '', "Bytes read in these rows.")
    bytes_written = Field('bytes_written', '', "Bytes written in these rows.")
    end_s = Field('end_s', '', "End of the last row, seconds on the trace's own clock.")
    files = Field('files', '', "Number of files in the rows analysed.")
    format = Field('format', '', "Name of the file format: `darshan`, `tmio`, `strace` and so on.")
    job = Field('job', 'Job', "Facts about the job; `null` if the trace has none.")
    layer = Field('layer', '', "Layer that was analysed, if the format records several.")
    path = Field('path', '', "Path of the trace as the user gave it.")
    ranks = Field('ranks', '', "Number of processes of the job, or of ranks seen if the trace does not say.")
    records = Field('records', '', "Number of rows analysed; `quality.timing` says what a row is.")
    start_s = Field('start_s', '', "Start of the first row, seconds on the trace's own clock.")

class TrackPoint(Part):
    "The period at one time, for methods that follow it."

    __slots__ = ()
    period_s = Field('period_s', '', "The strongest period around that time, in seconds.")
    time_s = Field('time_s', '', "Time, seconds on the trace's own clock.")

class TruePattern(Part):
    "Loops that a rank executed over the accesses to one file, in canonical form: no loop of one pass, and no loop that continues where the loop inside it ends."

    __slots__ = ()
    access_size = Field('access_size', '', "Bytes of an access; `null` for sequential.")
    end_offset = Field('end_offset', '', "One past the highest byte.")
    end_s = Field('end_s', '', "End of the last access.")
    file = Field('file', '', "File name.")
    kind = Field('kind', '', "Kind.")
    levels = Field('levels', '[Loop]', "Loops, innermost first; those of a sequential pattern go over the whole list of its sizes.")
    op = Field('op', '', "Read or write.")
    period = Field('period', 'TruthPatternPeriod', "Its period; `null` if it is part of one burst, or not periodic.")
    period_reason = Field('period_reason', '', "Why there is no period; `null` if there is one.")
    rank = Field('rank', '', "Rank; the first of several.")
    ranks = Field('ranks', 'TruthRanks', "The ranks over which the outermost loop goes; `null` for one rank.")
    records = Field('records', '', "Number of accesses.")
    size_summary = Field('size_summary', 'TruthSizeSummary', "Summary of the sizes of a sequential pattern; `null` for others.")
    sizes = Field('sizes', '', "Sizes of a sequential pattern in order, as pairs of a size and how many accesses in a row have it; `null` for others.")
    start_offset = Field('start_offset', '', "Offset of the first access.")
    start_s = Field('start_s', '', "Start of the first access.")
    stride = Field('stride', '', "Stride of the innermost loop; `null` for sequential and for a single access.")

class Truth(Answer):
    "The truth of a synthetic trace. Times are seconds on its clock, offsets and sizes bytes. Every access is either in exactly one of the `patterns` or counted in `unpatterned`."

    __slots__ = ()
    bytes_read = Field('bytes_read', '', "Bytes read.")
    bytes_written = Field('bytes_written', '', "Bytes written.")
    end_s = Field('end_s', '', "End of the last access, seconds on the trace's own clock.")
    files = Field('files', '', "Number of files.")
    parameters = Field('parameters', '', "Parameters of the workload, including defaults.")
    patterns = Field('patterns', '[TruePattern]', "The loops that the ranks executed, by rank and file.")
    periodic = Field('periodic', '', "True if there are `periods`.")
    periods = Field('periods', '[Period]', "The periods of the job, most bytes first.")
    phases = Field('phases', '[Phase]', "Bursts of I/O, in the order of time.")
    ranks = Field('ranks', '', "Number of ranks.")
    records = Field('records', '', "Number of records of the trace.")
    schema = Field('schema', '', "Name and version of the schema.")
    seed = Field('seed', '', "Seed of the random numbers.")
    start_s = Field('start_s', '', "Start of the first access, seconds on the trace's own clock.")
    unpatterned = Field('unpatterned', '[Unpatterned]', "Accesses in random order, by file. They are in no pattern.")
    workload = Field('workload', '', "Name of the workload.")

class TruthPatternPeriod(Part):
    "Period of the accesses of a pattern."

    __slots__ = ()
    confidence = Field('confidence', '', "1: the workload set the period.")
    period_s = Field('period_s', '', "Seconds.")

class TruthRanks(Part):
    "Ranks over which the outermost loop of a pattern goes."

    __slots__ = ()
    count = Field('count', '', "How many.")
    step = Field('step', '', "From one to the next.")

class TruthSizeSummary(Part):
    "Five-number summary of sizes."

    __slots__ = ()
    max = Field('max', '', "Largest.")
    median = Field('median', '', "Median.")
    min = Field('min', '', "Smallest.")
    q1 = Field('q1', '', "First quartile, interpolated linearly.")
    q3 = Field('q3', '', "Third quartile.")

class Unpatterned(Part):
    "Accesses to a file that are in no pattern."

    __slots__ = ()
    bytes = Field('bytes', '', "Their bytes.")
    file = Field('file', '', "File name.")
    op = Field('op', '', "Read or write.")
    order = Field('order', '', "Their order.")
    places = Field('places', '', "Places in the file where an access may lie.")
    records = Field('records', '', "Number of accesses.")
    repeats = Field('repeats', '', "How often the same order was executed; `records` counts all of them.")
    unit = Field('unit', '', "Bytes of such a place; `null` where sizes vary.")

class Validity(Part):
    "A stretch of time in which the dominant period holds."

    __slots__ = ()
    correlation = Field('correlation', '', "Mean correlation of the signal with the cosine of the period, −1 to 1; `null` if it was not computed.")
    end_s = Field('end_s', '', "End of the last burst there, seconds on the trace's own clock.")
    start_s = Field('start_s', '', "Start of the first burst there, seconds on the trace's own clock.")

class Warning(Part):
    "Something a person should know before trusting the numbers."

    __slots__ = ()
    code = Field('code', '', "Stable code in kebab case, such as `damaged-tail`; `docs/contract.md` lists all.")
    message = Field('message', '', "Description in one sentence.")
    remedy = Field('remedy', '', "Remedy; `null` if nothing can be done.")

class Window(Part):
    "An interval of time."

    __slots__ = ()
    end_s = Field('end_s', '', "End, seconds on the trace's own clock.")
    start_s = Field('start_s', '', "Start, seconds on the trace's own clock.")

class WindowSpan(Part):
    "The stretch of the trace that a prediction rests on."

    __slots__ = ()
    end_s = Field('end_s', '', "End of the last transfer in the window, seconds on the trace's own clock; `null` while nothing has been received.")
    start_s = Field('start_s', '', "Start of the first transfer in the window, seconds on the trace's own clock; `null` while nothing has been received.")
