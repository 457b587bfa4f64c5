# Made by scripts/generate.py from the JSON Schemas. Do not edit.

from typing import Any, Literal

from ._base import Answer, ComparisonBase, DfgBase, Part, PeriodBase, ReportBase, SignalBase


class AccessSizes(Part):
    "Accesses by size."

    @property
    def common(self) -> list[CommonSize]:
        "The commonest sizes in bytes, as far as the four of each file tell."
    @property
    def consecutive(self) -> list[float] | None:
        "Shares of the reads and writes that start where the last access ended."
    @property
    def layer(self) -> str:
        "The layer."
    @property
    def reads(self) -> list[int]:
        "Reads by class of size: up to 100 bytes, 1 KB, 10 KB, 100 KB, 1 MiB, 4 MiB, 10 MiB, 100 MiB, 1 GiB, and more."
    @property
    def sequential(self) -> list[float] | None:
        "Shares of the reads and writes that start where the last access ended or later; `null` if the layer does not count them."
    @property
    def writes(self) -> list[int]:
        "Writes by class of size."

class ActivityChange(Part):
    "An activity in both groups."

    @property
    def activity(self) -> str:
        "Its name."
    @property
    def duration_difference_s(self) -> float:
        "Seconds a case, green less red: what the order of the list goes by."
    @property
    def green(self) -> Measures | None:
        "In the green cases; `null` if it is not there."
    @property
    def red(self) -> Measures | None:
        "In the red cases; `null` if it is not there."

class Advice(Part):
    "A policy, why, and what to set."

    @property
    def hints(self) -> dict[str, str]:
        "Settings: value by name."
    @property
    def policy(self) -> str:
        "Name of the policy."
    @property
    def why(self) -> str:
        "Reason, from the trace."

class Aside(Part):
    "Small accesses between the data, as a library makes them for itself: headers, indices."

    @property
    def accesses(self) -> int:
        "Number of accesses."
    @property
    def bytes(self) -> int:
        "Bytes moved."
    @property
    def bytes_written(self) -> int:
        "Bytes written, of those moved."
    @property
    def largest_bytes(self) -> int:
        "Size of the largest access in bytes."
    @property
    def ranks(self) -> list[int]:
        "Ranks that make them."

class Bounds(Part):
    "A value that the data only bound; both ends are equal where it is exact."

    @property
    def high(self) -> float:
        "High end."
    @property
    def low(self) -> float:
        "Low end."

class BurstBuffer(Part):
    "Storage that takes bursts and drains between them."

    @property
    def capacity(self) -> float:
        "Bytes that it holds."
    @property
    def rate(self) -> float:
        "Bytes per second that the job can write to it."

class Bursts(Part):
    "The bursts of the dominant period."

    @property
    def bytes(self) -> ByteSpread:
        "Bytes per burst."
    @property
    def count(self) -> int:
        "Number of bursts."
    @property
    def duty_cycle(self) -> float:
        "Share of the period that a burst lasts: median width / period."
    @property
    def regularity(self) -> Regularity | None:
        "How regular they are; `null` for fewer than three gaps."
    @property
    def starts_s(self) -> list[float]:
        "Start of each burst, seconds on the trace's own clock."
    @property
    def width_s(self) -> Spread:
        "Seconds from the first to the last byte of a burst."

class ByteRange(Part):
    "Bytes from `start` to before `end`."

    @property
    def end(self) -> int:
        "Offset one past the last byte."
    @property
    def start(self) -> int:
        "Offset of the first byte."

class ByteSpread(Part):
    "Smallest, middle and largest number of bytes."

    @property
    def max(self) -> int:
        "Largest number of bytes."
    @property
    def median(self) -> int:
        "Median number of bytes."
    @property
    def min(self) -> int:
        "Smallest number of bytes."

class Candidate(Part):
    "A period that was considered."

    @property
    def confidence(self) -> float:
        "Probability or score, as for the dominant period."
    @property
    def frequency_hz(self) -> float:
        "Frequency in Hz: 1 / `period_s`."
    @property
    def harmonic_of(self) -> float | None:
        "Frequency in Hz of the candidate of which this is a harmonic; `null` if it is none."
    @property
    def period_s(self) -> float:
        "Period in seconds."
    @property
    def score(self) -> float:
        "Score of the detector (the z-score or its equivalent), or the logit of the classifier."

class CaseReport(Part):
    "A case."

    @property
    def case(self) -> str:
        "Name of the case: `cid_host_rid`, with `#pid` where cases are split by process."
    @property
    def cid(self) -> str:
        "Identifier of the command."
    @property
    def events(self) -> int:
        "Number of events in the graph."
    @property
    def file(self) -> str:
        "File that the case was read from."
    @property
    def group(self) -> Literal['green', 'red'] | None:
        "Group of the case, if two are compared."
    @property
    def host(self) -> str | None:
        "Name of the machine."
    @property
    def pid(self) -> int | None:
        "Process id."
    @property
    def rid(self) -> str | None:
        "Launching process, or rank."

class Classes(Answer):
    "The classes of all files of a trace."

    @property
    def advice(self) -> list[Advice]:
        "Settings for the job as a whole."
    @property
    def files(self) -> list[FileClasses]:
        "Files, in the order of their first access."
    @property
    def path(self) -> str:
        "Path of the trace as the user gave it."
    @property
    def records(self) -> int:
        "Number of accesses classified."
    @property
    def schema(self) -> Literal['iophase.classes.v1']:
        "Name and version of the schema."
    @property
    def warnings(self) -> list[Warning]:
        "Warnings for the user."

class Clock(Part):
    "The zero of the times of a trace."

    @property
    def kind(self) -> Literal['job-start', 'unix', 'midnight', 'trace']:
        "The zero of the clock."
    @property
    def zero_unix_s(self) -> float | None:
        "The zero in seconds since 1970-01-01 00:00 UTC; `null` if it is not known."

class CommonSize(Part):
    "A common access size."

    @property
    def count(self) -> int:
        "Number of accesses."
    @property
    def size(self) -> int:
        "Bytes."

class Comparison(ComparisonBase):
    "Two sets of runs against each other."

    @property
    def after(self) -> Side:
        "The runs after."
    @property
    def before(self) -> Side:
        "The runs before."
    @property
    def bursts(self) -> list[Row]:
        "Properties of bursts that differ."
    @property
    def files(self) -> list[FileChange]:
        "Families of files that differ."
    @property
    def findings(self) -> FindingChanges:
        "Findings that differ."
    @property
    def graph(self) -> list[GraphChange]:
        "Edges of the graph of calls whose frequency differs."
    @property
    def io_time(self) -> IoTimeChange:
        "Time in I/O."
    @property
    def job(self) -> list[Fact]:
        "Facts of the jobs that differ."
    @property
    def layers(self) -> list[Row]:
        "Bytes, calls and sizes that differ, by layer."
    @property
    def patterns(self) -> list[PatternChange]:
        "Access patterns that differ."
    @property
    def periods(self) -> list[Row]:
        "Periods that differ."
    @property
    def reasons(self) -> list[Reason]:
        "Reasons of the difference, by cost; those without a cost from the cause to the effect."
    @property
    def schema(self) -> Literal['iophase.comparison.v1']:
        "Name and version of the schema."
    @property
    def time(self) -> list[Row]:
        "Time in I/O by kind, share of the run and imbalance, where they differ."
    @property
    def tool(self) -> Tool:
        "The program that wrote this."
    @property
    def unchanged(self) -> list[str]:
        "Properties that were compared and do not differ."
    @property
    def verdict(self) -> Literal['faster', 'slower', 'same', 'different-work', 'cannot-tell']:
        "The answer."
    @property
    def warnings(self) -> list[Warning]:
        "Warnings for the user."

class Component(Part):
    "A cosine a cos(2π f (t − start) + φ) of the signal; f = 0 is the mean."

    @property
    def amplitude_bytes_per_s(self) -> float:
        "Amplitude a in bytes per second."
    @property
    def frequency_hz(self) -> float:
        "Frequency f in Hz; 0 for the mean."
    @property
    def phase_rad(self) -> float:
        "Phase φ at the start of the signal (`start_s`), radians."

class CounterReport(Part):
    "Tables of the counters of a trace."

    @property
    def access_sizes(self) -> list[AccessSizes]:
        "Accesses by size, by layer."
    @property
    def cost(self) -> list[LayerCost]:
        "Time in I/O, by layer."
    @property
    def families(self) -> list[Family]:
        "Families of files, those that took most time first; digits in names are replaced by `#`."
    @property
    def families_total(self) -> int:
        "Number of families."
    @property
    def files(self) -> list[FileKind]:
        "Files by what was done with them, by layer."
    @property
    def hints(self) -> str | None:
        "MPI-IO hints with which the tracer wrote its log; `null` if it names none."
    @property
    def mounts(self) -> list[MountUse]:
        "Mounted file systems with files of the job."
    @property
    def operations(self) -> dict[str, dict[str, int]]:
        "Number of calls by name, by layer."

class Coverage(Part):
    "How much of a trace the patterns explain."

    @property
    def bytes(self) -> int:
        "Bytes that the accesses move."
    @property
    def folded_patterns(self) -> int:
        "Patterns that are counted here and not listed: those of fewest bytes, where a trace has more than about a hundred thousand."
    @property
    def matched(self) -> int:
        "Accesses that belong to a pattern."
    @property
    def matched_bytes(self) -> int:
        "Bytes that those in a pattern move."
    @property
    def predicted(self) -> int:
        "Accesses that an open pattern was waiting for: predicted before they happened."
    @property
    def records(self) -> int:
        "Accesses: reads and writes at a known place."

class Detection(PeriodBase):
    "The answer for one signal."

    @property
    def candidates(self) -> list[Candidate]:
        "Periods that were considered, best first."
    @property
    def detector(self) -> Literal['auto', 'z-score', 'dbscan', 'isolation-forest', 'lof', 'peaks']:
        "How outliers of the spectrum were found."
    @property
    def dominant(self) -> Dominant | None:
        "The period that holds where the trace ends; if several do, or none, the one that moves the most bytes."
    @property
    def method(self) -> Literal['auto', 'dft', 'dwt', 'stft', 'cwt', 'autocorrelation']:
        "Method that searched for the period."
    @property
    def others(self) -> list[OtherPeriod]:
        "Further independent periods."
    @property
    def periodic(self) -> bool | None:
        "Whether there is a period; `null` if the data cannot tell (verdict `not-resolvable`)."
    @property
    def spectrum(self) -> SpectrumStatistics | None:
        "Statistics of the power spectrum."
    @property
    def verdict(self) -> Literal['periodic', 'irregular', 'single-burst', 'too-few-cycles', 'constant', 'empty', 'not-resolvable']:
        "The answer in one word."

class Dfg(DfgBase):
    "A directly-follows graph."

    @property
    def bytes(self) -> int:
        "Bytes moved."
    @property
    def cases(self) -> list[CaseReport]:
        "The cases."
    @property
    def comparison(self) -> DfgComparison | None:
        "The two groups side by side; `null` if nothing is compared."
    @property
    def duration_s(self) -> float:
        "Sum of all durations in seconds."
    @property
    def edges(self) -> list[EdgeReport]:
        "Edges, by the names of their ends."
    @property
    def events(self) -> int:
        "Number of events in the graph."
    @property
    def interrupted_calls(self) -> int:
        "Number of interrupted calls that were made again; they are no events."
    @property
    def map(self) -> str:
        "Template of the names of activities."
    @property
    def nodes(self) -> list[NodeReport]:
        "Activities, by name."
    @property
    def schema(self) -> Literal['iophase.dfg.v1']:
        "Name and version of the schema."
    @property
    def unmapped_events(self) -> int:
        "Number of events left out: on system files, without a path, or outside of the selection."
    @property
    def warnings(self) -> list[Warning]:
        "Warnings for the user."

class DfgComparison(Part):
    "Two groups side by side."

    @property
    def activities(self) -> list[ActivityChange]:
        "Activities of either, those whose duration a case differs most first."
    @property
    def edges(self) -> list[EdgeChange]:
        "Edges whose count a case differs, those that differ most first."
    @property
    def green(self) -> GroupTotals:
        "All green cases."
    @property
    def only_green(self) -> Exclusive:
        "Activities and edges of green cases alone."
    @property
    def only_red(self) -> Exclusive:
        "Activities and edges of red cases alone."
    @property
    def red(self) -> GroupTotals:
        "All red cases."

class Dominant(Part):
    "A period that was found."

    @property
    def amplitude_bytes_per_s(self) -> float:
        "Amplitude of the cosine of this frequency in the signal, bytes per second."
    @property
    def confidence(self) -> float:
        "With method `auto`: probability that the period is right within 5 %. With other methods: score of the detector, 0 to 1. Limited where bins of a heatmap are wide for the period (warning `near-bin-width`)."
    @property
    def cycles(self) -> float:
        "Number of periods seen, those without a burst included."
    @property
    def dft_bin(self) -> int | None:
        "The bin of the DFT, if the period was taken from one."
    @property
    def frequency_hz(self) -> float:
        "Frequency in Hz: 1 / `period_s`."
    @property
    def period_s(self) -> float:
        "Seconds from the start of one burst to the start of the next."
    @property
    def period_std_s(self) -> float | None:
        "Standard error of the period in seconds."
    @property
    def phase_rad(self) -> float:
        "Phase of that cosine at the start of the signal (`start_s`), radians."

class EdgeChange(Part):
    "An edge whose counts differ."

    @property
    def difference(self) -> float:
        "Count a case, green less red: what the order of the list goes by."
    @property
    def from_(self) -> str:
        "An activity or `<start>`."
    @property
    def green(self) -> int:
        "How often in the green cases."
    @property
    def red(self) -> int:
        "How often in the red cases."
    @property
    def to(self) -> str:
        "An activity or `<end>`."

class EdgeRef(Part):
    "An edge of one group."

    @property
    def count(self) -> int:
        "How often `to` directly follows `from`."
    @property
    def from_(self) -> str:
        "An activity or `<start>`."
    @property
    def to(self) -> str:
        "An activity or `<end>`."

class EdgeReport(Part):
    "An edge."

    @property
    def color(self) -> Literal['green', 'red', 'none']:
        "Group that has it."
    @property
    def count(self) -> int:
        "How often `to` directly follows `from`."
    @property
    def from_(self) -> str:
        "An activity or `<start>`."
    @property
    def to(self) -> str:
        "An activity or `<end>`."

class Example(Part):
    "A request."

    @property
    def end_s(self) -> float:
        "End in seconds on the trace's own clock."
    @property
    def file(self) -> str:
        "Name of the file."
    @property
    def offset(self) -> int | None:
        "Offset; `null` if the trace does not say."
    @property
    def rank(self) -> int:
        "Rank."
    @property
    def size(self) -> int:
        "Bytes."
    @property
    def start_s(self) -> float:
        "Start in seconds on the trace's own clock."

class Exclusive(Part):
    "Activities and edges that only one group has."

    @property
    def activities(self) -> list[str]:
        "Activities, by name."
    @property
    def edges(self) -> list[EdgeRef]:
        "Edges, the most frequent first."

class Expected(Part):
    "The forecast of a model of earlier runs for a file, before it is accessed."

    @property
    def accesses(self) -> int:
        "Number of accesses."
    @property
    def bytes(self) -> int:
        "Bytes moved."
    @property
    def global_(self) -> list[ExpectedClass]:
        "Classes in the order in which they come."
    @property
    def learned_from(self) -> str:
        "The file of the earlier runs that is matched: the same name, or one that differs in its digits."
    @property
    def passes(self) -> float:
        "How often each rank goes over its bytes, at most."
    @property
    def runs(self) -> int:
        "Number of earlier runs."

class ExpectedClass(Part):
    "A class that a file will have for a while."

    @property
    def advice(self) -> list[Advice]:
        "Settings that follow from it."
    @property
    def bytes(self) -> int:
        "Bytes moved."
    @property
    def mix(self) -> Literal['read-only', 'write-only', 'read-write']:
        "Whether there are reads, writes or both."
    @property
    def passes(self) -> float:
        "How often each rank goes over its bytes meanwhile."
    @property
    def ranks(self) -> int:
        "Number of ranks."
    @property
    def sequentiality(self) -> Literal['global-sequential', 'partitioned-sequential', 'interleaved-sequential', 'global-strided', 'partitioned-strided', 'single-rank', 'non-sequential']:
        "Order of the offsets, over all ranks."
    @property
    def size(self) -> Literal['uniform-small', 'uniform-large', 'variable-small', 'variable-large', 'variable']:
        "Sizes of the requests, and whether they vary."

class Fact(Part):
    "A fact that differs."

    @property
    def after(self) -> str:
        "After."
    @property
    def before(self) -> str:
        "Before."
    @property
    def what(self) -> str:
        "The fact."

class Family(Part):
    "A family of files on all layers."

    @property
    def bytes_read(self) -> int:
        "Bytes read."
    @property
    def bytes_written(self) -> int:
        "Bytes written."
    @property
    def file(self) -> str:
        "Name of the file; of several with `#` for digits."
    @property
    def files(self) -> int:
        "Number of files."
    @property
    def layer(self) -> str:
        "The lowest layer that has it."
    @property
    def metadata_s(self) -> float:
        "Seconds of opening, closing and the like, all ranks."
    @property
    def ranks(self) -> int | None:
        "Number of ranks; `null` if the counters are of all ranks."
    @property
    def read_s(self) -> float:
        "Seconds of reading in the outermost layer, all ranks."
    @property
    def write_s(self) -> float:
        "Seconds of writing, all ranks."

class FileChange(Part):
    "A family of files that differs."

    @property
    def after(self) -> str | None:
        "After."
    @property
    def before(self) -> str | None:
        "Before; `null` if it is not there."
    @property
    def file(self) -> str:
        "Its name, without the folder of the run; digits are `#`."
    @property
    def what(self) -> str:
        "`appeared`, `vanished`, `class`, `stripes`, `mount`, `bytes` or `count`."

class FileClasses(Part):
    "The classes of one file."

    @property
    def aside(self) -> Aside | None:
        "Accesses that are in no class, since they are none of the program's data; `null` if there are none."
    @property
    def expected(self) -> Expected | None:
        "Behaviour of earlier runs, known when the file is opened; `null` without a model that knows the file."
    @property
    def file(self) -> str | None:
        "Name of the file; `null` if the trace does not say."
    @property
    def global_(self) -> list[GlobalClass]:
        "Classes of the whole job, by time."
    @property
    def local(self) -> list[LocalClass]:
        "Classes of the single ranks, by rank and time."

class FileKind(Part):
    "Files of one kind."

    @property
    def files(self) -> int:
        "Number of files."
    @property
    def kind(self) -> str:
        "`read-only`, `write-only`, `read-write` or `opened`."
    @property
    def largest_bytes(self) -> int | None:
        "Largest of them."
    @property
    def layer(self) -> str:
        "The layer."
    @property
    def mean_bytes(self) -> int | None:
        "Mean of the files' sizes, by the highest byte accessed; `null` if the layer does not know it."

class FileShare(Part):
    "A family of files in a finding."

    @property
    def bytes(self) -> int:
        "Bytes."
    @property
    def count(self) -> int:
        "Requests, calls or files, as the finding counts."
    @property
    def file(self) -> str:
        "Name of the file; of several with `#` for digits."
    @property
    def files(self) -> int:
        "Number of files."
    @property
    def ranges(self) -> list[ByteRange]:
        "Byte ranges of all files of the family, at most 16: smaller gaps are left out; empty without requests."
    @property
    def rank_list(self) -> list[int]:
        "The first of the ranks, at most 16; empty without requests."
    @property
    def ranks(self) -> int | None:
        "Ranks; `null` for files with the totals of all ranks."
    @property
    def time_s(self) -> float:
        "Seconds of the ranks in it."
    @property
    def windows(self) -> list[TimeWindow]:
        "Times of the requests, at most 16: smaller gaps are left out; empty without requests."

class Finding(Part):
    "A finding."

    @property
    def also(self) -> list[str]:
        "Codes that describe the same requests of the same files."
    @property
    def audience(self) -> Literal['user', 'developer', 'operator']:
        "Who can do something about it."
    @property
    def certainty(self) -> Literal['exact', 'bound', 'modelled']:
        "How sure the numbers are."
    @property
    def code(self) -> str:
        "Stable code."
    @property
    def detail(self) -> str:
        "The evidence, in numbers."
    @property
    def drishti(self) -> list[str]:
        "Triggers of Drishti for the same."
    @property
    def examples(self) -> list[Example]:
        "The longest requests, at most five; empty without requests."
    @property
    def files(self) -> list[FileShare]:
        "The families of files that take most of the time, or of the bytes; digits in names are replaced by `#`."
    @property
    def files_total(self) -> int:
        "Number of files."
    @property
    def layer(self) -> str:
        "Layer of the I/O stack: `posix`, `mpiio`, `stdio`, `hdf5`, `pnetcdf`, `lustre` or `job`."
    @property
    def lost_basis(self) -> str | None:
        "How `lost_s` was made; `null` with it."
    @property
    def lost_low_s(self) -> float | None:
        "Seconds that can be gained at least, where `lost_s` is an upper bound; else as `lost_s`."
    @property
    def lost_s(self) -> float | None:
        "Seconds that could be gained; `null` if not known."
    @property
    def measured(self) -> dict[str, float]:
        "Numbers behind it."
    @property
    def name(self) -> str:
        "Stable name."
    @property
    def remedies(self) -> list[RemedyReport]:
        "Remedies."
    @property
    def severity(self) -> Literal['info', 'warning', 'critical']:
        "How much it matters."
    @property
    def threshold(self) -> dict[str, float]:
        "Thresholds."
    @property
    def time_low_s(self) -> float | None:
        "Seconds spent in it at least, where `time_s` is modelled from counters; else as `time_s`."
    @property
    def time_s(self) -> float | None:
        "Seconds spent in it, an upper bound of the gain; `null` if not known."
    @property
    def title(self) -> str:
        "Title."
    @property
    def why(self) -> str:
        "Why it costs time."

class FindingChange(Part):
    "A finding whose cost differs."

    @property
    def after_s(self) -> float:
        "Seconds lost after."
    @property
    def before_s(self) -> float:
        "Seconds lost before."
    @property
    def code(self) -> str:
        "The code."

class FindingChanges(Part):
    "Findings that differ."

    @property
    def changed(self) -> list[FindingChange]:
        "Codes whose cost differs."
    @property
    def gone(self) -> list[str]:
        "Codes that are found before only."
    @property
    def new(self) -> list[str]:
        "Codes that are found after only."

class Findings(Answer):
    "Findings of a trace."

    @property
    def findings(self) -> list[Finding]:
        "The findings, the costliest first."
    @property
    def io(self) -> IoTime:
        "Time in I/O."
    @property
    def not_checked(self) -> list[NotChecked]:
        "Codes that could not be checked."
    @property
    def ok(self) -> list[str]:
        "Codes of good properties."
    @property
    def schema(self) -> Literal['iophase.findings.v2']:
        "Name and version of the schema."
    @property
    def system(self) -> System:
        "The machine, as the user described it."
    @property
    def tool(self) -> Tool:
        "The program that wrote this."
    @property
    def trace(self) -> TraceSummary:
        "The trace."
    @property
    def warnings(self) -> list[Warning]:
        "Warnings for the user."

class Fit(Part):
    "Mean square errors of the reconstructions."

    @property
    def improvement(self) -> float:
        "Share of the error that fitting removes: 1 − mse_fit / mse_dft."
    @property
    def mse_dft(self) -> float:
        "Mean square error of the reconstruction with the cosines of the DFT, (bytes per second)²."
    @property
    def mse_fit(self) -> float:
        "The same with the fitted cosines."

class FrequencyRange(Part):
    "How often this frequency was found periodic before: a range of frequencies that belong together, merged over the history of predictions."

    @property
    def high_hz(self) -> float:
        "Highest frequency of the range in Hz."
    @property
    def low_hz(self) -> float:
        "Lowest frequency of the range in Hz."
    @property
    def periodic_probability(self) -> float:
        "Probability of periodic given a frequency in the range."
    @property
    def predictions(self) -> int:
        "Predictions of the history with a frequency in the range, this one included."
    @property
    def probability(self) -> float:
        "Share of all predictions of the history that have a frequency in the range."

class GlobalClass(Part):
    "The access class of the whole job in a file during one time window."

    @property
    def accesses(self) -> int:
        "Number of accesses seen; 0 if the class was known before them."
    @property
    def advice(self) -> list[Advice]:
        "Settings that follow from it."
    @property
    def bytes(self) -> int:
        "Bytes moved."
    @property
    def classifier(self) -> Literal['rules', 'network', 'markov']:
        "Method that gave the local classes below."
    @property
    def end_s(self) -> float | None:
        "End of the last access of its ranks, seconds on the trace's own clock; `null` (not a number) if they have no times."
    @property
    def mix(self) -> Literal['read-only', 'write-only', 'read-write']:
        "Whether there are reads, writes or both."
    @property
    def ranks(self) -> list[int]:
        "Ranks of the class."
    @property
    def sequentiality(self) -> Literal['global-sequential', 'partitioned-sequential', 'interleaved-sequential', 'global-strided', 'partitioned-strided', 'single-rank', 'non-sequential']:
        "Order of the offsets, over all ranks."
    @property
    def size(self) -> Literal['uniform-small', 'uniform-large', 'variable-small', 'variable-large', 'variable']:
        "Sizes of the requests, and whether they vary."
    @property
    def staggered(self) -> bool:
        "The ranks come one after the other, not at the same time."
    @property
    def start_s(self) -> float | None:
        "Start of the first access of its ranks, seconds on the trace's own clock; `null` (not a number) if they have no times."

class GraphChange(Part):
    "An edge whose frequency differs."

    @property
    def after(self) -> float:
        "How often a case goes this way, after."
    @property
    def before(self) -> float:
        "How often a case goes this way, before."
    @property
    def from_(self) -> str:
        "An activity or `<start>`."
    @property
    def p(self) -> float:
        "p value, after Holm, of equal shares of what follows `from`."
    @property
    def to(self) -> str:
        "An activity or `<end>`."

class GroupTotals(Part):
    "The whole of a group."

    @property
    def bytes(self) -> int:
        "Bytes moved."
    @property
    def cases(self) -> int:
        "Cases with events."
    @property
    def duration_s(self) -> float:
        "Sum of all durations in seconds."
    @property
    def events(self) -> int:
        "Events."

class Info(Answer):
    "Contents of a trace."

    @property
    def byte_order(self) -> str | None:
        "`little` or `big`."
    @property
    def calls(self) -> dict[str, int]:
        "Number of calls by name."
    @property
    def clock(self) -> Clock:
        "The zero of all times."
    @property
    def compression(self) -> str | None:
        "Compression inside or around the trace."
    @property
    def counters(self) -> CounterReport | None:
        "Tables of the counters; `null` if the trace has none."
    @property
    def end_s(self) -> float | None:
        "End of the last access, seconds on the trace's own clock."
    @property
    def files(self) -> int:
        "Number of files."
    @property
    def format(self) -> str:
        "Name of the file format."
    @property
    def io(self) -> IoTime:
        "Time in I/O."
    @property
    def job(self) -> Job | None:
        "Facts about the job; `null` if the trace has none."
    @property
    def layers(self) -> list[LayerSummary]:
        "Contents of each layer."
    @property
    def partial(self) -> list[str]:
        "Names of the parts of the trace that are known to be incomplete."
    @property
    def path(self) -> str:
        "Path of the trace as the user gave it."
    @property
    def ranks(self) -> int:
        "Number of processes of the job, or of ranks seen if the trace does not say."
    @property
    def schema(self) -> Literal['iophase.info.v1']:
        "Name and version of the schema."
    @property
    def start_s(self) -> float | None:
        "Start of the first access, seconds on the trace's own clock."
    @property
    def version(self) -> str | None:
        "Version of the format."
    @property
    def warnings(self) -> list[Warning]:
        "Warnings for the user."

class IoTime(Part):
    "Time in I/O: what a rank spends inside calls of the outermost layer that recorded the file. From counters the sum over the files of a rank; from single requests the union of their spans."

    @property
    def complete(self) -> bool:
        "True if the time of everything that the ranks did is recorded."
    @property
    def io_s(self) -> float | None:
        "Low end of `slowest_s`."
    @property
    def layer(self) -> str | None:
        "The outermost layer with most of the time: `posix`, `mpiio`, `stdio`, `hdf5`, `pnetcdf`, `daos`, or `requests` where single requests are all that is known; `null` without times."
    @property
    def layers(self) -> list[LayerTime]:
        "All layers that have times, each with what it spends in those below it."
    @property
    def mean_metadata_s(self) -> float | None:
        "Seconds of metadata, mean of all ranks."
    @property
    def mean_read_s(self) -> float | None:
        "Seconds of reading, mean of all ranks."
    @property
    def mean_s(self) -> float | None:
        "Seconds, mean of all ranks; `null` without times."
    @property
    def mean_write_s(self) -> float | None:
        "Seconds of writing and synchronising, mean of all ranks."
    @property
    def rate(self) -> Bounds | None:
        "Bytes per second: what the outermost layer moved, by the time of the slowest rank. `null` without times or bytes."
    @property
    def run_s(self) -> float:
        "Length of the run in seconds; of the accesses, if the trace does not know the run."
    @property
    def share(self) -> float | None:
        "`io_s / run_s`, at most 1; `null` if the recording is not complete."
    @property
    def share_range(self) -> Bounds | None:
        "Ends of the share of the run of the slowest rank."
    @property
    def slowest_rank(self) -> int | None:
        "The rank with most time in files of its own; `null` if all files are counted over all ranks."
    @property
    def slowest_s(self) -> Bounds | None:
        "Seconds of the slowest rank; `null` without times."
    @property
    def waiting_s(self) -> float | None:
        "Seconds inside MPI-IO and outside the POSIX calls below it, mean of all ranks: waiting for other ranks and exchanging data with them. `null` without MPI-IO."
    @property
    def wall_s(self) -> float | None:
        "Seconds in which at least one rank is in a request; `null` without single requests."
    @property
    def why(self) -> str | None:
        "The reason why the recording is not complete; `null` if it is."

class IoTimeChange(Part):
    "Change of the time in I/O."

    @property
    def after_s(self) -> float | None:
        "After, in seconds."
    @property
    def basis(self) -> Literal['runs', 'bursts', 'single']:
        "Samples behind the interval."
    @property
    def before_s(self) -> float | None:
        "Before: seconds in I/O of the slowest rank as in findings, mean of the runs, the low end if it is only bounded; `null` if the trace does not say."
    @property
    def change(self) -> float | None:
        "`after_s - before_s`."
    @property
    def high(self) -> float | None:
        "High end of the interval."
    @property
    def high_s(self) -> list[float] | None:
        "High ends of both."
    @property
    def layer(self) -> str | None:
        "The outermost layer with most of the time, before and after, as in findings; `null` if that differs."
    @property
    def low(self) -> float | None:
        "Low end of the interval of 95 % of `change`, of 90 % for three runs on each side; `null` for one value a side."
    @property
    def run_s(self) -> list[float]:
        "Seconds of the run before and after, mean of the runs."

class Job(Part):
    "Facts about the job; `None` where the trace does not say."

    @property
    def end_unix_s(self) -> float | None:
        "End in seconds since 1970-01-01 00:00 UTC."
    @property
    def executable(self) -> str | None:
        "Command line."
    @property
    def id(self) -> int | None:
        "Job id of the batch system."
    @property
    def ranks(self) -> int | None:
        "Number of processes."
    @property
    def run_time_s(self) -> float | None:
        "Run time in seconds."
    @property
    def start_unix_s(self) -> float | None:
        "Start in seconds since 1970-01-01 00:00 UTC."
    @property
    def uid(self) -> int | None:
        "Numeric user id."

class LayerCost(Part):
    "Time in I/O on a layer."

    @property
    def layer(self) -> str:
        "`posix`, `mpiio`, `stdio`, `h5f`, `h5d`, `pnetcdf_file`, `pnetcdf_var`."
    @property
    def metadata_s(self) -> float:
        "Seconds of opening, closing and the like, a rank's mean."
    @property
    def quartiles_s(self) -> list[float] | None:
        "Seconds of the ranks in files of their own: the least, the quartiles, the most; `null` if all files are shared."
    @property
    def read_s(self) -> float:
        "Seconds of reading, a rank's mean."
    @property
    def share(self) -> float | None:
        "`slowest_s` / run time, at most 1; `null` if the run time is not known."
    @property
    def slowest_rank(self) -> int | None:
        "The rank with the most in files of its own; `null` if all files are shared."
    @property
    def slowest_s(self) -> float:
        "Seconds of the slowest rank, at least: which rank is the slowest in all shared files together is not recorded."
    @property
    def write_s(self) -> float:
        "Seconds of writing, a rank's mean."

class LayerSummary(Part):
    "Totals of one kind of data in a trace (`posix`, `dxt-posix`, `heatmap-stdio`, `requests`, `phases`, ...)."

    @property
    def bytes_read(self) -> int:
        "Bytes read."
    @property
    def bytes_written(self) -> int:
        "Bytes written."
    @property
    def first_s(self) -> float | None:
        "Start of the first access, seconds on the trace's own clock."
    @property
    def last_s(self) -> float | None:
        "End of the last access, seconds on the trace's own clock."
    @property
    def layer(self) -> str:
        "`posix`, `mpiio`, `stdio` (counters, or calls), `dfs`, `daos`, `h5f`, `h5d`, `pnetcdf_file`, `pnetcdf_var` (counters), `mpi`, `hdf5`, `pnetcdf`, `netcdf`, `user` (calls), `dxt-posix`, `dxt-mpiio` (segments), `heatmap-posix`, ..., `apmpi`, `bg/q` (records that are only counted), `requests`, `phases`."
    @property
    def reads(self) -> int | None:
        "Number of read operations; `null` if the layer does not count them, or a count is impossible."
    @property
    def records(self) -> int:
        "Number of records: counter records, segments, heatmap records, requests or phases."
    @property
    def writes(self) -> int | None:
        "Number of write operations; `null` if the layer does not count them, or a count is impossible."

class LayerTime(Part):
    "Time in I/O of one layer."

    @property
    def layer(self) -> str:
        "Name as in [`IoTime::layer`]."
    @property
    def mean_metadata_s(self) -> float:
        "Seconds of metadata, mean of all ranks."
    @property
    def mean_read_s(self) -> float:
        "Seconds of reading, mean of all ranks."
    @property
    def mean_write_s(self) -> float:
        "Seconds of writing, mean of all ranks."
    @property
    def slowest_s(self) -> Bounds:
        "Seconds of the slowest rank."

class LocalClass(Part):
    "The access class of one rank in a file during one time window."

    @property
    def accesses(self) -> int:
        "Number of accesses."
    @property
    def classifier(self) -> Literal['rules', 'network', 'markov']:
        "Method that gave the class."
    @property
    def end_offset(self) -> int:
        "Offset one past the last byte."
    @property
    def end_s(self) -> float | None:
        "End of the last access, seconds on the trace's own clock; `null` (not a number) if the accesses have no times."
    @property
    def mix(self) -> Literal['read-only', 'write-only', 'read-write']:
        "Whether there are reads, writes or both."
    @property
    def rank(self) -> int:
        "Rank."
    @property
    def sequentiality(self) -> Literal['sequential', 'strided-1d', 'strided-kd', 'variably-strided', 'non-sequential']:
        "Order of the offsets."
    @property
    def size(self) -> Literal['uniform-small', 'uniform-large', 'variable-small', 'variable-large', 'variable']:
        "Sizes of the requests, and whether they vary."
    @property
    def start_offset(self) -> int:
        "Offset of the first byte."
    @property
    def start_s(self) -> float | None:
        "Start of the first access, seconds on the trace's own clock; `null` (not a number) if the accesses have no times."

class Loop(Part):
    "One loop of a nest. Lists of loops are innermost first."

    @property
    def count(self) -> int:
        "Passes of the loop."
    @property
    def stride(self) -> int:
        "Bytes from one pass to the next; may be negative or zero."

class Measures(Part):
    "The statistics of an activity in one group."

    @property
    def bytes(self) -> int:
        "Bytes moved."
    @property
    def data_rate_bytes_per_s(self) -> float | None:
        "Mean data rate of single events, bytes a second."
    @property
    def duration_s(self) -> float:
        "Sum of the durations in seconds."
    @property
    def events(self) -> int:
        "Events."
    @property
    def max_concurrency(self) -> int:
        "Largest number of events at the same moment."
    @property
    def relative_duration(self) -> float | None:
        "Share of the durations of all activities of the group."

class Mount(Part):
    "A file system; `null` what was not given."

    @property
    def ost_rate(self) -> float | None:
        "Bytes per second of one storage target."
    @property
    def path(self) -> str:
        "Path of the mount point."
    @property
    def scratch(self) -> bool:
        "Large data belong here."
    @property
    def stripe_unit(self) -> int | None:
        "Bytes of a stripe."
    @property
    def type(self) -> str | None:
        "Type, such as `lustre`."

class MountUse(Part):
    "A mounted file system."

    @property
    def bytes_read(self) -> int:
        "Bytes read by POSIX and STDIO."
    @property
    def bytes_written(self) -> int:
        "Bytes written by POSIX and STDIO."
    @property
    def files(self) -> int:
        "Number of files."
    @property
    def kind(self) -> str:
        "Type, such as `lustre`."
    @property
    def path(self) -> str:
        "Path of the mount point."

class NextAccess(Part):
    "One access of a pattern, as it is expected."

    @property
    def offset(self) -> int:
        "Bytes from the start of the file."
    @property
    def size(self) -> int | None:
        "Bytes; `null` where sizes vary."

class NodeReport(Part):
    "An activity. `<start>` and `<end>` are no activities and have no node."

    @property
    def activity(self) -> str:
        "Name of the activity."
    @property
    def bytes(self) -> int:
        "Bytes moved by transfers that succeeded."
    @property
    def color(self) -> Literal['green', 'red', 'none']:
        "Group that has it."
    @property
    def data_rate_bytes_per_s(self) -> float | None:
        "Mean over single events of bytes by duration, bytes per second; `null` if no event has both."
    @property
    def duration_s(self) -> float:
        "Sum of the durations in seconds."
    @property
    def events(self) -> int:
        "Number of events."
    @property
    def max_concurrency(self) -> int:
        "Largest number of events at the same moment, over all cases."
    @property
    def rate_events(self) -> int:
        "Number of events in that mean: transfers that succeeded, with a duration above zero."
    @property
    def relative_duration(self) -> float | None:
        "Share of the durations of all activities; `null` if none has any."
    @property
    def untimed_events(self) -> int:
        "Number of events whose duration is not known."

class NotChecked(Part):
    "A code that could not be checked."

    @property
    def code(self) -> str:
        "The code."
    @property
    def how(self) -> str:
        "How to record that."
    @property
    def name(self) -> str:
        "The name."
    @property
    def needs(self) -> str:
        "Data that it needs."

class OtherPeriod(Part):
    "A further independent period."

    @property
    def amplitude_bytes_per_s(self) -> float:
        "Amplitude of the cosine of this frequency in the signal, bytes per second."
    @property
    def confidence(self) -> float:
        "With method `auto`: probability that the period is right within 5 %. With other methods: score of the detector, 0 to 1. Limited where bins of a heatmap are wide for the period (warning `near-bin-width`)."
    @property
    def cycles(self) -> float:
        "Number of periods seen, those without a burst included."
    @property
    def dft_bin(self) -> int | None:
        "The bin of the DFT, if the period was taken from one."
    @property
    def frequency_hz(self) -> float:
        "Frequency in Hz: 1 / `period_s`."
    @property
    def period_s(self) -> float:
        "Seconds from the start of one burst to the start of the next."
    @property
    def period_std_s(self) -> float | None:
        "Standard error of the period in seconds."
    @property
    def phase_rad(self) -> float:
        "Phase of that cosine at the start of the signal (`start_s`), radians."
    @property
    def prediction(self) -> ReportPrediction | None:
        "Its next burst; `null` if it no longer holds where the trace ends."
    @property
    def relation(self) -> Literal['after', 'before', 'within', 'beside']:
        "When it holds, relative to the dominant period."
    @property
    def validity(self) -> list[Validity]:
        "Where it holds."

class Overdue(Part):
    "A burst that was due and has not come."

    @property
    def due_s(self) -> float:
        "When it was due, seconds on the trace's own clock."
    @property
    def ended_probability(self) -> float:
        "Probability that the period has ended here, by the rule of succession: n earlier silences of at least this length ended with a burst; with one that has not been seen, as rare as this one is long, the odds are 1 to n + 1 / (periods of silence)."

class PatternChange(Part):
    "Accesses that differ."

    @property
    def after(self) -> float | None:
        "After."
    @property
    def before(self) -> float | None:
        "Share of the bytes, or the size or stride of most of the bytes, before."
    @property
    def file(self) -> str:
        "Family of files."
    @property
    def kind(self) -> str:
        "Type and loops of the pattern."
    @property
    def op(self) -> str:
        "`read` or `write`."
    @property
    def what(self) -> str:
        "`new`, `gone`, `size` or `stride`."

class PatternGroup(Part):
    "Patterns of one operation, type and size in one file, or in files whose names differ in digits only."

    @property
    def access_size(self) -> int | None:
        "Bytes of each access; `null` for sequential patterns."
    @property
    def bytes(self) -> int:
        "Bytes moved."
    @property
    def file(self) -> str:
        "Name of the file; of several, of the one whose pattern began first."
    @property
    def files(self) -> int:
        "Number of files."
    @property
    def kind(self) -> Literal['contiguous', 'fixed-strided', 'kd-strided', 'sequential']:
        "Type of the patterns."
    @property
    def levels(self) -> list[Loop] | None:
        "Loops of each pattern, innermost first; `null` if they differ."
    @property
    def op(self) -> Literal['read', 'write']:
        "Whether the accesses read or write."
    @property
    def patterns(self) -> int:
        "Number of patterns."
    @property
    def period(self) -> PatternPeriod | None:
        "Period of the accesses of all patterns together."
    @property
    def period_reason(self) -> str | None:
        "Why there is no period; `null` if there is one."
    @property
    def ranks(self) -> int:
        "Number of ranks."
    @property
    def records(self) -> int:
        "Number of accesses."
    @property
    def then(self) -> Literal['read', 'write'] | None:
        "The operation right after each access to the same bytes; `null` for patterns of one operation."

class PatternPeriod(Part):
    "The period of the accesses of a pattern or a group."

    @property
    def confidence(self) -> float:
        "Probability that the period is right within 5 %."
    @property
    def period_s(self) -> float:
        "The period in seconds."

class PatternReport(Part):
    "One pattern."

    @property
    def access_size(self) -> int | None:
        "Bytes of each access; `null` for a sequential pattern."
    @property
    def bytes(self) -> int:
        "Bytes moved."
    @property
    def end_offset(self) -> int:
        "One past the highest byte."
    @property
    def end_s(self) -> float | None:
        "End of the last access, seconds on the trace's own clock; `null` (not a number) if the accesses have no times."
    @property
    def family(self) -> int | None:
        "Patterns with the same number are the same walk by the same rank through files whose names differ in digits only, such as the checkpoints of a run; `null` if it is the only one."
    @property
    def file(self) -> str:
        "Name of the file."
    @property
    def kind(self) -> Literal['contiguous', 'fixed-strided', 'kd-strided', 'sequential']:
        "Type of the pattern."
    @property
    def levels(self) -> list[Loop]:
        "Loops, innermost first; those of a sequential pattern go around all of its accesses, and it has none if there is one pass."
    @property
    def next(self) -> list[NextAccess]:
        "The next accesses, if they were asked for."
    @property
    def op(self) -> Literal['read', 'write']:
        "Whether the accesses read or write."
    @property
    def period(self) -> PatternPeriod | None:
        "Period of its accesses; that of its family if this is in the file for one burst."
    @property
    def period_reason(self) -> str | None:
        "Why there is no period; `null` if there is one."
    @property
    def rank(self) -> int:
        "Rank; of several, the first."
    @property
    def ranks(self) -> Ranks | None:
        "The ranks that make it together: the outermost of the `levels` goes through them, so that pass i is made by rank `rank + i * step`. `null` for a pattern of one rank."
    @property
    def records(self) -> int:
        "Number of accesses."
    @property
    def size_summary(self) -> SizeSummary | None:
        "Sizes of a sequential pattern; `null` for others."
    @property
    def sizes(self) -> list[list[int]] | None:
        "Sizes of one pass of a sequential pattern in order: size and how often in a row; `null` for others, and where they are too many to keep."
    @property
    def start_offset(self) -> int:
        "Offset of the first access."
    @property
    def start_s(self) -> float | None:
        "Start of the first access, seconds on the trace's own clock; `null` (not a number) if the accesses have no times."
    @property
    def stride(self) -> int | None:
        "Stride of the innermost loop; `null` for a sequential pattern."
    @property
    def then(self) -> Literal['read', 'write'] | None:
        "The operation right after each access to the same bytes, where it is another one: a read-modify-write, whose innermost loop of stride 0 goes through the two. `null` for a pattern of one operation."

class Patterns(Answer):
    "The access patterns of one trace, alone."

    @property
    def coverage(self) -> Coverage:
        "How much of the accesses the patterns explain."
    @property
    def groups(self) -> list[PatternGroup]:
        "The same in groups, those of the most bytes first."
    @property
    def patterns(self) -> list[PatternReport]:
        "The patterns, in the order in which they began."
    @property
    def schema(self) -> Literal['iophase.patterns.v1']:
        "Name and version of the schema."
    @property
    def tool(self) -> Tool:
        "The program that wrote this."
    @property
    def trace(self) -> TraceSummary:
        "The trace."
    @property
    def warnings(self) -> list[Warning]:
        "Warnings for the user."

class PatternsReport(Part):
    "The patterns of a trace."

    @property
    def coverage(self) -> Coverage:
        "How much they explain."
    @property
    def groups(self) -> list[PatternGroup]:
        "The same in groups, those of the most bytes first."
    @property
    def patterns(self) -> list[PatternReport]:
        "The patterns, in the order in which they began."

class Period(Part):
    "Bursts that repeat at equal intervals."

    @property
    def bursts(self) -> int:
        "Number of bursts."
    @property
    def bytes(self) -> int:
        "Bytes of all bursts."
    @property
    def frequency_hz(self) -> float:
        "Frequency in Hz: 1 / `period_s`."
    @property
    def longest_s(self) -> float | None:
        "Longest time between the starts of two bursts; `null` for one burst."
    @property
    def op(self) -> str:
        "Operation of the bursts."
    @property
    def period_s(self) -> float:
        "Mean time from the start of a burst to the start of the next; nominal where bursts are missed or lie around a grid."
    @property
    def shortest_s(self) -> float | None:
        "Shortest time between the starts of two bursts; `null` for one burst."
    @property
    def windows(self) -> list[Window]:
        "Where it holds: from the start of the first burst to the end of the last."

class Phase(Part):
    "A burst of I/O."

    @property
    def bytes(self) -> int:
        "Bytes of all ranks."
    @property
    def end_s(self) -> float:
        "End of its last access."
    @property
    def op(self) -> str:
        "Operation."
    @property
    def start_s(self) -> float:
        "Start of its first access."

class Prediction(Answer):
    "One prediction."

    @property
    def bytes(self) -> int | None:
        "Bytes of the next burst: median of those seen."
    @property
    def bytes_p95(self) -> int | None:
        "Bytes not exceeded by 95 % of the bursts seen."
    @property
    def change_point(self) -> bool:
        "The period has changed since the prediction before."
    @property
    def change_s(self) -> float | None:
        "When the new period began, seconds on the trace's own clock; `null` without a change."
    @property
    def characteristic_time_s(self) -> float | None:
        "The characteristic time of IO-Sets (Boito, Pallez, Teylo, Vidal, IEEE TPDS 2023) in seconds: the period or, while none holds, the mean time between the starts of successive bursts in the window, pauses left out (more than 8 times the median). `null` below three bursts, without idle time between them, and below a second for the first ten seconds, as requests follow each other within a burst."
    @property
    def clock(self) -> Clock:
        "What all times count from."
    @property
    def confidence(self) -> float | None:
        "Probability that the period is right (within 5 %), calibrated; without a period, the probability of the best candidate, which was rejected."
    @property
    def cycles(self) -> int | None:
        "Number of periods seen in the window."
    @property
    def emitted_unix_s(self) -> float | None:
        "When this was printed: seconds since 1970-01-01 00:00 UTC on the machine of the predictor; `null` if it was not."
    @property
    def frequency_range(self) -> FrequencyRange | None:
        "How this frequency did before; `null` if neither this prediction nor its best rejected candidate has one."
    @property
    def idle_s(self) -> float | None:
        "Seconds from the end of a burst to the start of the next."
    @property
    def job(self) -> str | None:
        "The job, where a source carries several."
    @property
    def mode(self) -> Literal['write', 'read', 'all', 'write_sync', 'read_sync', 'write_async', 'read_async'] | None:
        "Which transfers the answer is about; `null` if nothing is periodic."
    @property
    def next_end_s(self) -> float | None:
        "End of the next burst, seconds on the trace's own clock."
    @property
    def next_start_probability(self) -> float | None:
        "Probability that the next burst begins within 1.645 `next_start_std_s` of `next_start_s`, by the rule of succession: the bursts so far that began within such a window, and eight whose windows held with 0.9 of the confidence."
    @property
    def next_start_s(self) -> float | None:
        "Start of the next burst, after `now_s`, seconds on the trace's own clock."
    @property
    def next_start_std_s(self) -> float | None:
        "Standard deviation of that start in seconds, no smaller than the errors of the predictions so far."
    @property
    def next_start_unix_s(self) -> float | None:
        "The same in seconds since 1970-01-01 00:00 UTC; `null` if the clock of the trace is not known."
    @property
    def now_s(self) -> float:
        "Latest time that the data have reached, seconds on the trace's own clock."
    @property
    def overdue(self) -> Overdue | None:
        "The burst that should have begun, if it is late by more than a quarter of the period; `null` else, while no period is known, and once a burst has come, in its place or not. A period is taken up again after a pause of any length, at the second burst that keeps to it."
    @property
    def period_s(self) -> float | None:
        "The period in seconds; `null` if none holds now."
    @property
    def period_std_s(self) -> float | None:
        "Standard error of the period in seconds."
    @property
    def periodic(self) -> bool:
        "Whether a period holds now."
    @property
    def ranks(self) -> int | None:
        "Number of ranks, if the source reports it."
    @property
    def schema(self) -> Literal['iophase.prediction.v1']:
        "Name and version of the schema."
    @property
    def sequence(self) -> int:
        "Number of the prediction of this job, from 0, without gaps."
    @property
    def state(self) -> str | None:
        "Letter of the regime the job is in, given in order of appearance; `null` until one is known. A regime that returns gets its old letter back; letters of different runs do not compare."
    @property
    def valid_until_s(self) -> float | None:
        "Time up to which the prediction is of use, the start of the burst after the next, seconds on the trace's own clock."
    @property
    def warnings(self) -> list[Warning]:
        "Warnings for the user."
    @property
    def window(self) -> WindowSpan:
        "The part of the trace that the prediction rests on."

class QualityReport(Part):
    "Records that were lost, excluded or clamped, and how exact the times are."

    @property
    def bin_s(self) -> float | None:
        "Width of the bins of a heatmap, or time between two samples of counters, in seconds; `null` for other rows."
    @property
    def clamped(self) -> int:
        "Number of records whose times or sizes had to be brought into range."
    @property
    def clock_backwards(self) -> int:
        "Number of times a clock stepped back."
    @property
    def partial(self) -> list[str]:
        "Names of the parts of the trace that are known to be incomplete."
    @property
    def records_dropped(self) -> int:
        "Number of records that could not be used."
    @property
    def records_left_out(self) -> int:
        "Number of records ignored on purpose: failed calls, system files."
    @property
    def records_read(self) -> int:
        "Number of records in the input."
    @property
    def timing(self) -> Literal['request', 'phase', 'heatmap', 'counter', 'order']:
        "The kind of one row, which decides how exact its times are."

class Ranks(Part):
    "The ranks of a pattern that several make together: its outermost loop goes through them."

    @property
    def count(self) -> int:
        "Number of ranks."
    @property
    def step(self) -> int:
        "Difference from one rank to the next."

class Reason(Part):
    "A probable reason."

    @property
    def after(self) -> float | None:
        "After."
    @property
    def before(self) -> float | None:
        "Before: a value, or the median of bursts or runs; `null` if it is not there."
    @property
    def change(self) -> float | None:
        "After less before: of bursts the median of all differences (Hodges and Lehmann)."
    @property
    def codes(self) -> list[str]:
        "Findings that are new, gone or changed with it."
    @property
    def files(self) -> list[str]:
        "Families of files with most of the change."
    @property
    def high(self) -> float | None:
        "High end of the interval."
    @property
    def lost_s(self) -> float | None:
        "Seconds of the difference in I/O time that it explains, below 0 if time is gained; `null` if it has no cost of its own."
    @property
    def low(self) -> float | None:
        "Low end of the interval of 95 % of `change`; `null` without one."
    @property
    def p(self) -> float | None:
        "p value, after Holm; `null` for values that are counted."
    @property
    def unit(self) -> str:
        "Unit of all values: `s`, `bytes`, `bytes/s`, `count`, `ratio`."
    @property
    def what(self) -> str:
        "The property."

class Regularity(Part):
    "How regular bursts are: the coefficient of variation of their gaps, standard deviation over mean."

    @property
    def cv(self) -> float:
        "Coefficient of variation of the gaps from burst to burst; missing bursts count as gaps of their own. 0 for a clock, 1 for bursts at random."
    @property
    def cv_high(self) -> float:
        "Upper end."
    @property
    def cv_low(self) -> float:
        "Lower end of its interval of 95 %, for gaps with a normal distribution."

class RemedyReport(Part):
    "A remedy for one library or file system."

    @property
    def commands(self) -> list[str]:
        "Commands, each as it is typed."
    @property
    def id(self) -> str:
        "Number of the remedy, or the policy of an access class."
    @property
    def settings(self) -> dict[str, str]:
        "Hints of MPI-IO and of libraries: value by name."
    @property
    def system(self) -> str:
        "The library or file system; `any` for all."
    @property
    def url(self) -> str:
        "Where it is described; empty if nowhere."
    @property
    def why(self) -> str:
        "Advice in words, if there is neither command nor setting, and the reason."

class Report(ReportBase):
    "The report of one trace."

    @property
    def clock(self) -> Clock:
        "The zero of all times."
    @property
    def patterns(self) -> PatternsReport | None:
        "Access patterns; `null` if the trace has no offsets or they were not asked for."
    @property
    def quality(self) -> QualityReport:
        "Quality of the data."
    @property
    def schema(self) -> Literal['iophase.report.v1']:
        "Name and version of the schema."
    @property
    def signals(self) -> list[SignalReport]:
        "One entry per signal."
    @property
    def tool(self) -> Tool:
        "The program that wrote this."
    @property
    def trace(self) -> TraceSummary:
        "The trace."
    @property
    def warnings(self) -> list[Warning]:
        "Warnings for the user."

class ReportPrediction(Part):
    "The next burst."

    @property
    def bytes(self) -> int:
        "Bytes of the next burst: median of those seen, or what their steady growth leads to."
    @property
    def bytes_p95(self) -> int:
        "Bytes not exceeded by 95 % of the bursts seen."
    @property
    def confidence(self) -> float:
        "Confidence in the period, as for the dominant period."
    @property
    def idle_s(self) -> float:
        "Seconds without I/O before the next burst."
    @property
    def next_end_s(self) -> float:
        "End of the next burst, seconds on the trace's own clock."
    @property
    def next_start_s(self) -> float:
        "Start of the next burst, seconds on the trace's own clock."
    @property
    def next_start_std_s(self) -> float | None:
        "Standard deviation of that start in seconds."
    @property
    def next_start_unix_s(self) -> float | None:
        "The same in seconds since 1970-01-01 00:00 UTC; `null` if the clock of the trace is not known."
    @property
    def now_in_burst(self) -> bool:
        "Whether a burst is under way where the trace ends: it has begun, and is shorter than any before it. The next one is the one after it."
    @property
    def period_s(self) -> float:
        "The period in seconds."
    @property
    def set10(self) -> Set10:
        "Class of the job for the IO-Sets scheduling policy."
    @property
    def valid_until_s(self) -> float:
        "Time up to which the prediction is of use, the start of the burst after the next, seconds on the trace's own clock."

class Row(Part):
    "A property that differs."

    @property
    def after(self) -> float | None:
        "After."
    @property
    def before(self) -> float | None:
        "Before: a value, or the median of bursts or runs; `null` if it is not there."
    @property
    def change(self) -> float | None:
        "After less before: of bursts the median of all differences (Hodges and Lehmann)."
    @property
    def high(self) -> float | None:
        "High end of the interval."
    @property
    def low(self) -> float | None:
        "Low end of the interval of 95 % of `change`; `null` without one."
    @property
    def p(self) -> float | None:
        "p value, after Holm; `null` for values that are counted."
    @property
    def unit(self) -> str:
        "Unit of all values: `s`, `bytes`, `bytes/s`, `count`, `ratio`."
    @property
    def what(self) -> str:
        "The property."

class Scores(Part):
    "How periodic a signal is. `null` where there is nothing to compute it from."

    @property
    def correlation(self) -> float | None:
        "Correlation of the signal with the dominant cosine, −1 to 1."
    @property
    def period_correlation(self) -> float | None:
        "Mean over the periods of the correlation inside each, weighed by how much of a period is in the run."
    @property
    def recurrence_entropy(self) -> float | None:
        "Recurrence period density entropy (Little et al., BioMedical Engineering OnLine 6:23, 2007): entropy of the times after which the signal comes back to what it was, over that of equally likely times. 0: always after the same time."
    @property
    def spectral_entropy(self) -> float | None:
        "Entropy of the normalised powers over that of equal ones: 0 for a line, 1 for equal powers."
    @property
    def spectral_flatness(self) -> float | None:
        "Geometric over arithmetic mean of the powers of the spectrum: 0 for a line, 1 for white noise of equal powers."

class Set10(Part):
    "Class of a job in IO-Sets (Boito, Pallez et al., TPDS 2023): jobs of one set take turns."

    @property
    def characteristic_s(self) -> float:
        "Seconds between the starts of I/O phases."
    @property
    def set(self) -> int:
        "Number of the set: round(log10(`characteristic_s`))."

class Side(Part):
    "The runs of one side."

    @property
    def traces(self) -> list[TraceSummary]:
        "The traces."

class SignalReport(SignalBase):
    "One signal and its results."

    @property
    def abstraction_error(self) -> float:
        "Sampling error: bytes that sampling lost or added, as a share of `bytes`."
    @property
    def bursts(self) -> Bursts | None:
        "The bursts of the dominant period; `null` without one."
    @property
    def bytes(self) -> int:
        "Bytes moved."
    @property
    def components(self) -> list[Component]:
        "The strongest cosines of the signal, the mean first; empty unless asked for."
    @property
    def end_s(self) -> float:
        "End of the last transfer, seconds on the trace's own clock."
    @property
    def fit(self) -> Fit | None:
        "Errors of the reconstruction, if it was fitted."
    @property
    def mode(self) -> Literal['write', 'read', 'all', 'write_sync', 'read_sync', 'write_async', 'read_async']:
        "The transfers that the signal consists of."
    @property
    def period(self) -> Detection:
        "The period, or why there is none."
    @property
    def prediction(self) -> ReportPrediction | None:
        "The next burst; `null` unless a period holds where the trace ends."
    @property
    def samples(self) -> int:
        "Number of samples."
    @property
    def sampling(self) -> Literal['bin', 'point']:
        "How it was sampled."
    @property
    def sampling_hz(self) -> float:
        "Sampling rate in Hz."
    @property
    def scores(self) -> Scores | None:
        "Further scores of periodicity; `null` unless asked for."
    @property
    def start_s(self) -> float:
        "Start of the first transfer, seconds on the trace's own clock."
    @property
    def track(self) -> list[TrackPoint]:
        "The period over time, from methods that follow it (`stft`, `cwt`); empty otherwise."
    @property
    def validity(self) -> list[Validity]:
        "Where the dominant period holds."

class SizeSummary(Part):
    "Five-number summary of the sizes of a sequential pattern, in bytes."

    @property
    def max(self) -> int:
        "Largest size in bytes."
    @property
    def median(self) -> int:
        "Median of the sizes in bytes."
    @property
    def min(self) -> int:
        "Smallest size in bytes."
    @property
    def q1(self) -> int:
        "Lower quartile of the sizes in bytes."
    @property
    def q3(self) -> int:
        "Upper quartile of the sizes in bytes."

class SpectrumStatistics(Part):
    "Mean and standard deviation of the powers of a spectrum, normalised to a sum of 1 without the mean of the signal."

    @property
    def mean(self) -> float:
        "Mean normalised power of a frequency bin."
    @property
    def std(self) -> float:
        "Population standard deviation of the normalised powers."

class Spread(Part):
    "Smallest, middle and largest value."

    @property
    def max(self) -> float:
        "Largest value."
    @property
    def median(self) -> float:
        "Median."
    @property
    def min(self) -> float:
        "Smallest value."

class System(Part):
    "A machine; `null` what was not given."

    @property
    def burst_buffer(self) -> BurstBuffer | None:
        "Storage that takes bursts and drains between them."
    @property
    def cores_per_node(self) -> int | None:
        "Cores of a node."
    @property
    def memory_per_node(self) -> float | None:
        "Memory of a node in bytes."
    @property
    def mounts(self) -> list[Mount]:
        "File systems."
    @property
    def node_mtbf_h(self) -> float | None:
        "Mean time between failures of a node in hours."
    @property
    def nodes(self) -> int | None:
        "Nodes of the job."

class TimeWindow(Part):
    "A time, in seconds on the trace's own clock."

    @property
    def end_s(self) -> float:
        "Its end."
    @property
    def start_s(self) -> float:
        "Its start."

class Tool(Part):
    "Program and version that made a report."

    @property
    def name(self) -> str:
        "Name of the program: `iophase`."
    @property
    def version(self) -> str:
        "Version of the program."

class TraceSummary(Part):
    "The trace, in numbers."

    @property
    def bytes_read(self) -> int:
        "Bytes read in these rows."
    @property
    def bytes_written(self) -> int:
        "Bytes written in these rows."
    @property
    def end_s(self) -> float | None:
        "End of the last row, seconds on the trace's own clock."
    @property
    def files(self) -> int:
        "Number of files in the rows analysed."
    @property
    def format(self) -> str:
        "Name of the file format: `darshan`, `tmio`, `strace` and so on."
    @property
    def job(self) -> Job | None:
        "Facts about the job; `null` if the trace has none."
    @property
    def layer(self) -> Literal['posix', 'mpiio', 'stdio'] | None:
        "Layer that was analysed, if the format records several."
    @property
    def path(self) -> str:
        "Path of the trace as the user gave it."
    @property
    def ranks(self) -> int:
        "Number of processes of the job, or of ranks seen if the trace does not say."
    @property
    def records(self) -> int:
        "Number of rows analysed; `quality.timing` says what a row is."
    @property
    def start_s(self) -> float | None:
        "Start of the first row, seconds on the trace's own clock."

class TrackPoint(Part):
    "The period at one time, for methods that follow it."

    @property
    def period_s(self) -> float:
        "The strongest period around that time, in seconds."
    @property
    def time_s(self) -> float:
        "Time, seconds on the trace's own clock."

class TruePattern(Part):
    "Loops that a rank executed over the accesses to one file, in canonical form: no loop of one pass, and no loop that continues where the loop inside it ends."

    @property
    def access_size(self) -> int | None:
        "Bytes of an access; `null` for sequential."
    @property
    def end_offset(self) -> int:
        "One past the highest byte."
    @property
    def end_s(self) -> float:
        "End of the last access."
    @property
    def file(self) -> str:
        "File name."
    @property
    def kind(self) -> Literal['contiguous', 'fixed-strided', 'kd-strided', 'sequential']:
        "Kind."
    @property
    def levels(self) -> list[Loop]:
        "Loops, innermost first; those of a sequential pattern go over the whole list of its sizes."
    @property
    def op(self) -> str:
        "Read or write."
    @property
    def period(self) -> TruthPatternPeriod | None:
        "Its period; `null` if it is part of one burst, or not periodic."
    @property
    def period_reason(self) -> str | None:
        "Why there is no period; `null` if there is one."
    @property
    def rank(self) -> int:
        "Rank; the first of several."
    @property
    def ranks(self) -> TruthRanks | None:
        "The ranks over which the outermost loop goes; `null` for one rank."
    @property
    def records(self) -> int:
        "Number of accesses."
    @property
    def size_summary(self) -> TruthSizeSummary | None:
        "Summary of the sizes of a sequential pattern; `null` for others."
    @property
    def sizes(self) -> list[list[int]] | None:
        "Sizes of a sequential pattern in order, as pairs of a size and how many accesses in a row have it; `null` for others."
    @property
    def start_offset(self) -> int:
        "Offset of the first access."
    @property
    def start_s(self) -> float:
        "Start of the first access."
    @property
    def stride(self) -> int | None:
        "Stride of the innermost loop; `null` for sequential and for a single access."

class Truth(Answer):
    "The truth of a synthetic trace. Times are seconds on its clock, offsets and sizes bytes. Every access is either in exactly one of the `patterns` or counted in `unpatterned`."

    @property
    def bytes_read(self) -> int:
        "Bytes read."
    @property
    def bytes_written(self) -> int:
        "Bytes written."
    @property
    def end_s(self) -> float:
        "End of the last access, seconds on the trace's own clock."
    @property
    def files(self) -> int:
        "Number of files."
    @property
    def parameters(self) -> dict[str, Any]:
        "Parameters of the workload, including defaults."
    @property
    def patterns(self) -> list[TruePattern]:
        "The loops that the ranks executed, by rank and file."
    @property
    def periodic(self) -> bool:
        "True if there are `periods`."
    @property
    def periods(self) -> list[Period]:
        "The periods of the job, most bytes first."
    @property
    def phases(self) -> list[Phase]:
        "Bursts of I/O, in the order of time."
    @property
    def ranks(self) -> int:
        "Number of ranks."
    @property
    def records(self) -> int:
        "Number of records of the trace."
    @property
    def schema(self) -> Literal['iophase.truth.v1']:
        "Name and version of the schema."
    @property
    def seed(self) -> int:
        "Seed of the random numbers."
    @property
    def start_s(self) -> float:
        "Start of the first access, seconds on the trace's own clock."
    @property
    def unpatterned(self) -> list[Unpatterned]:
        "Accesses in random order, by file. They are in no pattern."
    @property
    def workload(self) -> str:
        "Name of the workload."

class TruthPatternPeriod(Part):
    "Period of the accesses of a pattern."

    @property
    def confidence(self) -> float:
        "1: the workload set the period."
    @property
    def period_s(self) -> float:
        "Seconds."

class TruthRanks(Part):
    "Ranks over which the outermost loop of a pattern goes."

    @property
    def count(self) -> int:
        "How many."
    @property
    def step(self) -> int:
        "From one to the next."

class TruthSizeSummary(Part):
    "Five-number summary of sizes."

    @property
    def max(self) -> float:
        "Largest."
    @property
    def median(self) -> float:
        "Median."
    @property
    def min(self) -> float:
        "Smallest."
    @property
    def q1(self) -> float:
        "First quartile, interpolated linearly."
    @property
    def q3(self) -> float:
        "Third quartile."

class Unpatterned(Part):
    "Accesses to a file that are in no pattern."

    @property
    def bytes(self) -> int:
        "Their bytes."
    @property
    def file(self) -> str:
        "File name."
    @property
    def op(self) -> str:
        "Read or write."
    @property
    def order(self) -> Literal['random']:
        "Their order."
    @property
    def places(self) -> int:
        "Places in the file where an access may lie."
    @property
    def records(self) -> int:
        "Number of accesses."
    @property
    def repeats(self) -> int:
        "How often the same order was executed; `records` counts all of them."
    @property
    def unit(self) -> int | None:
        "Bytes of such a place; `null` where sizes vary."

class Validity(Part):
    "A stretch of time in which the dominant period holds."

    @property
    def correlation(self) -> float | None:
        "Mean correlation of the signal with the cosine of the period, −1 to 1; `null` if it was not computed."
    @property
    def end_s(self) -> float:
        "End of the last burst there, seconds on the trace's own clock."
    @property
    def start_s(self) -> float:
        "Start of the first burst there, seconds on the trace's own clock."

class Warning(Part):
    "Something a person should know before trusting the numbers."

    @property
    def code(self) -> str:
        "Stable code in kebab case, such as `damaged-tail`; `docs/contract.md` lists all."
    @property
    def message(self) -> str:
        "Description in one sentence."
    @property
    def remedy(self) -> str | None:
        "Remedy; `null` if nothing can be done."

class Window(Part):
    "An interval of time."

    @property
    def end_s(self) -> float:
        "End, seconds on the trace's own clock."
    @property
    def start_s(self) -> float:
        "Start, seconds on the trace's own clock."

class WindowSpan(Part):
    "The stretch of the trace that a prediction rests on."

    @property
    def end_s(self) -> float | None:
        "End of the last transfer in the window, seconds on the trace's own clock; `null` while nothing has been received."
    @property
    def start_s(self) -> float | None:
        "Start of the first transfer in the window, seconds on the trace's own clock; `null` while nothing has been received."
