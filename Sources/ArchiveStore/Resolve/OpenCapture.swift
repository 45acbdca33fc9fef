package import WebArchive

/// An opened capture: the archived response and its body.
package struct OpenCapture: Sendable {
    /// The archive whose index names the capture.
    package let archive: Archive
    /// The index entry.
    package let entry: CDXJEntry
    /// The head of the archived response; `nil` if it isn't recorded.
    private let head: HTTPMessageHead?
    /// The header fields of the archived response.
    package let fields: HeaderFields
    /// The body; for a revisit, that of the earlier capture.
    package let body: CaptureBody
    /// For a revisit, the capture that has its payload.
    package let payloadCapture: PayloadCapture?
    /// Whether the archive is signed, but its signature doesn't cover a record that is shown.
    package let isUncovered: Bool
    /// The URL in the capture's own record.
    let recordURL: String?
    /// Whether the server only said that nothing had changed, so that what is sent depends on which other captures there are.
    package let isNotModified: Bool
    /// Whether it was chosen instead of a closer revisit whose payload is missing.
    package internal(set) var isSubstitute = false
    /// Whether the requested URL wasn't captured, and this is the capture of a similar one.
    package internal(set) var isSimilar = false

    /// The capture that has the payload of a revisit.
    package struct PayloadCapture: Sendable, Hashable {
        package let archive: Archive
        package let url: String
        package let timestamp: String
        fileprivate let isUncovered: Bool

        package var archiveID: ArchiveID { archive.id }

        init(_ found: Resolver.Found) {
            archive = found.index.archive
            (url, timestamp) = (found.entry.url, found.entry.timestamp)
            isUncovered = found.index.wacz.isUncovered(found.entry)
        }
    }

    /// - Parameters:
    ///   - own: The content of the capture's own record.
    ///   - payload: The content of the record with the payload; `own` unless the capture is a revisit.
    init(
        _ entry: CDXJEntry, in index: IndexedArchive, own: RecordContent, payload: RecordContent,
        payloadCapture: PayloadCapture?
    ) {
        archive = index.archive
        self.entry = entry
        self.payloadCapture = payloadCapture
        isUncovered = index.wacz.isUncovered(entry) || payloadCapture?.isUncovered == true
        recordURL = own.record.targetURI
        isNotModified = own.isNotModified
        head = Self.hasResponseHead(own) ? own.head : payload.head
        fields =
            head?.fields ?? HeaderFields(payload.contentType.map { [.init(name: "Content-Type", value: $0)] } ?? [])
        body = CaptureBody(content: payload)
    }

    /// Whether a record has the response's own head: any does, unless it is only a 304. WARC 1.1 §6.7.
    private static func hasResponseHead(_ content: RecordContent) -> Bool {
        content.head?.status.map { $0 != 304 } ?? false
    }

    /// The time of the capture.
    package var time: CaptureTimestamp? { entry.captureTime }

    /// The first line of the archived response, with single spaces: `HTTP/1.1 200 OK`; `nil` if it isn't recorded.
    package var statusLine: String? { head?.statusLine }

    /// The status of the archived response; `nil` if it isn't recorded.
    package var status: Int? { head?.status }

    /// The reason phrase; may be empty.
    package var reason: String { head?.reason ?? "" }

    /// The media type that the crawler found in the payload.
    package var identifiedType: String? { body.content.record.identifiedType }

    /// Whether only the first of several segments is there. WARC 1.1 §7.
    package var isFirstSegment: Bool { body.content.record.isFirstSegment }

    /// What reads the text of the body. A revisit has a media type of its own.
    var document: DocumentText { DocumentText(body.content, contentType: fields["Content-Type"]) }

    /// The media type without parameters, in lower case.
    package var mime: String? { HTTPMessageHead.mime(ofType: fields["Content-Type"]) }

    /// The absolute target of an archived redirect; `nil` for other responses.
    package var redirectTarget: String? {
        head?.redirectLocation.flatMap { URLReference.resolve($0, against: entry.url) }
    }
}
