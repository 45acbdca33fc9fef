import Crypto

/// An open WACZ file: a ZIP with WARC files, indexes and page lists. WACZ 1.1.1.
///
/// Opening reads only the ZIP's directory and `datapackage.json`. The value is immutable and thread-safe; use each of
/// its readers from one thread at a time.
public struct WACZFile: Sendable {
    /// The ZIP's directory.
    public private(set) var directory: ZIPDirectory
    /// The contents of `datapackage.json` or the older `webarchive.yaml`; `nil` if both are missing or invalid.
    public let dataPackage: DataPackage?
    /// The contents of `datapackage-digest.json`; `nil` if it's missing or invalid.
    public let digest: DataPackageDigest?
    /// The WARC files, in the order of the ZIP's directory.
    public private(set) var warcEntries: [ZIPEntry]
    /// The plain or gzipped CDXJ files, without `.idx` files, in the order of the ZIP's directory.
    public private(set) var indexEntries: [ZIPEntry]
    /// The page lists, starting with `pages/pages.jsonl`.
    public private(set) var pageEntries: [ZIPEntry]
    /// The files with captures, indexes and pages that a signed archive has, but that its signature doesn't cover: its list of
    /// files doesn't name them, or has no hash of them. They are set aside, and nothing reads them, so that what is shown
    /// under the mark of a signature is what was signed; except in a file from `showingUncovered()`.
    public let uncoveredEntries: [ZIPEntry]
    private let uncoveredNames: Set<String>
    /// Whether the files that the signature doesn't cover are read like the others.
    package private(set) var showsUncovered = false
    /// The findings of opening the file, which an inspection includes too.
    public let openFindings: [Finding]
    /// The folder with `archive/`, `indexes/` and `pages/`: `data/` in a layout from before WACZ 1.0, otherwise empty.
    let folder: String
    let limits: Limits
    /// What reading the records may cost.
    private(set) var allowance: Allowance
    /// The indexes for lookups, shared by all copies of the value.
    var captureIndex: CaptureIndex

    /// The size in bytes of what lookups keep in memory, shared by all copies of the value.
    package var keptByteCount: Int { captureIndex.keptByteCount }

    /// The byte source of the file.
    public var source: any ByteSource { directory.source }
    /// The name shown in error messages.
    public var name: String { source.name }
    /// The size of the file in bytes.
    public var size: UInt64 { source.size }
    /// The page to show first.
    public var mainPage: DataPackage.MainPage? { dataPackage?.mainPage }

    /// Opens the file at `path`.
    ///
    /// Reading its records may cost what one step may: see `charging`.
    ///
    /// - Parameter path: The path of the file.
    /// - Parameter displayName: The name shown in error messages; by default, the last component of `path`.
    /// - Parameter limits: The limits on what is accepted.
    /// - Throws: `io`, `empty`, `notZIP` or `truncated` if the file isn't a complete ZIP; `noArchiveData` or
    ///   `multiWACZ` if the ZIP isn't a WACZ; the errors of `ZIPDirectory` if it's damaged or an attack.
    public static func open(
        path: String, displayName: String? = nil, limits: Limits = .standard
    ) throws(WebArchiveError) -> WACZFile {
        try open(FileByteSource(path: path, name: displayName), limits: limits)
    }

    /// Opens the WACZ in `source`. Throws the errors of `open(path:displayName:limits:)`.
    public static func open(
        _ source: any ByteSource, limits: Limits = .standard
    ) throws(WebArchiveError) -> WACZFile {
        let directory = try ZIPDirectory(source: source, limits: limits)
        var log = FindingLog(perCodeMax: limits.findingsPerCodeMax)
        let dataPackage = try readDataPackage(directory, &log)
        let digest = try readDigest(directory, &log)
        let all = directory.entries.filter { !$0.isUnsafe && !$0.isDirectory }
        let folder = folder(of: all, &log)
        let uncovered = digest?.signer == nil ? [] : uncoveredEntries(all, dataPackage, in: folder, &log)
        let uncoveredNames = Set(uncovered.map(\.name))
        let safe = all.filter { !uncoveredNames.contains($0.name) }
        let archived = safe.filter { $0.name.hasPrefix("\(folder)archive/") }
        try refuseMultiWACZ(dataPackage, safe, archived, name: source.name)
        guard !archived.isEmpty else { throw noArchiveData(safe, name: source.name) }
        return WACZFile(
            directory: directory, dataPackage: dataPackage, digest: digest, warcEntries: warcs(among: archived),
            indexEntries: safe.filter { isIndex($0.name, in: folder) }, pageEntries: pageLists(among: safe, in: folder),
            uncoveredEntries: uncovered, uncoveredNames: uncoveredNames,
            openFindings: directory.findings + log.findings, folder: folder, limits: limits,
            allowance: Allowance(archiveSize: source.size, limits: limits), captureIndex: CaptureIndex())
    }

    /// Returns the folder with the captures. Early versions of py-wacz packed them in `data/`.
    private static func folder(of entries: [ZIPEntry], _ log: inout FindingLog) -> String {
        guard !entries.contains(where: { $0.name.hasPrefix("archive/") }),
            entries.contains(where: { $0.name.hasPrefix("data/archive/") && isWARC($0.name) })
        else { return "" }
        log.add(
            .warning, "data-folder", "The captures are in the folder data/, as in layouts from before WACZ 1.0.",
            at: "data/", consequence: "They replay only by lookups, and other programs may refuse the archive.")
        return "data/"
    }

    /// Returns a copy that reads from `copy`, which must have the same bytes. Nothing is parsed again.
    package func reading(from copy: any ByteSource) -> WACZFile {
        var file = self
        file.directory.source = copy
        file.captureIndex = CaptureIndex()
        return file
    }

    /// Returns a copy whose records are read at the cost of an allowance.
    ///
    /// A program that keeps a file open gives each of its steps a new one.
    public func charging(_ allowance: Allowance) -> WACZFile {
        var file = self
        file.allowance = allowance
        return file
    }

    /// Returns a copy that shares index faults found by lookups with other openings of the same file.
    package func sharing(_ fault: IndexFault) -> WACZFile {
        var file = self
        file.captureIndex = CaptureIndex(captureIndex, fault: fault)
        return file
    }

    /// Returns a reader for all pages.
    ///
    /// - Parameter keepsText: Whether pages have their `text`, which can be several megabytes each.
    public func makePageReader(keepsText: Bool = false) -> PageReader { PageReader(self, keepsText: keepsText) }

    /// Returns a reader for all index entries.
    public func makeCaptureReader() -> CaptureReader { CaptureReader(self) }

    /// Calls `body` with each page until it returns `false`.
    ///
    /// - Returns: The findings in the part that was read.
    /// - Throws: The errors of `body` and `PageReader.next()`.
    @discardableResult
    public func forEachPage(_ body: (Page) throws -> Bool) throws -> [Finding] {
        let reader = makePageReader()
        while let page = try reader.next() {
            guard try body(page) else { break }
        }
        return reader.findings
    }

    /// Calls `body` with each index entry and its location until it returns `false`.
    ///
    /// - Returns: The findings in the part that was read.
    /// - Throws: The errors of `body` and `CaptureReader.next()`.
    @discardableResult
    public func forEachIndexEntry(_ body: (CDXJEntry, IndexLocation) throws -> Bool) throws -> [Finding] {
        let reader = makeCaptureReader()
        while let (entry, location) = try reader.next() {
            guard try body(entry, location) else { break }
        }
        return reader.findings
    }

    /// Returns the WARC file with the name in an index entry. Searches only in `archive/`.
    public func warcEntry(named filename: String) -> ZIPEntry? {
        let entry =
            directory.entry(named: "\(folder)archive/\(filename)")
            ?? (filename.hasPrefix("archive/") ? directory.entry(named: folder + filename) : nil)
        return entry.flatMap { isSetAside($0) ? nil : $0 }
    }

    /// Whether a file isn't read, since the signature doesn't cover it.
    package func isSetAside(_ entry: ZIPEntry) -> Bool { !showsUncovered && isUncovered(entry) }

    /// Whether a file of a signed archive isn't covered by its signature.
    package func isUncovered(_ entry: ZIPEntry) -> Bool { uncoveredNames.contains(entry.name) }

    /// Whether the record of an index entry isn't covered by the signature of the archive.
    package func isUncovered(_ entry: CDXJEntry) -> Bool { warcEntry(named: entry.filename).map(isUncovered) ?? false }

    /// Returns a copy that reads also what the signature doesn't cover.
    package func showingUncovered() -> WACZFile {
        guard !uncoveredEntries.isEmpty else { return self }
        var file = self
        file.showsUncovered = true
        let all = directory.entries.filter { !$0.isUnsafe && !$0.isDirectory }
        file.warcEntries = Self.warcs(among: all.filter { $0.name.hasPrefix("\(folder)archive/") })
        file.indexEntries = all.filter { Self.isIndex($0.name, in: folder) }
        file.pageEntries = Self.pageLists(among: all, in: folder)
        file.captureIndex = CaptureIndex()
        return file
    }

    /// Returns the path that an entry has in the layout of WACZ 1.0 and later.
    package func path(of entry: ZIPEntry) -> String {
        entry.name.hasPrefix(folder) ? String(entry.name.dropFirst(folder.count)) : entry.name
    }

    /// Opens the record that an index entry names.
    ///
    /// - Throws: `badIndex` if the WARC file is missing or too small for the record; the errors of
    ///   `WARCReader.record(at:length:)`.
    public func record(of entry: CDXJEntry) throws(WebArchiveError) -> WARCRecord {
        try warcReader(of: entry).record(at: entry.offset, length: entry.length)
    }

    /// Opens the record that an index entry names, up to its body.
    ///
    /// - Parameter check: Called while a WARC file that is compressed in the ZIP is decompressed up to the record.
    /// - Throws: `badIndex` if the record is of another URL or time; the errors of `record(of:)` and `RecordContent.init`;
    ///   `cancelled`.
    package func content(
        of entry: CDXJEntry, _ check: CancellationCheck
    ) throws(WebArchiveError) -> RecordContent {
        let content = try warcReader(of: entry).content(at: entry.offset, length: entry.length, check)
        guard entry.lists(content.record) else {
            throw WebArchiveError(
                code: .badIndex,
                problem: "the record is of \((content.record.targetURI ?? "an unknown URL").prefix(500)) and "
                    + "\(content.record.timestamp?.digits14 ?? "an unknown time"), which isn't what the index lists",
                file: "\(name)/\(warcName(of: entry) ?? entry.filename)", offset: entry.offset)
        }
        return content
    }

    /// Returns the name in the package of the WARC file that an index entry names; `nil` if it's missing.
    package func warcName(of entry: CDXJEntry) -> String? { warcEntry(named: entry.filename)?.name }

    /// Returns the SHA-256 of the bytes of a record in its WARC file, in hexadecimal digits. They are those of the gzip
    /// member if it's compressed.
    ///
    /// - Throws: `badIndex` if the WARC file is missing or too small for the record; `io`; `cancelled`.
    package func recordSHA256(of entry: CDXJEntry, _ check: CancellationCheck) throws -> String {
        let stream = try warcReader(of: entry).storedBytes(at: entry.offset, length: entry.length, check)
        var hash = SHA256()
        try stream.forEachChunk(chunkBytesMax: 1 << 20) { bytes in
            try check.now()
            hash.update(bufferPointer: bytes)
            return true
        }
        return hash.finalize().hexadecimal
    }

    private func warcReader(of entry: CDXJEntry) throws(WebArchiveError) -> WARCReader {
        guard let warc = warcEntry(named: entry.filename) else {
            throw WebArchiveError(
                code: .badIndex, problem: "the data file \"\(entry.filename)\" is missing from the archive",
                file: "\(name)/archive")
        }
        return try WARCReader(entry: warc, of: directory, allowance)
    }

    /// Returns the text of an index or page list within limits, decompressed if its name or first bytes indicate gzip.
    func textStream(of entry: ZIPEntry) throws(WebArchiveError) -> any ByteStream {
        let allowance = Allowance(archiveSize: entry.compressedSize)
        return Self.textStream(of: entry, from: try directory.stream(of: entry, allowance), allowance, limits: limits)
    }

    /// Returns the text of an index or page list from an open stream of the entry.
    ///
    /// Each reading has an allowance of its own, since a lookup may have to read a whole index.
    static func textStream(
        of entry: ZIPEntry, from stream: any ByteStream, _ allowance: Allowance, limits: Limits
    ) -> any ByteStream {
        let isGzip = entry.name.lowercased().hasSuffix(".gz")
        let text = isGzip ? GzipStream(stream, allowance) : stream
        guard isGzip || entry.method == .deflated else { return text }
        return BoundedStream(text, compressed: entry.compressedSize, limits: limits)
    }

    /// The `webarchive.yaml` that layouts before 1.0 have instead of `datapackage.json`.
    var legacyEntry: ZIPEntry? { directory.entry(named: Self.legacyName) }

    private static let legacyName = "webarchive.yaml"
}

extension CDXJEntry {
    /// Whether a record is the one that the entry lists: of its URL, in any spelling, and of its time.
    fileprivate func lists(_ record: WARCRecord) -> Bool {
        guard let recorded = record.targetURI, record.timestamp?.digits14 == captureTime?.digits14 else { return false }
        if recorded == url || SURT.key(for: recorded) == SURT.key(for: url) { return true }
        // Some indexers add the method and the body of a request to its URL.
        let added = url.dropFirst(recorded.count)
        return url.hasPrefix(recorded) && ["?", "&"].contains(added.first) && added.contains("__wb_method=")
    }
}

extension WACZFile {
    static func readDataPackage(
        _ directory: ZIPDirectory, _ log: inout FindingLog
    ) throws(WebArchiveError) -> DataPackage? {
        let limits = directory.limits
        if let entry = directory.entry(named: "datapackage.json") {
            do throws(WebArchiveError) {
                let bytesMax = limits.dataPackageBytesMax(compressed: entry.compressedSize)
                let bytes = try directory.contents(of: entry, limit: bytesMax)
                noteByteOrderMark(bytes, entry, &log)
                return try DataPackage.parse(bytes, file: directory.path(of: entry), limits: limits)
            } catch let error where error.isDamage {
                let place = error.offset.map { ", byte \($0)" } ?? ""
                log.add(
                    .warning, error.code == .badJSON ? "datapackage-not-json" : "datapackage-damaged",
                    "datapackage.json can't be read: \(error.problem)\(place).", at: entry.name,
                    consequence: "Title, hashes and main page are unknown, but captures can be replayed.")
                return nil
            }
        }
        if let entry = directory.entry(named: legacyName) {
            log.add(
                .warning, "datapackage-legacy", "The archive uses a layout from before WACZ 1.0.",
                at: entry.name,
                consequence: "Other programs may refuse it, and it has no hashes to verify.")
            let allowance = Allowance(archiveSize: entry.compressedSize)
            let text = textStream(
                of: entry, from: try directory.stream(of: entry, allowance), allowance, limits: limits)
            return try DataPackage.parseLegacy(text, limits: limits)
        }
        log.add(
            .warning, "datapackage-missing", "datapackage.json is missing from the archive.", at: "datapackage.json",
            consequence: "Title and main page are unknown and nothing can be verified, but captures can be replayed.")
        return nil
    }

    private static func noteByteOrderMark(_ bytes: [UInt8], _ entry: ZIPEntry, _ log: inout FindingLog) {
        guard bytes.starts(with: JSONScanner.byteOrderMark) else { return }
        log.add(
            .notice, "byte-order-mark", "The file begins with a byte order mark, which JSON doesn't allow.",
            at: entry.name, consequence: "Replay isn't affected, but other programs may not be able to read the file.")
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
                .warning, "digest-damaged", "The signature file can't be read: \(error.problem).", at: entry.name,
                consequence: "Replay isn't affected, but the signature can't be verified.")
            return nil
        }
    }

    private static func refuseMultiWACZ(
        _ dataPackage: DataPackage?, _ entries: [ZIPEntry], _ archived: [ZIPEntry], name: String
    ) throws(WebArchiveError) {
        let isMulti = dataPackage?.profile == "multi-wacz-package"
        // They're in archive/ or, without captures beside them, anywhere.
        let members = isMulti || archived.isEmpty ? entries : archived
        let nested = members.count { MultiWACZ.isWACZ($0.name) }
        guard isMulti || nested > 0 else { return }
        let count = isMulti ? max(dataPackage?.resources.count ?? 0, nested) : nested
        let hasCaptures = archived.contains { !MultiWACZ.isWACZ($0.name) }
        throw WebArchiveError(
            code: .multiWACZ,
            problem: nested > 0
                ? "the ZIP contains WACZ files (\(count)) instead of captures"
                : "the multi-WACZ contains none of the WACZ files that it lists (\(count))", file: name,
            hint: nested == 0
                ? "import the WACZ files that datapackage.json lists"
                : hasCaptures
                    ? "extract the ZIP, then import the WACZ files in it"
                    : "import it, and each of them becomes an archive")
    }

    private static func noArchiveData(_ entries: [ZIPEntry], name: String) -> WebArchiveError {
        let misplaced = entries.contains { $0.name.contains("/archive/") && isWARC($0.name) }
        return WebArchiveError(
            code: .noArchiveData,
            problem: "this isn't a WACZ file: none of the \(entries.count) files in the ZIP is in archive/", file: name,
            hint: misplaced ? "archive/ is inside another folder; create a ZIP of that folder's contents" : nil)
    }

    /// Returns the files with captures, indexes and pages of which a signed list of files has no hash. None if it has a hash of
    /// no WARC file: then there is nothing that is better covered.
    private static func uncoveredEntries(
        _ entries: [ZIPEntry], _ dataPackage: DataPackage?, in folder: String, _ log: inout FindingLog
    ) -> [ZIPEntry] {
        let hashed = Set((dataPackage?.resources ?? []).filter { $0.hash != nil }.map(\.path))
        let folders = ["archive/", "indexes/", "pages/"].map { folder + $0 }
        let uncovered = entries.filter { entry in
            !hashed.contains(entry.name) && folders.contains { entry.name.hasPrefix($0) }
        }
        guard !uncovered.isEmpty else { return [] }
        let isAnyCovered = entries.contains {
            hashed.contains($0.name) && $0.name.hasPrefix(folders[0]) && isWARC($0.name)
        }
        guard isAnyCovered else {
            log.add(
                .warning, "signature-covers-nothing",
                "The signature covers no captures: no WARC file has a signed hash.",
                at: "datapackage.json", consequence: "They are still shown, but anyone could have changed them.")
            return []
        }
        for entry in uncovered {
            log.add(
                .warning, "content-uncovered", "The signature doesn't cover this file.", at: entry.name,
                consequence:
                    "Anyone could have added or changed it, at any time. It's hidden unless you choose to show it.")
        }
        return uncovered
    }

    /// Returns the files in `archive/` with the name of a WARC file, or all of them if there are none.
    private static func warcs(among archived: [ZIPEntry]) -> [ZIPEntry] {
        let named = archived.filter { isWARC($0.name) }
        return named.isEmpty ? archived : named
    }

    private static func isWARC(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.hasSuffix(".warc") || name.hasSuffix(".warc.gz")
    }

    private static func isIndex(_ name: String, in folder: String) -> Bool {
        guard name.hasPrefix("\(folder)indexes/") else { return false }
        let lower = name.lowercased()
        return [".cdx", ".cdxj", ".cdx.gz", ".cdxj.gz"].contains { lower.hasSuffix($0) }
    }

    private static func pageLists(among entries: [ZIPEntry], in folder: String) -> [ZIPEntry] {
        let lists = entries.filter { entry in
            let name = entry.name.lowercased()
            return name.hasPrefix("\(folder)pages/") && (name.hasSuffix(".jsonl") || name.hasSuffix(".jsonl.gz"))
        }
        let first = lists.filter { $0.name == "\(folder)pages/pages.jsonl" }
        return first + lists.filter { $0.name != "\(folder)pages/pages.jsonl" }
    }
}
