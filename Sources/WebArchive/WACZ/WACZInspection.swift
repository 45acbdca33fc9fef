/// The result of reading all indexes and page lists. Hashes aren't checked.
public struct WACZInspection: Sendable, Hashable {
    /// All findings, including those of opening the file.
    public let findings: [Finding]
    /// The number of valid index entries.
    public let captureCount: Int
    /// The number of listed pages.
    public let pageCount: Int
    /// The time of the first capture.
    public let firstCapture: CaptureTimestamp?
    /// The time of the last capture.
    public let lastCapture: CaptureTimestamp?
    /// Whether lookups can search each index file, after checking every line and block.
    ///
    /// If all can be searched, use `assumingSorted()` for lookups. Otherwise, write a sorted copy with `ZipNumWriter`.
    public let searchableIndexes: [SearchableIndex]

    /// Whether an index can be searched.
    public struct SearchableIndex: Sendable, Hashable {
        /// The index file, for example `indexes/index.cdx`.
        public let file: String
        /// The reason why it can't be searched; `nil` if it can.
        public let reason: SequentialReason?
        /// Whether the index can be searched.
        public var isSearchable: Bool { reason == nil }
    }

    /// Whether all indexes can be searched, so that `assumingSorted()` can be used.
    public var isSearchable: Bool { !searchableIndexes.isEmpty && searchableIndexes.allSatisfy(\.isSearchable) }

    /// The reason why lookups need a sorted copy of the index; `nil` if they don't.
    public var sequentialReason: SequentialReason? {
        guard !searchableIndexes.isEmpty else {
            return SequentialReason(.missing, file: "indexes/", "the archive has no index")
        }
        return searchableIndexes.lazy.compactMap(\.reason).first
    }
}

extension WACZFile {
    /// Checks the structure of the archive by reading all index lines and pages once, in constant memory.
    ///
    /// Hashes and signatures aren't checked.
    ///
    /// - Parameter progress: Called regularly with the bytes read and the total; throws to stop.
    /// - Throws: The errors of `progress`; `tooLarge`, `corruptZIP`, `badGzip` or `io` if an index or page list exceeds
    ///   its limits or can't be read at all.
    public func inspect(
        progress: (_ bytesRead: UInt64, _ bytesTotal: UInt64) throws -> Void = { _, _ in }
    ) throws -> WACZInspection {
        try inspect(progress: progress, capture: { _ in }, page: { _ in })
    }

    /// Does the same, and calls `capture` with each index entry and `page` with each listed page.
    package func inspect(
        progress: (_ bytesRead: UInt64, _ bytesTotal: UInt64) throws -> Void, capture: (CDXJEntry) -> Void,
        page: (Page) -> Void
    ) throws -> WACZInspection {
        var inspector = WACZInspector(self)
        try inspector.checkPackage()
        try inspector.readIndexes(progress, capture)
        try inspector.readPages(progress, page)
        return inspector.result()
    }
}

/// The gzipped indexes of an `.idx` file that can be read at an offset.
private struct BlockFiles {
    private let sources: [String: SubrangeByteSource]

    init(_ entries: [ZIPEntry], in directory: ZIPDirectory) throws(WebArchiveError) {
        var sources: [String: SubrangeByteSource] = [:]
        for entry in entries where entry.method == .stored {
            let name = entry.name.split(separator: "/").last.map(String.init) ?? entry.name
            sources[name] = try directory.bytes(of: entry)
        }
        self.sources = sources
    }

    /// Returns whether a line points to an offset where no gzip member begins; `false` if its index file is unknown.
    func missesBlockStart(_ place: ZipNumLine) throws(WebArchiveError) -> Bool {
        let name = place.filename?.split(separator: "/").last.map(String.init)
        guard let source = name.flatMap({ sources[$0] }) ?? (sources.count == 1 ? sources.first?.value : nil),
            place.offset < source.size
        else { return false }
        return !GzipMember.starts(try source.read(at: place.offset, count: Int(min(3, source.size - place.offset))))
    }
}

/// The state of one inspection.
private struct WACZInspector {
    private let wacz: WACZFile
    private var log: FindingLog
    private var findings: [Finding]
    private let bytesTotal: UInt64
    private var indexBytes: UInt64 = 0
    private var captureCount = 0
    private var searchableIndexes: [WACZInspection.SearchableIndex] = []
    private var pageCount = 0
    private var firstCapture: CaptureTimestamp?
    private var lastCapture: CaptureTimestamp?

    init(_ wacz: WACZFile) {
        self.wacz = wacz
        findings = wacz.openFindings
        log = FindingLog(perCodeMax: wacz.limits.findingsPerCodeMax)
        let read = (wacz.indexEntries.isEmpty ? wacz.warcEntries : wacz.indexEntries) + wacz.pageEntries
        bytesTotal = read.uncompressedSize
    }

    mutating func checkPackage() throws(WebArchiveError) {
        #if WITH_LIBZIP
        findings += LibzipOpinion.disagreements(with: wacz.directory)
        #endif
        checkDescription()
        checkResources()
        for entry in wacz.warcEntries where entry.method == .deflated {
            log.add(
                .warning, "warc-deflated", "A WARC file is compressed a second time, by the ZIP.", at: entry.name,
                consequence: "It replays slowly, and only by lookups; replay by ranges can't show it.")
        }
        for entry in wacz.warcEntries where try isZIP(entry) {
            log.add(
                .error, "warc-is-zip", "A file in archive/ is a ZIP, perhaps another WACZ, instead of a WARC file.",
                at: entry.name,
                consequence: "Its contents can't be replayed until you extract it and import it separately.")
        }
        if wacz.pageEntries.isEmpty, wacz.dataPackage?.listsLegacyPages != true {
            log.add(
                .warning, "pages-missing", "The archive has no page list.", at: "pages/pages.jsonl",
                consequence: "Pages are detected among its captures when its text is indexed. Some may be missing.")
        }
    }

    /// Returns whether a file begins like a ZIP. Damage is reported when its records are read.
    private func isZIP(_ entry: ZIPEntry) throws(WebArchiveError) -> Bool {
        do throws(WebArchiveError) {
            let head = try BufferedInput(wacz.directory.stream(of: entry, wacz.allowance), capacity: 16).peek(4)
            return head == [0x50, 0x4B, 0x03, 0x04]
        } catch let error where error.isDamage {
            return false
        }
    }

    private mutating func checkDescription() {
        guard let package = wacz.dataPackage, !package.listsLegacyPages,
            wacz.directory.entry(named: "datapackage.json") != nil
        else { return }
        if package.resources.isEmpty {
            log.add(
                .warning, "resources-missing", "datapackage.json lists no files.", at: "datapackage.json",
                consequence: "Replay isn't affected, but nothing in the archive can be verified.")
        }
        if package.profile == nil {
            log.add(
                .notice, "profile-missing", "datapackage.json has no profile.", at: "datapackage.json",
                consequence: "Replay isn't affected.")
        }
        if let profile = package.profile, !Self.profiles.contains(profile) {
            log.add(
                .notice, "profile-unknown", "datapackage.json has an unknown profile: \"\(profile.prefix(80))\".",
                at: "datapackage.json", consequence: "Replay isn't affected, but other programs may refuse the archive."
            )
        }
        if let hash = wacz.digest?.hash, !hash.isEmpty {
            if let digest = WARCDigest(hash) {
                noteWeak(digest, at: "datapackage-digest.json")
            } else {
                noteUnknown(hash: hash, at: "datapackage-digest.json")
            }
        }
        if package.waczVersion == nil {
            log.add(
                .notice, "version-missing", "datapackage.json has no WACZ version.",
                at: "datapackage.json", consequence: "Replay isn't affected.")
        }
    }

    /// The known profiles: of WACZ 1.1.1, the 1.2.0 draft, wabac.js, and multi-WACZ packages.
    private static let profiles: Set = ["data-package", "wacz", "wacz-package", "multi-wacz-package"]

    private mutating func noteUnknown(hash: String, at location: String) {
        let label = hash.prefix { $0 != ":" }
        let isKnown = label.count == hash.count || WARCDigest.Algorithm(label: String(label)) != nil
        log.add(
            .notice, "hash-unknown",
            isKnown
                ? "A hash can't be read: \"\(hash.prefix(80))\"."
                : "A hash uses an unknown algorithm: \"\(label.prefix(40))\".",
            at: location, consequence: "Replay isn't affected, but damage to this file can't be detected.")
    }

    private mutating func noteWeak(_ digest: WARCDigest, at location: String) {
        guard digest.algorithm.isWeak else { return }
        log.add(
            .notice, "hash-weak",
            "The hash of a file is a \(digest.algorithm.name) hash. Different files can be made that have the same one.",
            at: location,
            consequence: "Replay isn't affected. The hash shows damage, but doesn't prove that nothing was changed.")
    }

    private mutating func checkResources() {
        guard let resources = wacz.dataPackage?.resources, !resources.isEmpty else { return }
        var listed: Set<String> = ["datapackage.json", "datapackage-digest.json", "webarchive.yaml"]
        for resource in resources {
            listed.insert(resource.path)
            guard let entry = wacz.directory.entry(named: resource.path) else {
                let holdsCaptures = resource.path.hasPrefix("\(wacz.folder)archive/")
                log.add(
                    holdsCaptures ? .error : .warning, "resource-missing",
                    "A file listed in datapackage.json is missing from the archive.", at: resource.path,
                    consequence: holdsCaptures
                        ? "The captures in this file can't be replayed." : "The contents of this file aren't available."
                )
                continue
            }
            if let hash = resource.unknownHash { noteUnknown(hash: hash, at: resource.path) }
            if let digest = resource.hash { noteWeak(digest, at: resource.path) }
            if let bytes = resource.bytes, bytes != entry.uncompressedSize {
                log.add(
                    .warning, "resource-size-differs",
                    "A file has \(entry.uncompressedSize) bytes, but datapackage.json lists \(bytes).",
                    at: resource.path,
                    consequence:
                        "The file may have been changed or damaged after it was packed. Its hash shows whether it was.")
            }
        }
        for entry in wacz.directory.entries
        where !entry.isDirectory && !entry.isUnsafe && !listed.contains(entry.name) && !wacz.isSetAside(entry) {
            log.add(
                .notice, "entry-unlisted", "A file isn't listed in datapackage.json.", at: entry.name,
                consequence: "Replay isn't affected, but the file can't be verified.")
        }
    }

    mutating func readIndexes(_ progress: (UInt64, UInt64) throws -> Void, _ found: (CDXJEntry) -> Void) throws {
        try checkZipNumFiles()
        let reader = wacz.makeCaptureReader()
        while let (entry, location) = try reader.next() {
            note(entry, location)
            found(entry)
            if captureCount.isMultiple(of: 1024) { try report(reader.bytesRead, progress) }
        }
        indexBytes = reader.bytesRead
        findings += reader.findings
        searchableIndexes = try wacz.searchableIndexes(reader) {
            try report(indexBytes, progress)
        }
        for reason in searchableIndexes.compactMap(\.reason) where reason.code == .blockDigest {
            log.add(
                .warning, "index-block-digest", "A block of the index doesn't match its digest in the .idx file.",
                at: reason.file,
                consequence:
                    "The index was changed or damaged after it was packed, and captures may be missing from it.")
        }
        for reason in searchableIndexes.compactMap(\.reason) where reason.code == .blockName {
            log.add(
                .warning, "idx-wrong-key", "The .idx file names blocks of the index by another line than their first.",
                at: reason.file,
                consequence: "Replay by ranges misses captures; replay by lookups finds them. "
                    + "`replayhost export --repaired` saves a copy with a right index.")
        }
        for file in reader.filesWithOtherRecords.sorted() {
            log.add(
                .notice, "index-not-captures", "The index also lists records that aren't captures.", at: file,
                consequence: "Replay by ranges may show a crawler's note instead of a page; replay by lookups doesn't.")
        }
        if captureCount == 0 {
            log.add(
                .error, "captures-missing", "The archive contains no captures.", at: "indexes/",
                consequence: "Nothing can be replayed.")
        }
    }

    private mutating func note(_ entry: CDXJEntry, _ location: IndexLocation) {
        captureCount += 1
        if let time = entry.captureTime {
            firstCapture = min(firstCapture ?? time, time)
            lastCapture = max(lastCapture ?? time, time)
        }
        guard let warc = wacz.warcEntry(named: entry.filename) else {
            log.add(
                .error, "index-names-missing-warc",
                "A capture's data file, \(entry.filename.prefix(200)), is missing from the archive.",
                at: location.description, consequence: "This capture can't be replayed.")
            return
        }
        let (stop, overflow) = entry.offset.addingReportingOverflow(entry.length ?? 1)
        guard !overflow, stop <= warc.uncompressedSize, entry.length != 0 else {
            log.add(
                .error, "index-outside-warc",
                "The index points past the end of a WARC file: \(entry.length ?? 1) bytes at offset \(entry.offset), "
                    + "but the file has \(warc.uncompressedSize) bytes.",
                at: location.description, consequence: "This capture can't be replayed.")
            return
        }
    }

    /// Checks that every line of the `.idx` files points to a block inside the gzipped index.
    private mutating func checkZipNumFiles() throws(WebArchiveError) {
        let zipNumFiles = wacz.zipNumEntries
        if zipNumFiles.isEmpty, let gzipped = wacz.indexEntries.first(where: { $0.name.hasSuffix(".gz") }) {
            log.add(
                .notice, "idx-missing", "A gzipped index has no .idx file.", at: gzipped.name,
                consequence: "Replay by ranges reads the whole index before it can show anything.")
        }
        let gzipped = wacz.indexEntries.filter { $0.name.hasSuffix(".gz") }
        let blocks = gzipped.map(\.uncompressedSize).max() ?? 0
        let files = try BlockFiles(gzipped, in: wacz.directory)
        for entry in zipNumFiles {
            let lines = LineReader(
                try wacz.textStream(of: entry), lineBytesMax: wacz.limits.indexLineBytesMax,
                skippedLineBytesMax: wacz.limits.skippedLineBytesMax)
            while let line = try lines.next() {
                if let bytes = line.bytes, ZipNumLine.isValid(bytes, blocksLength: blocks) {
                    guard let place = ZipNumLine(bytes), try files.missesBlockStart(place) else { continue }
                    log.add(
                        .warning, "idx-wrong-offset",
                        "A line of the .idx file points to offset \(place.offset), where no block begins.",
                        at: "\(entry.name) line \(line.number)",
                        consequence: "Replay by ranges may miss captures; replay by lookups finds them.")
                    continue
                }
                log.add(
                    .warning, "idx-bad-line", "A line of the .idx file can't be used.",
                    at: "\(entry.name) line \(line.number)",
                    consequence: "Replay by ranges may miss captures; replay by lookups finds them.")
            }
        }
    }

    mutating func readPages(_ progress: (UInt64, UInt64) throws -> Void, _ found: (Page) -> Void) throws {
        let reader = wacz.makePageReader()
        while let page = try reader.next() {
            found(page)
            pageCount += 1
            if pageCount.isMultiple(of: 256) { try report(indexBytes + reader.bytesRead, progress) }
        }
        findings += reader.findings
        try report(bytesTotal, progress)
    }

    private func report(_ read: UInt64, _ progress: (UInt64, UInt64) throws -> Void) throws {
        try progress(min(read, bytesTotal), bytesTotal)
    }

    func result() -> WACZInspection {
        WACZInspection(
            findings: findings + log.findings, captureCount: captureCount, pageCount: pageCount,
            firstCapture: firstCapture, lastCapture: lastCapture, searchableIndexes: searchableIndexes)
    }
}
