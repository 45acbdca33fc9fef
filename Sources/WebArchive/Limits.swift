/// Bounds on what a reader accepts, so that no file can cost unbounded memory or time.
public struct Limits: Sendable, Hashable {
    /// Entries in one ZIP, at most. Large packages hold few, large files: crawlers write WARC files of about 1 GB.
    public var entriesMax = 100_000
    /// Bytes of one ZIP's central directory, at most: 300 for each of the entries.
    public var centralDirectoryBytesMax: UInt64 = 32 << 20
    /// Bytes after the ZIP's end record that are tolerated, at most.
    public var trailingJunkBytesMax = 1 << 20
    /// Places that look like a ZIP's end record and are tried, at most.
    public var endRecordCandidatesMax = 64
    /// Bytes of an inflated `datapackage.json`, at most: py-wacz needs 280 for each file it lists.
    public var dataPackageBytesMax: UInt64 = 16 << 20
    /// Files, and required packages, that `datapackage.json` may list.
    public var resourcesMax = 100_000
    /// Bytes of a text in a package's description or page lists that are kept; the rest is cut off.
    public var textBytesMax = 64 << 10
    /// Bytes of `datapackage-digest.json`, at most. Signatures with their certificates have some 20 kB.
    public var digestBytesMax: UInt64 = 1 << 20
    /// Bytes of one index line, at most; a longer one is skipped with a finding.
    public var indexLineBytesMax = 1 << 20
    /// Bytes of one line of a page list, at most. Long, because a line may hold the text of its page.
    public var pageLineBytesMax = 16 << 20
    /// Bytes without a line end that are read to skip a line which is too long, at most; past it the file is refused.
    public var skippedLineBytesMax = 32 << 20
    /// Bytes that a compressed index or page list may inflate to, for each compressed byte. Real ones inflate 3 to 20 times.
    public var inflationRatioMax: UInt64 = 100
    /// Bytes that a compressed index or page list may inflate to whatever the ratio.
    public var inflatedBytesAlwaysAllowed: UInt64 = 4 << 20
    /// Compressed bytes of an index or a page list that each of its lines needs on average, at least. Times, digests, offsets
    /// and identifiers hardly compress: a real index line needs 25 or more, a page with its time 5.
    public var compressedBytesPerLineMin: UInt64 = 3
    /// Lines that a compressed index or page list may have whatever their compressed size.
    public var linesAlwaysAllowed: UInt64 = 10_000
    /// Bytes that compressed WACZ files in a package may inflate to, for each compressed byte. They are compressed themselves.
    public var memberInflationRatioMax: UInt64 = 4
    /// Bytes that each WACZ file in a package needs on average, at least. The smallest real ones have 3,600.
    public var bytesPerMemberMin: UInt64 = 2_500
    /// WACZ files that a package may hold whatever their size.
    public var membersAlwaysAllowed = 100
    /// Bytes of a compressed `.idx` that are inflated into memory, at most; with more, lookups scan.
    public var idxBytesInMemoryMax: UInt64 = 32 << 20
    /// Bytes of an index, or of an `.idx`, whose order is checked in full before it is searched; a larger one is sampled.
    public var sortCheckBytesMax: UInt64 = 16 << 20
    /// Bytes of one block of a ZipNum index, compressed or inflated, at most; with more, lookups scan.
    public var indexBlockBytesMax = 8 << 20
    /// Lines of one block of a ZipNum index, at most; with more, lookups scan. Real ones have 300 to 3,000.
    public var indexBlockLinesMax = 100_000
    /// Inflated blocks that one ZipNum index keeps, at most.
    public var cachedIndexBlocksMax = 16
    /// Bytes of all inflated blocks that one ZipNum index keeps; one block is kept whatever its size.
    public var cachedIndexBlockBytesMax = 4 << 20
    /// Lines without a request method that one lookup passes over in search of those with one, at most.
    public var methodSearchLinesMax = 4096
    /// Captures of one moment that a list of captures gives beyond its limit, so as not to end within the moment.
    public var momentCapturesMax = 1000
    /// Bytes of a URL that is looked up, at most, before the body of its request becomes part of it.
    public var urlBytesMax = 16 << 10
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
    /// Bytes of the index lines of these captures, at most.
    public var fuzzyCandidateBytesMax = 8 << 20
    /// Bytes of index lines that are sorted in memory at a time.
    public var sortedBytesMax = 16 << 20
    /// Bytes of a WARC file before a record, at most, when the ZIP compresses the file: they are inflated at each visit. Time
    /// goes by what is inflated, whatever its compressed size: at 300 MB/s this is some 15 seconds. Crawlers write WARC
    /// files of about 1 GB, and a ZIP without zip64 holds no larger files.
    public var deflatedBytesBeforeRecordMax: UInt64 = 4 << 30
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
    func inflatedBytesMax(compressed: UInt64) -> UInt64 { inflatedBytesMax(compressed, ratio: inflationRatioMax) }

    /// Bytes that `compressed` bytes of WACZ files may inflate to.
    func memberBytesMax(compressed: UInt64) -> UInt64 { inflatedBytesMax(compressed, ratio: memberInflationRatioMax) }

    /// Lines, or records, that `compressed` bytes may hold.
    func linesMax(compressed: UInt64) -> UInt64 {
        max(compressed / max(compressedBytesPerLineMin, 1), linesAlwaysAllowed)
    }

    private func inflatedBytesMax(_ compressed: UInt64, ratio: UInt64) -> UInt64 {
        let (product, overflow) = compressed.multipliedReportingOverflow(by: ratio)
        return max(overflow ? .max : product, inflatedBytesAlwaysAllowed)
    }
}
