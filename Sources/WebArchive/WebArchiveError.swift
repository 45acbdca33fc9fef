/// Why an archive, or one part of it, could not be read: a stable code for programs and a sentence for people.
///
/// `description` reads `file: byte N: problem; hint`, all in lower case and without a full stop.
public struct WebArchiveError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of failure it is. Raw values are stable.
    public enum Code: String, Sendable, Hashable, Codable, CaseIterable {
        /// The file has no bytes.
        case empty
        /// The file is something other than a ZIP.
        case notZIP = "not-zip"
        /// Fewer bytes are there than a structure needs.
        case truncated
        /// A ZIP structure contradicts itself or the size of the file.
        case corruptZIP = "corrupt-zip"
        /// An entry is encrypted.
        case encrypted
        /// An entry has a name that no reader may use.
        case unsafeName = "unsafe-name"
        /// Two entries share a name that must be unique.
        case duplicateName = "duplicate-name"
        /// A size or a count is over its limit; see `Limits`.
        case tooLarge = "too-large"
        /// The package holds no WARC.
        case noArchiveData = "no-archive-data"
        /// Text that should be JSON is not.
        case badJSON = "bad-json"
        /// The package holds other WACZ files.
        case multiWACZ = "multi-wacz"
        /// A WARC record, or the HTTP message in it, cannot be parsed.
        case badRecord = "bad-record"
        /// Compressed data is damaged.
        case badGzip = "bad-gzip"
        /// A body is not what its `Content-Encoding` says.
        case badEncoding = "bad-encoding"
        /// An index points outside of the data it indexes.
        case badIndex = "bad-index"
        /// The operating system refused to open, read or write.
        case io
        /// The file system that is written to is full.
        case noSpace = "no-space"
        /// The format is known, but reading it is not supported.
        case unsupported
        /// The caller asked to stop.
        case cancelled
    }

    /// What kind of failure it is, for programs.
    public let code: Code
    /// What is wrong, with the numbers needed and found. Lower-case start, no full stop.
    public let problem: String
    /// The file as the user named it, with the entry inside it: `crawl.wacz/archive/data.warc.gz`.
    public let file: String
    /// Byte offset in `file` at which the problem was found, when there is one.
    public let offset: UInt64?
    /// What to do now, when there is something to do.
    public let hint: String?

    /// Makes an error; see the properties for what each text holds.
    public init(code: Code, problem: String, file: String, offset: UInt64? = nil, hint: String? = nil) {
        self.code = code
        self.problem = problem
        self.file = file
        self.offset = offset
        self.hint = hint
    }

    /// `file: byte N: problem; hint`.
    public var description: String {
        let place = offset.map { "\(file): byte \($0)" } ?? file
        let text = "\(place): \(problem)"
        return hint.map { "\(text); \($0)" } ?? text
    }
}

extension WebArchiveError {
    /// Whether the data itself is damaged, as opposed to a limit, the operating system or the caller.
    var isDamage: Bool {
        [.truncated, .corruptZIP, .badJSON, .badRecord, .badGzip].contains(code)
    }
}
