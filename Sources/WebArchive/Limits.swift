/// Bounds on what a reader accepts, so that no file can cost unbounded memory or time.
public struct Limits: Sendable, Hashable {
    /// Entries in one ZIP, at most.
    public var entriesMax = 1_000_000
    /// Bytes of one ZIP's central directory, at most.
    public var centralDirectoryBytesMax: UInt64 = 256 << 20
    /// Bytes after the ZIP's end record that are tolerated, at most.
    public var trailingJunkBytesMax = 1 << 20
    /// Places that look like a ZIP's end record and are tried, at most.
    public var endRecordCandidatesMax = 64
    /// Bytes of an inflated `datapackage.json`, `datapackage-digest.json` or `webarchive.yaml`, at most.
    public var dataPackageBytesMax: UInt64 = 32 << 20
    /// Bytes of one index line, at most; a longer one is skipped with a finding.
    public var indexLineBytesMax = 1 << 20
    /// Bytes of one line of a page list, at most. Long, because a line may hold the text of its page.
    public var pageLineBytesMax = 16 << 20
    /// Bytes without a line end that are read to skip a line which is too long, at most; past it the file is refused.
    public var skippedLineBytesMax = 32 << 20
    /// Bytes that a compressed index or page list may inflate to, for each compressed byte.
    public var inflationRatioMax: UInt64 = 250
    /// Bytes that a compressed index or page list may inflate to whatever the ratio.
    public var inflatedBytesAlwaysAllowed: UInt64 = 64 << 20
    /// Bytes of a compressed `.idx` that are inflated into memory, at most; with more, lookups scan.
    public var idxBytesInMemoryMax: UInt64 = 32 << 20
    /// Bytes of an index, or of an `.idx`, whose order is checked in full before it is searched; a larger one is sampled.
    public var sortCheckBytesMax: UInt64 = 16 << 20
    /// Bytes of one block of a ZipNum index, compressed or inflated, at most; with more, lookups scan.
    public var indexBlockBytesMax = 16 << 20
    /// Inflated blocks that one ZipNum index keeps, at most.
    public var cachedIndexBlocksMax = 16
    /// Bytes of all inflated blocks that one ZipNum index keeps; one block is kept whatever its size.
    public var cachedIndexBlockBytesMax = 4 << 20
    /// Lines without a request method that one lookup passes over in search of those with one, at most.
    public var methodSearchLinesMax = 4096
    /// Bytes of one value in an index query, at most.
    public var queryValueBytesMax = 16 << 10
    /// Values of one repeatable parameter of an index query, at most.
    public var queryRepetitionsMax = 32
    /// Fields that an index query may ask for, at most; also members of an index line beside the usual ones.
    public var queryFieldsMax = 64
    /// Bytes of a regular expression in an index query, at most.
    public var queryPatternBytesMax = 1024
    /// Bytes that one compiled regular expression may take with its caches.
    public var queryPatternMemoryMax = 4 << 20
    /// Captures that are compared with a URL that was not captured, at most.
    public var fuzzyCandidatesMax = 10_000
    /// Bytes of index lines that are sorted in memory at a time.
    public var sortedBytesMax = 32 << 20
    /// Bytes of one WARC record's header, at most.
    public var warcHeaderBytesMax = 1 << 20
    /// Bytes of one HTTP message's head, at most.
    public var httpHeadBytesMax = 1 << 20
    /// Findings of one code that are kept; the rest is counted.
    public var findingsPerCodeMax = 20
    /// Levels of nesting in a JSON text, at most.
    public var jsonDepthMax = 64

    /// The bounds used when nothing else is asked for.
    public static let standard = Limits()

    /// Makes a copy of the standard bounds, to be changed.
    public init() {}

    /// Bytes that `compressed` bytes of an index or a page list may inflate to.
    func inflatedBytesMax(compressed: UInt64) -> UInt64 {
        let (product, overflow) = compressed.multipliedReportingOverflow(by: inflationRatioMax)
        return max(overflow ? .max : product, inflatedBytesAlwaysAllowed)
    }
}
