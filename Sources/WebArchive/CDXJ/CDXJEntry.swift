/// An entry of a CDXJ index: the location of one capture's WARC record.
///
/// Source: CDXJ 0.1.0, "JSON Block". Producers differ: py-wacz writes numbers as strings, revisits lack `status`,
/// js-wacz omits `mime`, and others leave it empty or write `-`.
public struct CDXJEntry: Sendable, Hashable {
    /// The searchable URL, for example `org,example)/index.html`. Keys sort bytewise.
    public let urlKey: String
    /// The time of the capture as written: 14 or 17 digits, in UTC.
    public let timestamp: String
    /// The captured URL.
    public let url: String
    /// The media type; `nil` if it's missing, empty or `-`.
    public let mime: String?
    /// The HTTP status; `nil` if it's missing or not a number.
    public let status: Int?
    /// The payload digest as written. Parse it with `WARCDigest`.
    public let digest: String?
    /// The name of the WARC file in `archive/`.
    public let filename: String
    /// The byte offset of the record in the WARC file (not in the WACZ).
    public let offset: UInt64
    /// The number of bytes that the record occupies in the WARC file, compressed if the file is gzipped; `nil` if
    /// unknown.
    public let length: UInt64?
    /// The request method; `nil` for `GET`.
    public let method: String?
    /// The request body, as the indexer encoded it into the key: up to 4,096 characters, and `nil` if it's far longer.
    public let requestBody: String?
    /// The digest of the whole record, as written.
    public let recordDigest: String?
    /// The media type of what a revisit repeats; `nil` if it isn't a revisit, or if it wasn't looked up.
    package var repeatedMime: String?

    /// The class of the media type; of a revisit, that of what it repeats, if that is known.
    package var mediaClass: MediaClass { MediaClass(mime: repeatedMime ?? mime) }

    /// Creates an entry.
    public init(
        urlKey: String, timestamp: String, url: String, mime: String? = nil, status: Int? = nil, digest: String? = nil,
        filename: String, offset: UInt64, length: UInt64?, method: String? = nil, requestBody: String? = nil,
        recordDigest: String? = nil
    ) {
        self.urlKey = urlKey
        self.timestamp = timestamp
        self.url = url
        self.mime = mime
        self.status = status
        self.digest = digest
        self.filename = filename
        self.offset = offset
        self.length = length
        self.method = method
        self.requestBody = requestBody
        self.recordDigest = recordDigest
    }

    /// The time of the capture; `nil` if `timestamp` isn't valid.
    public var captureTime: CaptureTimestamp? { CaptureTimestamp(digits: timestamp) }

    /// Whether the record refers to the payload of an earlier one.
    public var isRevisit: Bool { mime == "warc/revisit" }

    /// Whether the entry itself says that its record is a capture, which entries of other records never do.
    var saysCapture: Bool { status != nil || isRevisit }

    /// Whether the response can be a whole success, which a later 304 calls unchanged: its status is 200 or 203, or unknown, or
    /// 206, which may have the whole body.
    package var mayBeSuccess: Bool { Self.mayBeSuccess(status) }

    static func mayBeSuccess(_ status: Int?) -> Bool { [200, 203, 206].contains(status ?? 200) }

    /// The byte range of the record in its WARC file; `nil` if the length is unknown or the sum overflows.
    public var range: Range<UInt64>? {
        guard let length else { return nil }
        let (stop, overflow) = offset.addingReportingOverflow(length)
        return overflow ? nil : offset..<stop
    }
}

extension CDXJEntry {
    /// What the copies of a capture have in common: request, time and digest.
    package struct CopyIdentity: Sendable, Hashable {
        let request: String
        let time: String
        let digest: WARCDigest?
        /// The place of the record, or the text of a digest of another kind; `nil` if `digest` is known.
        let other: String?
    }

    /// What this capture has in common with its copies in other archives. Copies without a digest have their record at
    /// the same place.
    package var copyIdentity: CopyIdentity {
        let known = digest.flatMap { WARCDigest($0) }
        return CopyIdentity(
            request: requestURL, time: captureTime?.digits14 ?? timestamp, digest: known,
            other: known == nil ? digest ?? "\(filename) \(offset)" : nil)
    }
}

/// The reason why an index line can't be used.
enum CDXJProblem: Error, Sendable, Hashable {
    /// The line isn't UTF-8.
    case encoding
    /// The line doesn't have three parts, or the third isn't JSON.
    case syntax(String)
    /// The `url`, `filename` or `offset` is missing, or a number is invalid.
    case incomplete(String)
    /// The `url` has more bytes than can be looked up.
    case longURL(Int)
}

extension CDXJEntry {
    /// Parses a line without its line ending.
    init(line: [UInt8], depthMax: Int) throws(CDXJProblem) {
        guard let keyEnd = line.firstIndex(of: 0x20), keyEnd > 0 else { throw .syntax("no space after the URL key") }
        let afterKey = line[(keyEnd + 1)...]
        guard let timeEnd = afterKey.firstIndex(where: { $0 == 0x20 || $0 == UInt8(ascii: "{") }) else {
            throw .syntax("no JSON after the timestamp")
        }
        guard let urlKey = line[..<keyEnd].utf8Text, let timestamp = afterKey[..<timeEnd].utf8Text
        else { throw .encoding }
        guard CaptureTimestamp(digits: timestamp) != nil else {
            throw .syntax("\"\(timestamp.prefix(20))\" isn't a timestamp")
        }
        var members = Members()
        var scanner = JSONScanner(line, from: timeEnd, depthMax: depthMax)
        do throws(JSONProblem) {
            try scanner.object { (scanner, key) throws(JSONProblem) in try members.read(key, &scanner) }
            try scanner.expectEnd()
        } catch {
            throw error.isEncoding ? .encoding : .syntax("byte \(error.offset): \(error.what)")
        }
        try self.init(urlKey: urlKey, timestamp: timestamp, members)
    }

    /// Returns why a line with these values can't be used; `nil` if it can.
    static func problem(url: String?, filename: String?, offset: String?, length: String?) -> CDXJProblem? {
        if (url ?? "").isEmpty { return .incomplete("no url") }
        if let count = url?.utf8.count, count > Limits.standard.urlBytesMax { return .longURL(count) }
        if (filename ?? "").isEmpty { return .incomplete("no filename") }
        if offset.flatMap({ UInt64($0) }) == nil { return .incomplete("no valid offset") }
        if let length, length != "-", UInt64(length) == nil { return .incomplete("no valid length") }
        return nil
    }

    private init(urlKey: String, timestamp: String, _ members: Members) throws(CDXJProblem) {
        let problem = Self.problem(
            url: members.url, filename: members.filename, offset: members.offset, length: members.length)
        if let problem { throw problem }
        guard let url = members.url, let filename = members.filename,
            let offset = members.offset.flatMap({ UInt64($0) })
        else { throw .incomplete("no url, filename or offset") }
        let length = members.length.flatMap { UInt64($0) }
        func present(_ text: String?) -> String? { text == nil || text == "" || text == "-" ? nil : text }
        self.init(
            urlKey: urlKey, timestamp: timestamp, url: url, mime: present(members.mime),
            status: members.status.flatMap { Int($0) }, digest: present(members.digest), filename: filename,
            offset: offset, length: length, method: present(members.method), requestBody: members.requestBody,
            recordDigest: present(members.recordDigest))
    }

    /// The members of a line's JSON block, as text.
    private struct Members {
        var url: String?
        var mime: String?
        var status: String?
        var digest: String?
        var filename: String?
        var offset: String?
        var length: String?
        var method: String?
        var requestBody: String?
        var recordDigest: String?

        mutating func read(_ key: String, _ scanner: inout JSONScanner) throws(JSONProblem) {
            switch key {
            case "url": url = try scanner.text()
            case "mime": mime = try token(&scanner)
            case "status": status = try token(&scanner)
            case "digest": digest = try token(&scanner)
            case "filename": filename = try scanner.text()
            case "offset": offset = try scanner.text()
            case "length": length = try scanner.text()
            case "method": method = try token(&scanner)
            case "requestBody":
                let limit = Limits.standard.urlBytesMax
                requestBody = try scanner.text(bytesMax: limit + 4).flatMap { $0.utf8.count <= limit ? $0 : nil }
            case "recordDigest": recordDigest = try token(&scanner)
            default: try scanner.skipValue()
            }
        }

        /// Reads a short text. One that is far longer than real ones counts as missing.
        private func token(_ scanner: inout JSONScanner) throws(JSONProblem) -> String? {
            HTTPMessageHead.withinLimit(try scanner.text(bytesMax: Limits.standard.tokenBytesMax + 4))
        }
    }
}
