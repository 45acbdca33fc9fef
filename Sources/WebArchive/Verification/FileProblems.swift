/// What is wrong with the files in the package, until all is read that shows its cause.
struct FileProblems: Sendable, Hashable, Codable {
    /// How a file in the package isn't what it was when it was packed.
    struct Change: Sendable, Hashable, Codable {
        /// The hash that it doesn't match, such as `SHA-256`.
        var hash: String?
        var hasOtherCRC = false
        /// The reason why it can't be read to its end.
        var unreadable: String?
    }

    /// A record, or a part of a WARC file, that can't be read or doesn't match its digests.
    struct Record: Sendable, Hashable, Codable {
        let file: String
        let start: UInt64
        /// The offset after the last byte of a part that can't be read.
        var end: UInt64?
        /// The reason why it can't be read.
        var unreadable: String?
        var isOfBlock = false
        var isOfPayload = false
        /// The first URLs of captures in it, up to `urlCharactersMax` characters each.
        var urls: [String] = []
        /// The number of index lines that point into it.
        var lines = 0
    }

    /// The changed files, by name.
    private(set) var changes: [String: Change] = [:]
    /// The first records, in the order of their bytes in each file.
    private(set) var records: [Record] = []
    /// The number of records that aren't among the first, by file: those that can't be read, and the others.
    private(set) var moreUnreadable: [String: Int] = [:]
    private(set) var moreDiffering: [String: Int] = [:]
    /// The positions of the parts that can't be read in `records`, by file, in the order of their bytes.
    private var parts: [String: [Int]] = [:]
    /// The files and kinds of the records so far.
    private var known: Set<String> = []

    mutating func change(_ name: String, _ body: (inout Change) -> Void) { body(&changes[name, default: Change()]) }

    /// Adds a record, or counts it if there are too many. The first of each file and kind is always kept.
    mutating func add(_ record: Record) {
        let isKept = records.count < Self.recordsMax
        guard isKept || known.insert("\(record.end != nil) \(record.file)").inserted else {
            if record.end == nil {
                moreDiffering[record.file, default: 0] += 1
            } else {
                addUnreadable(1, in: record.file)
            }
            return
        }
        if isKept { known.insert("\(record.end != nil) \(record.file)") }
        if record.end != nil { parts[record.file, default: []].append(records.count) }
        records.append(record)
    }

    /// Counts parts that can't be read.
    mutating func addUnreadable(_ count: Int, in file: String) {
        if count > 0 { moreUnreadable[file, default: 0] += count }
    }

    /// Adds the URL of an index line to the part of a WARC file that it points to.
    ///
    /// - Returns: Whether that part can't be read.
    mutating func takes(_ url: String, offset: UInt64, in file: String) -> Bool {
        guard let place = part(offset: offset, in: file) else { return false }
        records[place].lines += 1
        let url = Self.bounded(url)
        if records[place].urls.count < Self.urlsMax, !records[place].urls.contains(url) {
            records[place].urls.append(url)
        }
        return true
    }

    private func part(offset: UInt64, in file: String) -> Int? {
        guard let places = parts[file] else { return nil }
        let next = places.partition { records[$0].start > offset }
        guard next > 0, let end = records[places[next - 1]].end, offset < end else { return nil }
        return places[next - 1]
    }

    /// Limits for what is kept, as a hostile file can have any number of faults.
    static let recordsMax = 1000
    static let urlsMax = 5
    static let urlCharactersMax = 1001

    static func bounded(_ url: String) -> String { String(url.prefix(urlCharactersMax)) }
}

extension FileProblems.Record {
    /// Creates the problem of a part that can't be read.
    init(_ part: DamagedStretch, in file: String) {
        self.init(
            file: file, start: part.start, end: part.end, unreadable: part.problem,
            urls: part.url.map { [FileProblems.bounded($0)] } ?? [])
    }
}
