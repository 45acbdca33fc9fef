package import WebArchive

/// A capture that was found and opened: what its server answered, and whose bytes the body is made of.
package struct OpenCapture: Sendable {
    /// The archive whose index names the capture.
    package let archive: Archive
    /// The index's line.
    package let entry: CDXJEntry
    /// Status of the archived answer; 200 for records without an HTTP message.
    package let status: Int
    /// The reason phrase; may be empty.
    package let reason: String
    /// The fields of the archived answer, as they were received.
    package let fields: HeaderFields
    /// The body; for a revisit that of the earlier capture.
    package let body: CaptureBody
    /// For a revisit, where its payload lies.
    package let payloadCapture: PayloadPlace?

    /// Where the payload of a revisit was found.
    package struct PayloadPlace: Sendable, Hashable {
        package let archiveID: ArchiveID
        package let url: String
        package let timestamp: String
    }

    /// - Parameters:
    ///   - own: What the capture's own record holds.
    ///   - payload: What the record of the payload holds; for anything but a revisit `own` itself.
    init(
        archive: Archive, entry: CDXJEntry, own: RecordContent, payload: RecordContent, payloadCapture: PayloadPlace?
    ) {
        self.archive = archive
        self.entry = entry
        self.payloadCapture = payloadCapture
        let head = Self.isAnswer(own) ? own.head : payload.head
        status = head?.status ?? 200
        reason = head?.reason ?? ""
        fields =
            head?.fields ?? HeaderFields(payload.contentType.map { [.init(name: "Content-Type", value: $0)] } ?? [])
        body = CaptureBody(content: payload)
    }

    /// Whether a record tells what its server said: a revisit does, unless that was only "not modified". WARC 1.1 §6.7.
    private static func isAnswer(_ content: RecordContent) -> Bool {
        guard let head = content.head, let status = head.status else { return false }
        return !content.record.isRevisit || status != 304
    }

    /// The moment of the capture.
    package var time: CaptureTimestamp? { entry.captureTime }

    /// The media type without parameters, in lower case.
    package var mime: String? { HTTPMessageHead.mime(ofType: fields["Content-Type"]) }

    /// Where an archived redirect leads, absolute; `nil` when it is none.
    package var redirectTarget: String? {
        guard (300...399).contains(status), status != 304, let location = fields["Location"] else { return nil }
        return CapturedURL.resolve(location, against: entry.url)
    }
}
