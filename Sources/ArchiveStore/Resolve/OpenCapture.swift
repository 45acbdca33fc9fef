package import WebArchive

/// An opened capture: the archived response and its body.
package struct OpenCapture: Sendable {
    /// The archive whose index names the capture.
    package let archive: Archive
    /// The index entry.
    package let entry: CDXJEntry
    /// The status of the archived response; 200 for records without an HTTP message.
    package let status: Int
    /// The reason phrase; may be empty.
    package let reason: String
    /// The header fields of the archived response.
    package let fields: HeaderFields
    /// The body; for a revisit, that of the earlier capture.
    package let body: CaptureBody
    /// For a revisit, the capture that has its payload.
    package let payloadCapture: PayloadCapture?
    /// Whether it was chosen instead of a closer revisit whose payload is missing.
    package internal(set) var isSubstitute = false

    /// The capture that has the payload of a revisit.
    package struct PayloadCapture: Sendable, Hashable {
        package let archiveID: ArchiveID
        package let url: String
        package let timestamp: String
    }

    /// - Parameters:
    ///   - own: The content of the capture's own record.
    ///   - payload: The content of the record with the payload; `own` unless the capture is a revisit.
    init(
        archive: Archive, entry: CDXJEntry, own: RecordContent, payload: RecordContent, payloadCapture: PayloadCapture?
    ) {
        self.archive = archive
        self.entry = entry
        self.payloadCapture = payloadCapture
        let head = Self.hasResponseHead(own) ? own.head : payload.head
        status = head?.status ?? 200
        reason = head?.reason ?? ""
        fields =
            head?.fields ?? HeaderFields(payload.contentType.map { [.init(name: "Content-Type", value: $0)] } ?? [])
        body = CaptureBody(content: payload)
    }

    /// Whether a record has the response's own head: a revisit does, unless it is only a 304. WARC 1.1 §6.7.
    private static func hasResponseHead(_ content: RecordContent) -> Bool {
        guard let head = content.head, let status = head.status else { return false }
        return !content.record.isRevisit || status != 304
    }

    /// The time of the capture.
    package var time: CaptureTimestamp? { entry.captureTime }

    /// The media type without parameters, in lower case.
    package var mime: String? { HTTPMessageHead.mime(ofType: fields["Content-Type"]) }

    /// The absolute target of an archived redirect; `nil` for other responses.
    package var redirectTarget: String? {
        guard (300...399).contains(status), status != 304, let location = fields["Location"] else { return nil }
        return CapturedURL.resolve(location, against: entry.url)
    }
}
