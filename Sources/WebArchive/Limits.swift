/// Limits on what readers accept, so that no file can use unbounded memory or time.
public struct Limits: Sendable, Hashable {
    /// The maximum number of entries in a ZIP. Large archives contain few, large files: crawlers write WARCs of about 1
    /// GB.
    public var entriesMax = 100_000
    /// The maximum size of a ZIP's central directory: about 300 bytes for each entry.
    public var centralDirectoryBytesMax: UInt64 = 32 << 20
    /// The maximum number of bytes after a ZIP's end record.
    public var trailingJunkBytesMax = 1 << 20
    /// The maximum number of candidates for a ZIP's end record to try.
    public var endRecordCandidatesMax = 64
    /// The maximum decompressed size of `datapackage.json`. py-wacz writes 280 bytes for each file.
    public var dataPackageBytesMax: UInt64 = 16 << 20
    /// The maximum number of files, and of required packages, in `datapackage.json`.
    public var resourcesMax = 100_000
    /// The number of bytes to keep of a text in `datapackage.json` or a page list.
    public var textBytesMax = 64 << 10
    /// The number of bytes to keep of a page's title.
    public var titleBytesMax = 4 << 10
    /// The maximum size of `datapackage-digest.json`. Signatures with their certificates have about 20 kB.
    public var digestBytesMax: UInt64 = 1 << 20
    /// The maximum size of an index line. Longer ones are skipped with a finding. Its URL, key and request body can have up
    /// to about 80 KiB each if they are full of escapes.
    public var indexLineBytesMax = 256 << 10
    /// The maximum size of a line in a page list, which may contain the text of its page.
    public var pageLineBytesMax = 16 << 20
    /// The maximum number of bytes to skip for a line that is too long. The file is refused beyond this.
    public var skippedLineBytesMax = 32 << 20
    /// The maximum compression ratio of an index, a page list or `datapackage.json`. Real ones have ratios of 3 to 20.
    public var inflationRatioMax: UInt64 = 100
    /// The decompressed size of an index, a page list or `datapackage.json` that is allowed with any ratio.
    public var inflatedBytesAlwaysAllowed: UInt64 = 4 << 20
    /// The minimum average number of compressed bytes per line of an index or page list.
    ///
    /// Times, digests, offsets and IDs hardly compress: real index lines need 25 or more, and pages 5.
    public var compressedBytesPerLineMin: UInt64 = 3
    /// The number of lines in a compressed index or page list that is allowed with any compressed size.
    public var linesAlwaysAllowed: UInt64 = 10_000
    /// The maximum compression ratio of WACZ files in a multi-WACZ. They're already compressed themselves.
    public var memberInflationRatioMax: UInt64 = 4
    /// The minimum average size of WACZ files in a multi-WACZ. The smallest real ones have 3,600 bytes.
    public var bytesPerMemberMin: UInt64 = 2_500
    /// The number of WACZ files in a multi-WACZ that is allowed with any size.
    public var membersAlwaysAllowed = 100
    /// The maximum decompressed size of a compressed `.idx` file. If it's larger, lookups scan.
    public var idxBytesInMemoryMax: UInt64 = 32 << 20
    /// The maximum size of an index or `.idx` file whose order is checked completely before a search. Larger ones are
    /// sampled.
    public var sortCheckBytesMax: UInt64 = 16 << 20
    /// The maximum compressed or decompressed size of a block in a ZipNum index. If it's larger, lookups scan.
    public var indexBlockBytesMax = 8 << 20
    /// The maximum number of lines in a block of a ZipNum index. With more, lookups scan. Real blocks have 300 to
    /// 3,000.
    public var indexBlockLinesMax = 100_000
    /// The maximum number of decompressed blocks to cache for a ZipNum index.
    public var cachedIndexBlocksMax = 512
    /// The maximum total size of cached blocks of a ZipNum index. One block of any size is always cached.
    public var cachedIndexBlockBytesMax = 4 << 20
    /// The maximum number of lines without a request method to skip in a lookup for lines with one.
    public var methodSearchLinesMax = 4096
    /// The maximum number of captures beyond the limit of a list that are added because they have the same time.
    public var momentCapturesMax = 1000
    /// The maximum size of a URL, without the body of its request. Captures and pages with longer ones are left out.
    ///
    /// Web servers refuse longer requests: Apache and nginx by default from 8 KiB, Node.js from 16 KiB.
    public var urlBytesMax = 16 << 10
    /// The maximum size of a media type without its parameters, of a digest and of a request method.
    ///
    /// RFC 6838 §4.2 allows 127 characters for each of the two parts of a media type.
    public var tokenBytesMax = 255
    /// The maximum size of a value in an index query.
    public var queryValueBytesMax = 16 << 10
    /// The maximum number of values for a repeatable parameter of an index query.
    public var queryRepetitionsMax = 32
    /// The maximum number of fields in an index query, and of nonstandard members in an index line.
    public var queryFieldsMax = 64
    /// The maximum size of a regular expression in an index query.
    public var queryPatternBytesMax = 1024
    /// The maximum memory for a compiled regular expression and its caches.
    public var queryPatternMemoryMax = 4 << 20
    /// The maximum number of captures to compare with a URL that wasn't captured.
    public var fuzzyCandidatesMax = 10_000
    /// The maximum size of the index lines of these captures.
    public var fuzzyCandidateBytesMax = 8 << 20
    /// The number of bytes of index lines to sort in memory at a time.
    public var sortedBytesMax = 16 << 20
    /// The maximum number of bytes before a record in a WARC file that is compressed in the ZIP.
    ///
    /// They're decompressed for each access: at 300 MB/s, this takes about 15 seconds. Crawlers write WARC files of
    /// about 1 GB, and a ZIP without zip64 can't contain files larger than this.
    public var deflatedBytesBeforeRecordMax: UInt64 = 4 << 30
    /// The number of these bytes that is allowed with any ratio; beyond, `inflationRatioMax` holds.
    public var deflatedBytesAlwaysAllowed: UInt64 = 64 << 20
    /// The maximum size of a WARC record's header.
    public var warcHeaderBytesMax = 256 << 10
    /// The maximum size of an HTTP message's head, as in Chromium. Firefox accepts 384 KiB and curl 300 KiB.
    ///
    /// Web servers accept less in requests: nginx 32 KiB, Node.js 16 KiB, and Apache 8,190 bytes for each field.
    public var httpHeadBytesMax = 256 << 10
    /// The maximum number of lines in a WARC record's header, and in an HTTP message's head: as in Node.js. Apache accepts
    /// 100 fields in requests.
    public var headLinesMax = 2000
    /// The maximum size of the first line of an HTTP message: twice that of a URL, whose characters may be escaped.
    public var startLineBytesMax = 32 << 10
    /// The size of HTTP heads, request bodies and documents that one step may parse in an archive of any size; see `Allowance`.
    public var parsedBytesAlwaysAllowed: UInt64 = 32 << 20
    /// The decompressed size of a document up to which its title and text are read when it's imported.
    public var importedTextBytesMax: UInt64 = 16 << 20
    /// The size of a decompressed WARC file to convert that is allowed with any ratio.
    public var convertedBytesAlwaysAllowed: UInt64 = 64 << 20
    /// The number of findings to keep for each code. Others are only counted.
    public var findingsPerCodeMax = 20
    /// The maximum nesting depth of a JSON text.
    public var jsonDepthMax = 64

    /// The default limits.
    public static let standard = Limits()

    /// Creates the default limits, to be changed.
    public init() {}

    /// Returns the decompressed size that is allowed for `compressed` bytes of an index or page list.
    func inflatedBytesMax(compressed: UInt64) -> UInt64 { inflatedBytesMax(compressed, ratio: inflationRatioMax) }

    /// Returns the decompressed size that is allowed for a `datapackage.json`.
    func dataPackageBytesMax(compressed: UInt64) -> UInt64 {
        min(inflatedBytesMax(compressed: compressed), dataPackageBytesMax)
    }

    /// Returns the decompressed size that is allowed for `compressed` bytes of WACZ files.
    func memberBytesMax(compressed: UInt64) -> UInt64 { inflatedBytesMax(compressed, ratio: memberInflationRatioMax) }

    /// Returns the number of lines or records that is allowed for `compressed` bytes.
    func linesMax(compressed: UInt64) -> UInt64 {
        max(compressed / max(compressedBytesPerLineMin, 1), linesAlwaysAllowed)
    }

    /// Returns the number of bytes that may be before a record in a WARC file that is compressed in the ZIP.
    func bytesBeforeRecordMax(compressed: UInt64) -> UInt64 {
        min(
            deflatedBytesBeforeRecordMax,
            max(inflatedBytesMax(compressed: compressed), deflatedBytesAlwaysAllowed))
    }

    /// Returns the decompressed size that is allowed for a WARC file that is converted, which takes space on the disk.
    func convertedBytesMax(compressed: UInt64) -> UInt64 {
        max(inflatedBytesMax(compressed, ratio: inflationRatioMax / 2), convertedBytesAlwaysAllowed)
    }

    private func inflatedBytesMax(_ compressed: UInt64, ratio: UInt64) -> UInt64 {
        max(compressed.multipliedSaturated(by: ratio), inflatedBytesAlwaysAllowed)
    }
}
