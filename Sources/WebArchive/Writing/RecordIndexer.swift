/// Makes the index entries of a WARC file while it's read: from each capture and the request beside it.
///
/// WARC 1.1 §6.2 and §6.4. Writers store a request right before or right after its response.
final class RecordIndexer: WARCBlockReceiver {
    /// A capture with what an index and a page list need.
    struct Capture {
        let entry: CDXJEntry
        /// Whether it's a page, as far as its records tell.
        let isPage: Bool
        /// The URL that it redirects to.
        let redirectTarget: String?
        /// `Referer` and `Sec-Fetch-Dest` of its request.
        let referrer: String?
        let destination: String?
        /// The HTML document, unless it's large.
        let document: StoredDocument?
    }

    /// Whether the current record was read beyond its HTTP head.
    var isInBody: Bool { headEnd == nil }
    /// Headers that couldn't be read.
    private(set) var log: FindingLog
    private let filename: String
    private let limits: Limits
    private let keepsDocuments: Bool
    /// Charged with HTTP heads and requests, which take the most time of all.
    private let allowance: Allowance
    /// The offset of the record.
    private var offset: UInt64 = 0
    private var isHTTP = false
    private var isRequest = false
    /// The head of the HTTP message.
    private var start: [UInt8] = []
    private var head: HTTPMessageHead?
    /// The payload of a request or a document, unless it's large.
    private var payload: [UInt8]?
    private var payloadBytesMax = 0
    private var headEnd: HTTPHeadEnd?
    /// Hashes the payload of a record without a digest.
    private var hasher: DigestHasher?
    /// The last capture, which its request may follow.
    private var pending: Pending?
    /// The last request, which its response may follow.
    private var request: Request?

    private struct Request {
        let url: String
        let concurrentTo: String?
        let method: String
        let contentType: String?
        let referrer: String?
        let destination: String?
        let body: [UInt8]
    }

    private struct Pending {
        let record: WARCRecord
        let head: HTTPMessageHead?
        let length: UInt64
        let digest: String?
        let document: StoredDocument?
    }

    /// What comes later in a request hardly matters: URLs hold its first 4,096 characters.
    private static let requestBytesMax = 8 << 20
    private static let documentBytesMax = 1 << 20

    /// - Parameters:
    ///   - keepsDocuments: Whether captures come with their document.
    init(filename: String, keepsDocuments: Bool, limits: Limits, _ allowance: Allowance) {
        (self.filename, self.keepsDocuments, self.limits) = (filename, keepsDocuments, limits)
        self.allowance = allowance
        log = FindingLog(perCodeMax: limits.findingsPerCodeMax)
    }

    func begin(_ record: WARCRecord) {
        offset = record.offset
        isRequest = record.type == "request"
        isHTTP = record.holdsHTTP && (isRequest || record.type == "response" || record.type == "revisit")
        start.removeAll(keepingCapacity: true)
        (head, payload) = (nil, nil)
        headEnd = isHTTP ? HTTPHeadEnd() : nil
        let needsDigest = ["response", "resource"].contains(record.type) && Self.digest(of: record) == nil
        hasher = needsDigest ? DigestHasher(.sha256) : nil
        if keepsDocuments, record.type == "resource", !record.holdsHTTP, Self.isHTML(record.contentType) {
            (payload, payloadBytesMax) = ([], Self.documentBytesMax)
        }
    }

    /// Returns the payload digest of a record as recorded; `nil` if it can't be read.
    private static func digest(of record: WARCRecord) -> String? {
        HTTPMessageHead.withinLimit(record.payloadDigest).flatMap { WARCDigest($0) == nil ? nil : $0 }
    }

    private static func isHTML(_ type: String?) -> Bool {
        HTTPMessageHead.mime(ofType: type).map(DocumentText.htmlTypes.contains) ?? false
    }

    func receive(_ bytes: UnsafeRawBufferPointer) throws(WebArchiveError) {
        var rest = bytes
        if headEnd != nil {
            let end = headEnd?.find(in: bytes)
            let count = end ?? bytes.count
            if start.count <= limits.httpHeadBytesMax { start.append(contentsOf: bytes[..<count]) }
            rest = UnsafeRawBufferPointer(rebasing: bytes[count...])
            if end == 0, start.isEmpty { head = .withoutHead }
            if end != nil { endHead() }
        }
        hasher?.update(rest)
        guard let kept = payload?.count else { return }
        if isRequest {
            payload?.append(contentsOf: rest.prefix(payloadBytesMax - kept))
        } else if kept + rest.count <= payloadBytesMax {
            payload?.append(contentsOf: rest)
        } else {
            payload = nil
        }
    }

    /// Returns the captures that are complete now that a record was read.
    func end(_ item: WARCScanner.Item) -> [Capture] {
        let record = item.record
        if headEnd != nil { endHead() }
        if isRequest, case .request(let method, _) = head?.startLine, method.utf8.count <= limits.tokenBytesMax {
            let body = payload ?? []
            allowance.charge(parsed: UInt64(body.count))
            request = Request(
                url: record.targetURI ?? "", concurrentTo: record.headers["WARC-Concurrent-To"],
                method: method.uppercased(), contentType: head?.fields["Content-Type"],
                referrer: head?.fields["Referer"].flatMap { $0.utf8.count <= limits.urlBytesMax ? $0 : nil },
                destination: head?.fields["Sec-Fetch-Dest"], body: body)
            return finish()
        }
        let done = finish()
        guard item.isCapture else {
            request = nil
            return done
        }
        let digest =
            Self.digest(of: record) ?? hasher.map { "sha256:\($0.digest.hex)" }
        let document = payload.map { StoredDocument(head, of: record, payload: $0) }
        pending = Pending(record: record, head: head, length: item.indexedLength, digest: digest, document: document)
        guard let request, isRequest(request, of: record) else {
            self.request = nil
            return done
        }
        return done + finish()
    }

    /// Returns the last capture.
    func finish() -> [Capture] {
        guard let pending, let url = pending.record.targetURI, let time = pending.record.timestamp else { return [] }
        self.pending = nil
        let (record, head) = (pending.record, pending.head)
        let request = request.flatMap { isRequest($0, of: record) ? $0 : nil }
        if request != nil { self.request = nil }
        let contentType = record.holdsHTTP ? head?.fields["Content-Type"] : record.contentType
        let payloadType = HTTPMessageHead.mime(ofType: contentType)
        if payloadType == nil, let contentType, contentType.utf8.count > limits.tokenBytesMax {
            log.add(
                .notice, "mime-too-long", "A capture's media type is too long: it has \(contentType.utf8.count) bytes.",
                at: "\(filename) byte \(record.offset)",
                consequence: "Replay isn't affected, but the capture is listed without its media type.")
        }
        let entry = CDXJEntry(
            url: url, time: time, mime: record.isRevisit ? "warc/revisit" : payloadType, status: head?.status,
            digest: pending.digest, filename: filename, offset: record.offset, length: pending.length,
            method: request?.method ?? "GET", contentType: request?.contentType, body: request?.body ?? [])
        let isPart = DetectedPage.isPart(
            resourceType: record.headers["WARC-Resource-Type"], destination: request?.destination)
        return [
            Capture(
                entry: entry, isPage: !record.isRevisit && !isPart && DetectedPage.isDocument(entry),
                redirectTarget: keepsDocuments && entry.method == nil ? redirectTarget(head, from: url) : nil,
                referrer: request?.referrer, destination: request?.destination,
                document: pending.document)
        ]
    }

    private func redirectTarget(_ head: HTTPMessageHead?, from url: String) -> String? {
        guard let location = head?.redirectLocation, location.utf8.count <= limits.urlBytesMax else { return nil }
        return URLReference.resolve(location, against: url)
    }

    /// Parses the head, and decides whether to keep what follows.
    private func endHead() {
        headEnd = nil
        readHead()
        let isDocument =
            keepsDocuments && head.map { ($0.status ?? 200) == 200 && Self.isHTML($0.fields["Content-Type"]) } ?? false
        guard isRequest || isDocument else { return }
        payload = []
        payloadBytesMax = isRequest ? Self.requestBytesMax : Self.documentBytesMax
    }

    private func readHead() {
        guard !start.isEmpty else { return }
        let input = BufferedInput(
            SourceStream(MemoryByteSource(start, name: filename)), capacity: max(1, min(start.count, 64 << 10)))
        do throws(WebArchiveError) {
            try allowance.charge(parsed: start.count, file: filename)
            head = try HTTPMessageHead.read(from: input, limits: limits)
        } catch {
            if [.tooLarge, .tooCostly].contains(error.code) { noteHead(error.problem) }
        }
    }

    private func noteHead(_ problem: String) {
        log.add(
            .error, "http-head-too-long", "The HTTP header of a record can't be read: \(problem).",
            at: "\(filename) byte \(offset)",
            consequence: isRequest
                ? "The capture of this request is listed as if it were of a GET request."
                : "The content of this record can't be replayed.")
    }

    private func isRequest(_ request: Request, of record: WARCRecord) -> Bool {
        guard request.url == record.targetURI else { return false }
        // Some writers name the response in the request, others the request in the response, others nothing.
        guard let other = request.concurrentTo, let id = record.headers["WARC-Record-ID"],
            record.headers["WARC-Concurrent-To"] == nil
        else { return true }
        return other == id
    }
}

extension CDXJEntry {
    /// Creates the entry of a capture, with the method and body of its request in the key.
    init(
        url: String, time: CaptureTimestamp, mime: String?, status: Int?, digest: String?, filename: String,
        offset: UInt64, length: UInt64, method: String, contentType: String?, body: [UInt8]
    ) {
        let whole = IndexedRequest.url(url, method: method, contentType: contentType, body: body)
        let isPlain = whole == url
        let query = whole.utf8.dropFirst(url.utf8.count + "?__wb_method=\(method)&".utf8.count)
        self.init(
            urlKey: Self.key(for: whole), timestamp: time.digits14, url: url, mime: mime, status: status,
            digest: digest, filename: filename, offset: offset, length: length, method: isPlain ? nil : method,
            requestBody: isPlain || query.isEmpty ? nil : String(decoding: query, as: UTF8.self))
    }

    /// Returns the key that py-wacz writes. pywb finds only these: without a slash at the end, for example.
    private static func key(for url: String) -> String {
        guard HTTPURLParts(url) != nil, let key = SURT.pythonKey(for: url) else { return SURT.key(for: url) }
        return SURT.escapingSpaces(in: key)
    }
}
