/// What a reading of all indexes and page lists found, without hashing anything.
public struct WACZInspection: Sendable, Hashable {
    /// Everything that is wrong or odd, opening included.
    public let findings: [Finding]
    /// Index entries that can be used.
    public let captureCount: Int
    /// Pages in the lists.
    public let pageCount: Int
    /// Time of the first capture.
    public let firstCapture: CaptureTimestamp?
    /// Time of the last capture.
    public let lastCapture: CaptureTimestamp?
    /// For each index file, whether lookups can search it in place, every line and every block considered. When all
    /// can, lookups may trust their order; otherwise a sorted copy helps, see `ZipNumWriter`.
    public let searchableIndexes: [SearchableIndex]

    /// Whether an index can be searched.
    public struct SearchableIndex: Sendable, Hashable {
        /// The index: `indexes/index.cdx`.
        public let file: String
        /// Why it cannot be searched; `nil` when it can.
        public let reason: SequentialReason?
        /// Whether it can be searched.
        public var isSearchable: Bool { reason == nil }
    }

    /// Whether every lookup can be a search, with the order of lines trusted.
    public var isSearchable: Bool { !searchableIndexes.isEmpty && searchableIndexes.allSatisfy(\.isSearchable) }

    /// Why lookups need a sorted copy of the index; `nil` when they do not.
    public var sequentialReason: SequentialReason? {
        guard !searchableIndexes.isEmpty else {
            return SequentialReason(.missing, file: "indexes/", "there is no index")
        }
        return searchableIndexes.lazy.compactMap(\.reason).first
    }
}

extension WACZFile {
    /// Checks the structure of the package: reads every index line and every page once, with flat memory.
    ///
    /// Hashes and signatures are not checked.
    ///
    /// - Parameter progress: Gets the bytes read and the bytes to be read, now and then; throws to stop.
    /// - Throws: What `progress` throws; `tooLarge`, `corruptZIP`, `badGzip` or `io` when an index or a page list is an
    ///   attack or cannot be read at all.
    public func inspect(
        progress: (_ bytesRead: UInt64, _ bytesTotal: UInt64) throws -> Void = { _, _ in }
    ) throws -> WACZInspection {
        var inspector = WACZInspector(self)
        try inspector.checkPackage()
        try inspector.readIndexes(progress)
        try inspector.readPages(progress)
        return inspector.result()
    }
}

/// The gzipped indexes that an `.idx` names, as far as they can be read at an offset.
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

    /// Whether a line names a place at which no gzip member begins. `false` when it does not tell of which file.
    func isInsideOfABlock(_ place: ZipNumLine) throws(WebArchiveError) -> Bool {
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
                .warning, "warc-deflated", "A WARC file is compressed once more by the ZIP.", at: entry.name,
                consequence: "It replays by lookups only, and slowly; range mode cannot show it.")
        }
        for entry in wacz.warcEntries where try isZIP(entry) {
            log.add(
                .error, "warc-is-zip", "A file in archive/ is a ZIP, perhaps another WACZ, and not a WARC.",
                at: entry.name,
                consequence: "Its contents can't be replayed. Extract the ZIP and import it separately.")
        }
        if wacz.pageEntries.isEmpty, wacz.dataPackage?.listsLegacyPages != true {
            log.add(
                .warning, "pages-missing", "The package has no list of pages.", at: "pages/pages.jsonl",
                consequence: "There is no page to start from; captures can be opened by their URL.")
        }
    }

    /// Whether a file begins as a ZIP does. A damaged one is told when its records are read.
    private func isZIP(_ entry: ZIPEntry) throws(WebArchiveError) -> Bool {
        do throws(WebArchiveError) {
            let head = try BufferedInput(wacz.directory.stream(of: entry), capacity: 16).peek(4)
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
                .warning, "resources-missing", "The package lists none of its files.", at: "datapackage.json",
                consequence: "None for replay; nothing in the package can be verified.")
        }
        if package.profile == nil {
            log.add(
                .notice, "profile-missing", "The package does not say what kind it is.", at: "datapackage.json",
                consequence: "None for replay.")
        }
        if let profile = package.profile, !Self.profiles.contains(profile) {
            log.add(
                .notice, "profile-unknown", "The archive has an unknown profile: '\(profile.prefix(80))'.",
                at: "datapackage.json", consequence: "None for replay; other programs may refuse it.")
        }
        if let hash = wacz.digest?.hash, !hash.isEmpty, WARCDigest(hash) == nil {
            noteUnknown(hash: hash, at: "datapackage-digest.json")
        }
        if package.waczVersion == nil {
            log.add(
                .notice, "version-missing", "The package does not say which version of WACZ it follows.",
                at: "datapackage.json", consequence: "None for replay.")
        }
    }

    /// Profiles that packages have: 1.1.1, the 1.2.0 draft, what wabac.js accepts, and packages of packages.
    private static let profiles: Set = ["data-package", "wacz", "wacz-package", "multi-wacz-package"]

    private mutating func noteUnknown(hash: String, at location: String) {
        let label = hash.prefix { $0 != ":" }
        let isKnown = label.count == hash.count || WARCDigest.Algorithm(label: String(label)) != nil
        log.add(
            .notice, "hash-unknown",
            isKnown
                ? "A hash cannot be read: '\(hash.prefix(80))'."
                : "A hash uses an unknown algorithm: '\(label.prefix(40))'.",
            at: location, consequence: "None for replay; damage in this file would not be noticed.")
    }

    private mutating func checkResources() {
        guard let resources = wacz.dataPackage?.resources, !resources.isEmpty else { return }
        var listed: Set<String> = ["datapackage.json", "datapackage-digest.json", "webarchive.yaml"]
        for resource in resources {
            listed.insert(resource.path)
            guard let entry = wacz.directory.entry(named: resource.path) else {
                let holdsCaptures = resource.path.hasPrefix("archive/")
                log.add(
                    holdsCaptures ? .error : .warning, "resource-missing",
                    "The package lists a file that it does not hold.", at: resource.path,
                    consequence: holdsCaptures
                        ? "The captures in this file cannot be replayed." : "What this file would tell is not known.")
                continue
            }
            if let hash = resource.unknownHash { noteUnknown(hash: hash, at: resource.path) }
            if let bytes = resource.bytes, bytes != entry.uncompressedSize {
                log.add(
                    .warning, "resource-size-differs",
                    "A file has \(entry.uncompressedSize) bytes where the package lists \(bytes).", at: resource.path,
                    consequence: "The file was changed or damaged after packing; it may not be what was captured.")
            }
        }
        for entry in wacz.directory.entries where !entry.isDirectory && !entry.isUnsafe && !listed.contains(entry.name)
        {
            log.add(
                .notice, "entry-unlisted", "The package holds a file that it does not list.", at: entry.name,
                consequence: "None for replay; its content cannot be verified.")
        }
    }

    mutating func readIndexes(_ progress: (UInt64, UInt64) throws -> Void) throws {
        try checkZipNumFiles()
        let reader = wacz.makeCaptureReader()
        while let (entry, location) = try reader.next() {
            note(entry, location)
            if captureCount.isMultiple(of: 1024) { try report(reader.bytesRead, progress) }
        }
        indexBytes = reader.bytesRead
        findings += reader.findings
        searchableIndexes = try wacz.searchableIndexes(reader) {
            try report(indexBytes, progress)
        }
        for reason in searchableIndexes.compactMap(\.reason) where reason.code == .blockDigest {
            log.add(
                .warning, "index-block-digest", "A block of the index is not the one whose digest its .idx has.",
                at: reason.file,
                consequence: "The index was changed or damaged after packing: captures may be missing from it.")
        }
        if captureCount == 0 {
            log.add(
                .error, "captures-missing", "No capture is found in the package.", at: "indexes/",
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
                "The index names the WARC file '\(entry.filename.prefix(200))', which the package does not hold.",
                at: location.description, consequence: "This capture cannot be replayed.")
            return
        }
        let (stop, overflow) = entry.offset.addingReportingOverflow(entry.length ?? 1)
        guard !overflow, stop <= warc.uncompressedSize, entry.length != 0 else {
            log.add(
                .error, "index-outside-warc",
                "The index names \(entry.length ?? 1) bytes at \(entry.offset) of a WARC file of "
                    + "\(warc.uncompressedSize) bytes.",
                at: location.description, consequence: "This capture cannot be replayed.")
            return
        }
    }

    /// Checks that every line of the `.idx` files names a block that can be inside of the gzipped index.
    private mutating func checkZipNumFiles() throws(WebArchiveError) {
        let zipNumFiles = wacz.zipNumEntries
        if zipNumFiles.isEmpty, let gzipped = wacz.indexEntries.first(where: { $0.name.hasSuffix(".gz") }) {
            log.add(
                .notice, "idx-missing", "A gzipped index has no index of its own.", at: gzipped.name,
                consequence: "Replay by ranges has to read it whole before it can show anything.")
        }
        let gzipped = wacz.indexEntries.filter { $0.name.hasSuffix(".gz") }
        let blocks = gzipped.map(\.uncompressedSize).max() ?? 0
        let files = try BlockFiles(gzipped, in: wacz.directory)
        for entry in zipNumFiles {
            let lines = LineReader(
                try wacz.textStream(of: entry), lineBytesMax: wacz.limits.indexLineBytesMax,
                skippedLineBytesMax: wacz.limits.skippedLineBytesMax)
            while let line = try lines.next() {
                if let bytes = line.bytes, ZipNumLine.isHarmless(bytes, blocksLength: blocks) {
                    guard let place = ZipNumLine(bytes), try files.isInsideOfABlock(place) else { continue }
                    log.add(
                        .warning, "idx-wrong-offset", "The .idx file points to an offset where no block begins.",
                        at: "\(entry.name) line \(line.number)",
                        consequence: "Replay by ranges may miss captures; lookups by this program find them.")
                    continue
                }
                log.add(
                    .warning, "idx-bad-line", "A line of the index of the index cannot be used.",
                    at: "\(entry.name) line \(line.number)",
                    consequence: "Replay by ranges may miss captures; lookups by this program find them.")
            }
        }
    }

    mutating func readPages(_ progress: (UInt64, UInt64) throws -> Void) throws {
        let reader = wacz.makePageReader()
        while try reader.next() != nil {
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
