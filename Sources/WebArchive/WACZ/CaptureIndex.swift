import Synchronization

/// The indexes of an archive, opened at the first lookup and shared by all copies of its `WACZFile`.
final class CaptureIndex: Sendable {
    /// The opened indexes.
    struct Opened: Sendable {
        let indexes: [CDXJIndex]
        /// Whether some keys are plain URLs.
        let hasPlainKeys: Bool
    }

    private enum State {
        case unopened
        case open(Opened, isChecked: Bool)
        case sequential(SequentialReason)
    }

    /// The times of the last URL with many captures.
    private let times = Mutex<(url: String, times: CaptureTimes)?>(nil)
    private let state: Mutex<State>
    private let fault: IndexFault
    private let onlyCaptures: Atomic<Bool>
    /// Whether all lines are known to be in order.
    let isKnownSorted: Bool

    init() {
        state = Mutex(.unopened)
        fault = IndexFault()
        onlyCaptures = Atomic(false)
        isKnownSorted = false
    }

    /// Creates a copy.
    ///
    /// - Parameter fault: One to share: once it's set, the indexes are no longer searched.
    /// - Parameter isKnownSorted: Whether all lines are known to be in order.
    init(_ other: CaptureIndex, fault: IndexFault? = nil, isKnownSorted: Bool? = nil) {
        state = Mutex(other.state.withLock { $0 })
        self.fault = fault ?? other.fault
        onlyCaptures = Atomic(other.listsOnlyCaptures)
        self.isKnownSorted = isKnownSorted ?? other.isKnownSorted
    }

    /// Uses external indexes, which are known to be sorted.
    init(_ indexes: [CDXJIndex], limits: Limits) throws(WebArchiveError) {
        for case .zipNum(let index) in indexes { try index.checkEnds() }
        state = Mutex(.open(try Self.opened(indexes), isChecked: true))
        fault = IndexFault()
        onlyCaptures = Atomic(false)
        isKnownSorted = true
    }

    /// Returns the indexes to search, or the reason why they have to be read completely.
    ///
    /// - Throws: `io`.
    func open(_ wacz: WACZFile) throws(WebArchiveError) -> Result<Opened, SequentialReasonError> {
        try state.withLock { (state) throws(WebArchiveError) in
            if let reason = fault.reason { state = .sequential(reason) }
            if case .unopened = state { state = try Self.opened(wacz) }
            if case .open(let opened, false) = state, !isKnownSorted {
                state = try Self.checked(opened, wacz)
            }
            switch state {
            case .open(let opened, _): return .success(opened)
            case .sequential(let reason): return .failure(SequentialReasonError(reason: reason))
            case .unopened:
                let reason = SequentialReason(.missing, file: "indexes/", "the archive has no index")
                return .failure(SequentialReasonError(reason: reason))
            }
        }
    }

    /// The size in bytes of what lookups keep in memory.
    var keptByteCount: Int {
        // While the indexes are being opened, there is nothing yet.
        let blocks = state.withLockIfAvailable { state in
            guard case .open(let opened, _) = state else { return 0 }
            return opened.indexes.reduce(0) { sum, index in
                guard case .zipNum(let zipNum) = index else { return sum }
                return sum + zipNum.cachedByteCount
            }
        }
        return (blocks ?? 0) + times.withLock { $0?.times.byteCount ?? 0 }
    }

    /// Returns the times of a URL's captures if they were kept.
    func times(of url: String) -> CaptureTimes? { times.withLock { $0?.url == url ? $0?.times : nil } }

    /// Keeps the times of a URL's captures, instead of those of another URL.
    func keep(_ times: CaptureTimes, of url: String) { self.times.withLock { $0 = (url, times) } }

    /// Whether all lines of the archive's own index files were found to name captures.
    var listsOnlyCaptures: Bool { onlyCaptures.load(ordering: .relaxed) }

    /// Notes that a reading of all index files found only captures.
    func noteOnlyCaptures() { onlyCaptures.store(true, ordering: .relaxed) }

    /// Runs a search. If it shows that the indexes are unsorted or damaged, they're read completely from then on.
    func searching<Value>(
        _ search: () throws(WebArchiveError) -> Value
    ) throws(WebArchiveError) -> Value {
        do throws(WebArchiveError) {
            return try search()
        } catch let error where error.isIndexFault {
            fault.note(SequentialReason(error, file: "indexes/"))
            throw error
        }
    }

    private static func opened(_ wacz: WACZFile) throws(WebArchiveError) -> State {
        do throws(WebArchiveError) {
            switch try IndexFinder(wacz).find() {
            case .failure(let error): return .sequential(error.reason)
            case .success(let indexes):
                for index in indexes where try !index.namesCaptures(limits: wacz.limits) {
                    return .sequential(.init(.empty, file: "indexes/", "an index lists no captures"))
                }
                // If there are more blocks, the name of the second one shows it when it's read.
                if case .zipNum(let index)? = indexes.first, indexes.count == 1, try index.hasOneBlock(),
                    try index.mayLackLastLine()
                {
                    return .sequential(.init(.lastLineMissing, file: "indexes/", "the index may lack its last line"))
                }
                return .open(try opened(indexes), isChecked: false)
            }
        } catch let error where error.isIndexFault {
            return .sequential(.init(error, file: "indexes/"))
        }
    }

    private static func opened(_ indexes: [CDXJIndex]) throws(WebArchiveError) -> Opened {
        var hasPlainKeys = false
        for index in indexes where try index.hasPlainKeys() { hasPlainKeys = true }
        return Opened(indexes: indexes, hasPlainKeys: hasPlainKeys)
    }

    private static func checked(_ opened: Opened, _ wacz: WACZFile) throws(WebArchiveError) -> State {
        do throws(WebArchiveError) {
            for index in opened.indexes { try index.checkOrder(limits: wacz.limits) }
            return .open(opened, isChecked: true)
        } catch let error where error.isIndexFault {
            return .sequential(.init(error, file: "indexes/"))
        }
    }
}

/// The fault that a search found in an archive's indexes. Several openings of the same file can share it.
package final class IndexFault: Sendable {
    private let found = Mutex<SequentialReason?>(nil)

    package init() {}

    var reason: SequentialReason? { found.withLock { $0 } }

    func note(_ reason: SequentialReason) { found.withLock { $0 = reason } }
}

/// A `SequentialReason` as an error, for `Result`.
struct SequentialReasonError: Error {
    let reason: SequentialReason
}

extension WebArchiveError {
    /// Whether the index caused the error, so that a scan may find captures that a search doesn't.
    var isIndexFault: Bool { isDamage || code == .badIndex || code == .tooLarge }
}

/// Finds the indexes of an archive that can be searched in place.
struct IndexFinder {
    private let wacz: WACZFile
    /// An uncompressed copy of the archive's only `.idx` file, which is compressed in the ZIP.
    private let plainIDX: (any ByteSource)?

    init(_ wacz: WACZFile, plainIDX: (any ByteSource)? = nil) {
        self.wacz = wacz
        self.plainIDX = plainIDX
    }

    /// Returns all indexes of the archive, or the reason why one of them can't be searched.
    ///
    /// - Throws: `io`; `badIndex` if an index has no lines.
    func find() throws(WebArchiveError) -> Result<[CDXJIndex], SequentialReasonError> {
        guard !wacz.indexEntries.isEmpty else { return failure(.missing, "indexes/", "the archive has no index") }
        guard wacz.indexEntries.count <= Self.filesMax else {
            return failure(.many, "indexes/", "the archive has \(wacz.indexEntries.count) index files")
        }
        var indexes: [CDXJIndex] = []
        var gzipped: [ZipNumIndex.File] = []
        for (number, entry) in wacz.indexEntries.enumerated() {
            guard entry.method == .stored else {
                return failure(.compressed, entry.name, "the index is compressed in the ZIP")
            }
            let source = try wacz.directory.bytes(of: entry)
            if try GzipMember.starts(source.read(at: 0, count: Int(min(source.size, 3)))) {
                let name = entry.name.split(separator: "/").last.map(String.init) ?? entry.name
                gzipped.append(.init(name: name, number: number, source: source))
            } else {
                indexes.append(.sorted(try SortedCDXJIndex(source, number: number, limits: wacz.limits)))
            }
        }
        guard !gzipped.isEmpty else { return .success(indexes) }
        return try zipNum(gzipped).map { indexes + $0 }
    }

    private func zipNum(
        _ files: [ZipNumIndex.File]
    ) throws(WebArchiveError) -> Result<[CDXJIndex], SequentialReasonError> {
        let entries = wacz.zipNumEntries
        guard !entries.isEmpty else {
            return failure(.gzipWithoutIDX, "indexes/\(files[0].name)", "the gzipped index has no .idx file")
        }
        var indexes: [CDXJIndex] = []
        var covered: Set<Int> = []
        for entry in entries {
            guard let source = try idx(entry) else {
                return failure(
                    .largeIDX, entry.name,
                    "the .idx file is compressed in the ZIP and has \(entry.uncompressedSize) bytes")
            }
            let named = entries.count == 1 ? files : try self.files(namedBy: source, among: files)
            covered.formUnion(named.map(\.number))
            indexes.append(.zipNum(try ZipNumIndex(idx: source, files: named, limits: wacz.limits)))
        }
        if let left = files.first(where: { !covered.contains($0.number) }) {
            return failure(.gzipWithoutIDX, "indexes/\(left.name)", "the gzipped index has no .idx file")
        }
        return .success(indexes)
    }

    /// The maximum number of index files that a lookup searches. Archives have one, or one for each of a few crawls.
    private static let filesMax = 100

    /// Returns the contents of an `.idx` file, or `nil` if it's compressed and too large.
    private func idx(_ entry: ZIPEntry) throws(WebArchiveError) -> (any ByteSource)? {
        if let plainIDX { return plainIDX }
        if entry.method == .stored { return try wacz.directory.bytes(of: entry) }
        let limit = wacz.limits.idxBytesInMemoryMax
        guard max(entry.uncompressedSize, entry.compressedSize) <= limit else { return nil }
        return MemoryByteSource(
            try wacz.directory.contents(of: entry, limit: limit), name: wacz.directory.path(of: entry))
    }

    /// Returns the gzipped indexes of an `.idx` file. If there are several, each names its index.
    private func files(
        namedBy source: any ByteSource, among files: [ZipNumIndex.File]
    ) throws(WebArchiveError) -> [ZipNumIndex.File] {
        let head = try source.read(at: 0, count: Int(min(source.size, 4096)))
        let lines = head.split(separator: 0x0A).map { Array($0) }
        let name = lines.lazy.compactMap { ZipNumLine.filename(inHeader: $0) ?? ZipNumLine($0)?.filename }.first
        let named = files.filter { $0.name == name }
        guard !named.isEmpty else {
            throw WebArchiveError(
                code: .badIndex, problem: "the .idx file names an index that is missing from the archive",
                file: source.name)
        }
        return named
    }

    private func failure(
        _ code: SequentialReason.Code, _ file: String, _ problem: String
    ) -> Result<[CDXJIndex], SequentialReasonError> {
        .failure(SequentialReasonError(reason: SequentialReason(code, file: file, problem)))
    }
}
