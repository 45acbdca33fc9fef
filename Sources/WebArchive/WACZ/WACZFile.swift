/// An opened WACZ: a ZIP with WARC files, their indexes and lists of pages. WACZ 1.1.1.
///
/// Opening reads the ZIP's directory and `datapackage.json`, whatever the size of the file. The value is immutable and
/// may be shared among threads; each reader that it makes belongs to one.
public struct WACZFile: Sendable {
    /// The ZIP's directory.
    public private(set) var directory: ZIPDirectory
    /// What `datapackage.json` or the older `webarchive.yaml` says; `nil` when both are missing or unreadable.
    public let dataPackage: DataPackage?
    /// What `datapackage-digest.json` says; `nil` when it is missing or unreadable.
    public let digest: DataPackageDigest?
    /// WARC files, in the order of the directory.
    public let warcEntries: [ZIPEntry]
    /// CDXJ files, plain or gzipped, in the order of the directory; `.idx` files are not among them.
    public let indexEntries: [ZIPEntry]
    /// Page lists, `pages/pages.jsonl` first.
    public let pageEntries: [ZIPEntry]
    /// What opening found to be wrong; also part of an inspection's findings.
    public let openFindings: [Finding]
    let limits: Limits
    /// What lookups search, shared by all copies of the value.
    var captureIndex: CaptureIndex

    /// The file's bytes.
    public var source: any ByteSource { directory.source }
    /// The name to use in error texts.
    public var name: String { source.name }
    /// Bytes of the file.
    public var size: UInt64 { source.size }
    /// The page to show first.
    public var mainPage: DataPackage.MainPage? { dataPackage?.mainPage }

    /// Opens the file at `path`.
    ///
    /// - Parameter path: Of the file.
    /// - Parameter displayName: The name for error texts; the last part of `path` when `nil`.
    /// - Parameter limits: What is refused as too large.
    /// - Throws: `io`, `empty`, `notZIP` or `truncated` for what is no whole ZIP; `noArchiveData` and `multiWACZ` for a
    ///   ZIP that is no WACZ; what `ZIPDirectory` throws for a damaged or hostile one.
    public static func open(
        path: String, displayName: String? = nil, limits: Limits = .standard
    ) throws(WebArchiveError) -> WACZFile {
        try open(FileByteSource(path: path, name: displayName), limits: limits)
    }

    /// Opens the WACZ in `source`; throws as `open(path:displayName:limits:)` does.
    public static func open(
        _ source: any ByteSource, limits: Limits = .standard
    ) throws(WebArchiveError) -> WACZFile {
        let directory = try ZIPDirectory(source: source, limits: limits)
        var log = FindingLog(perCodeMax: limits.findingsPerCodeMax)
        let dataPackage = try readDataPackage(directory, &log)
        let digest = try readDigest(directory, &log)
        let safe = directory.entries.filter { !$0.isUnsafe && !$0.isDirectory }
        let archived = safe.filter { $0.name.hasPrefix("archive/") }
        try refusePackageOfPackages(dataPackage, archived, name: source.name)
        guard !archived.isEmpty else { throw noArchiveData(safe, name: source.name) }
        return WACZFile(
            directory: directory, dataPackage: dataPackage, digest: digest, warcEntries: warcs(among: archived),
            indexEntries: safe.filter { isIndex($0.name) }, pageEntries: pageLists(among: safe),
            openFindings: directory.findings + log.findings, limits: limits, captureIndex: CaptureIndex())
    }

    /// The same WACZ, read from a copy of its bytes. Nothing is parsed again: the copy must not differ.
    package func reading(from copy: any ByteSource) -> WACZFile {
        var file = self
        file.directory.source = copy
        file.captureIndex = CaptureIndex()
        return file
    }

    /// The same WACZ, which shares with other openings of it what lookups find to be wrong with the indexes.
    package func sharing(_ fault: IndexFault) -> WACZFile {
        var file = self
        file.captureIndex = CaptureIndex(captureIndex, fault: fault)
        return file
    }

    /// A reader of every page in the lists.
    public func makePageReader() -> PageReader { PageReader(self) }

    /// A reader of every index entry.
    public func makeCaptureReader() -> CaptureReader { CaptureReader(self) }

    /// Calls `body` with each page until it returns `false`.
    ///
    /// - Returns: What is wrong in the part that was read.
    /// - Throws: What `body` throws, and what `PageReader.next()` throws.
    @discardableResult
    public func forEachPage(_ body: (Page) throws -> Bool) throws -> [Finding] {
        let reader = makePageReader()
        while let page = try reader.next() {
            guard try body(page) else { break }
        }
        return reader.findings
    }

    /// Calls `body` with each index entry and its place until it returns `false`.
    ///
    /// - Returns: What is wrong in the part that was read.
    /// - Throws: What `body` throws, and what `CaptureReader.next()` throws.
    @discardableResult
    public func forEachIndexEntry(_ body: (CDXJEntry, IndexLocation) throws -> Bool) throws -> [Finding] {
        let reader = makeCaptureReader()
        while let (entry, location) = try reader.next() {
            guard try body(entry, location) else { break }
        }
        return reader.findings
    }

    /// The WARC file that an index entry names. Only entries below `archive/` are ever looked at.
    public func warcEntry(named filename: String) -> ZIPEntry? {
        directory.entry(named: "archive/\(filename)")
            ?? (filename.hasPrefix("archive/") ? directory.entry(named: filename) : nil)
    }

    /// Opens the record that an index entry names.
    ///
    /// - Throws: `badIndex` when the package holds no such WARC, or the record cannot be inside of it; what
    ///   `WARCReader.record(at:length:)` throws.
    public func record(of entry: CDXJEntry) throws(WebArchiveError) -> WARCRecord {
        try warcReader(of: entry).record(at: entry.offset, length: entry.length)
    }

    /// Opens the record that an index entry names, up to its body.
    ///
    /// - Parameter check: Asked while a WARC file that the ZIP compresses is inflated up to the record.
    /// - Throws: As `record(of:)` and `RecordContent.init` do; also `cancelled`.
    package func content(
        of entry: CDXJEntry, _ check: CancellationCheck
    ) throws(WebArchiveError) -> RecordContent {
        try warcReader(of: entry).content(at: entry.offset, length: entry.length, check)
    }

    private func warcReader(of entry: CDXJEntry) throws(WebArchiveError) -> WARCReader {
        guard let warc = warcEntry(named: entry.filename) else {
            throw WebArchiveError(
                code: .badIndex, problem: "the index names '\(entry.filename)', which the package does not hold",
                file: "\(name)/archive")
        }
        return try WARCReader(entry: warc, of: directory)
    }

    /// The text of an index or a page list, inflated when its name or its first bytes say gzip, and bounded.
    func textStream(of entry: ZIPEntry) throws(WebArchiveError) -> any ByteStream {
        try textStream(of: entry, from: directory.stream(of: entry))
    }

    /// The same, from an already opened stream of the entry.
    func textStream(of entry: ZIPEntry, from stream: any ByteStream) throws(WebArchiveError) -> any ByteStream {
        Self.bounded(stream, entry, limits)
    }

    private static func bounded(_ stream: any ByteStream, _ entry: ZIPEntry, _ limits: Limits) -> any ByteStream {
        let isGzip = entry.name.lowercased().hasSuffix(".gz")
        let text = isGzip ? GzipStream(stream) : stream
        guard isGzip || entry.method == .deflated else { return text }
        return BoundedStream(text, compressed: entry.compressedSize, limits: limits)
    }

    /// What layouts before 1.0 have instead of `datapackage.json`.
    var legacyEntry: ZIPEntry? { directory.entry(named: Self.legacyName) }

    private static let legacyName = "webarchive.yaml"
}

extension WACZFile {
    static func readDataPackage(
        _ directory: ZIPDirectory, _ log: inout FindingLog
    ) throws(WebArchiveError) -> DataPackage? {
        let limits = directory.limits
        if let entry = directory.entry(named: "datapackage.json") {
            do throws(WebArchiveError) {
                let bytes = try directory.contents(of: entry, limit: limits.dataPackageBytesMax)
                noteByteOrderMark(bytes, entry, &log)
                return try DataPackage.parse(bytes, file: directory.path(of: entry), limits: limits)
            } catch let error where error.isDamage {
                let place = error.offset.map { ", byte \($0)" } ?? ""
                log.add(
                    .warning, error.code == .badJSON ? "datapackage-not-json" : "datapackage-damaged",
                    "The package description cannot be read: \(error.problem)\(place).", at: entry.name,
                    consequence: "Title, hashes and main page are unknown; captures can be replayed.")
                return nil
            }
        }
        if let entry = directory.entry(named: legacyName) {
            log.add(
                .warning, "datapackage-legacy", "The package has the layout from before WACZ 1.0.",
                at: entry.name,
                consequence: "Other programs may refuse it; there are no hashes to verify.")
            let text = bounded(try directory.stream(of: entry), entry, limits)
            return try DataPackage.parseLegacy(text, limits: limits)
        }
        log.add(
            .warning, "datapackage-missing", "The package has no description of itself.", at: "datapackage.json",
            consequence: "Title and main page are unknown and nothing can be verified; captures can be replayed.")
        return nil
    }

    private static func noteByteOrderMark(_ bytes: [UInt8], _ entry: ZIPEntry, _ log: inout FindingLog) {
        guard bytes.starts(with: JSONScanner.byteOrderMark) else { return }
        log.add(
            .notice, "byte-order-mark", "The file begins with a byte-order mark, which JSON does not allow.",
            at: entry.name, consequence: "None for replay; other programs may be unable to read the file.")
    }

    private static func readDigest(
        _ directory: ZIPDirectory, _ log: inout FindingLog
    ) throws(WebArchiveError) -> DataPackageDigest? {
        guard let entry = directory.entry(named: "datapackage-digest.json") else { return nil }
        do throws(WebArchiveError) {
            let bytes = try directory.contents(of: entry, limit: directory.limits.digestBytesMax)
            noteByteOrderMark(bytes, entry, &log)
            return try DataPackageDigest.parse(bytes, file: directory.path(of: entry), limits: directory.limits)
        } catch let error where error.isDamage {
            log.add(
                .warning, "digest-damaged", "The signature file cannot be read: \(error.problem).", at: entry.name,
                consequence: "None for replay; who made the file cannot be verified.")
            return nil
        }
    }

    private static func refusePackageOfPackages(
        _ dataPackage: DataPackage?, _ archived: [ZIPEntry], name: String
    ) throws(WebArchiveError) {
        let nested = archived.filter { $0.name.lowercased().hasSuffix(".wacz") }.count
        let isMulti = dataPackage?.profile == "multi-wacz-package"
        guard isMulti || nested > 0 else { return }
        let count = isMulti ? max(dataPackage?.resources.count ?? 0, nested) : nested
        throw WebArchiveError(
            code: .multiWACZ,
            problem: nested > 0
                ? "the package holds WACZ files (\(count)) instead of captures"
                : "the package lists WACZ files (\(count)) that are elsewhere, and holds none", file: name,
            hint: nested > 0 ? nil : "get these files, and import them")
    }

    private static func noArchiveData(_ entries: [ZIPEntry], name: String) -> WebArchiveError {
        let misplaced = entries.contains { $0.name.contains("/archive/") }
        return WebArchiveError(
            code: .noArchiveData, problem: "a ZIP of \(entries.count) files, none of them in archive/", file: name,
            hint: misplaced ? "archive/ is inside of another folder: pack that folder's content as a ZIP" : nil)
    }

    /// The files in `archive/` that are named as WARC files; all of them when none is.
    private static func warcs(among archived: [ZIPEntry]) -> [ZIPEntry] {
        let named = archived.filter { entry in
            let name = entry.name.lowercased()
            return name.hasSuffix(".warc") || name.hasSuffix(".warc.gz")
        }
        return named.isEmpty ? archived : named
    }

    private static func isIndex(_ name: String) -> Bool {
        guard name.hasPrefix("indexes/") else { return false }
        let lower = name.lowercased()
        return [".cdx", ".cdxj", ".cdx.gz", ".cdxj.gz"].contains { lower.hasSuffix($0) }
    }

    private static func pageLists(among entries: [ZIPEntry]) -> [ZIPEntry] {
        let lists = entries.filter { entry in
            let name = entry.name.lowercased()
            return name.hasPrefix("pages/") && (name.hasSuffix(".jsonl") || name.hasSuffix(".jsonl.gz"))
        }
        let first = lists.filter { $0.name == "pages/pages.jsonl" }
        return first + lists.filter { $0.name != "pages/pages.jsonl" }
    }
}
