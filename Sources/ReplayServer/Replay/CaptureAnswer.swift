import ArchiveStore
import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import WebArchive

/// The HTTP response for an opened capture.
struct CaptureAnswer: Sendable {
    let capture: OpenCapture
    let modifier: CaptureModifier
    let request: Request
    let blocking: BlockingWork
    /// Checked while nothing is sent, because a disconnected client isn't noticed then.
    let client: ClientPresence
    /// The archive or collection in capture URLs.
    let scope: ArchiveID
    /// Whether browsers can reuse most captures without revalidation, since the URL changes when the file does.
    var allowsReuse = false
    /// Refuses a body by its first bytes, up to 256 KiB.
    var check: @Sendable ([UInt8]) throws -> Void = { _ in }

    /// The part of a body to send.
    struct Part {
        var status: HTTPResponse.Status
        var fields: HTTPFields
        var offset: UInt64 = 0
        /// In bytes; `nil` if it is only known after reading.
        var length: UInt64?
        var isDecoded: Bool
        var hasBody = true
    }

    /// - Parameter fields: Additional fields: the capture's links and its security headers.
    func response(fields own: HTTPFields) async throws -> Response {
        var part = try await part()
        var fields = CaptureFields.fields(of: capture, isForEngine: modifier == .engine)
        for field in own { fields[field.name] = field.value }
        for field in part.fields { fields[field.name] = field.value }
        if capture.isFirstSegment, modifier != .engine { fields[.segments] = "first" }
        if allowsReuse, isReusable(part, fields) { Self.allowReuse(&fields) }
        if modifier == .engine { setEngineFields(&part.status, &fields) } else { rewriteLocation(&fields) }
        if modifier == .download { fields[.contentDisposition] = Self.attachment(capture.entry.url) }
        guard part.hasBody, request.method != .head else {
            let length = part.length.map { Int(clamping: $0) }
            return Response(status: part.status, headers: fields, body: part.hasBody ? Self.unsent(length) : .init())
        }
        return Response(status: part.status, headers: fields, body: try await body(part))
    }

    // MARK: Body

    /// Reads the first chunk before sending anything, so that damage at the start gets an error response.
    private func body(_ part: Part) async throws -> ResponseBody {
        let (body, blocking) = (capture.body, blocking)
        let wanted = Int(min(part.length ?? .max, UInt64(Self.chunkBytes)))
        let (reader, begun) = try await blocking.step { () -> (CaptureBodyReader, [UInt8]?) in
            let reader = try body.open(decoded: part.isDecoded, from: part.offset)
            return (reader, try reader.advance() ? nil : try reader.read(upTo: wanted))
        }
        let first: [UInt8]
        if let begun {
            first = begun
        } else {
            // There's more to skip. Between the steps, other work runs.
            repeat { try checkClient() } while try await blocking.step { try reader.advance() }
            first = try await blocking.step { try reader.read(upTo: wanted) }
        }
        try check(first)
        if modifier == .engine, part.status != .partialContent, first.count < wanted, part.length != nil {
            // Damaged: show what is left, as replay by ranges does.
            return ResponseBody(byteBuffer: ByteBuffer(bytes: first))
        }
        return ResponseBody(contentLength: part.length.map { Int(clamping: $0) }) { writer in
            var left = (part.length ?? .max) - UInt64(first.count)
            try await writer.write(ByteBuffer(bytes: first))
            // Fewer bytes mean that the body ends.
            var isComplete = first.count < wanted
            while left > 0, !isComplete {
                let wanted = Int(min(left, UInt64(Self.chunkBytes)))
                let bytes = try await blocking.step { try reader.read(upTo: wanted) }
                left -= UInt64(bytes.count)
                isComplete = bytes.count < wanted
                if !bytes.isEmpty { try await writer.write(ByteBuffer(bytes: bytes)) }
            }
            guard part.length == nil || left == 0 else { throw BodyEndsEarly(missing: left) }
            try await writer.finish(nil)
        }
    }

    func checkClient() throws {
        guard client.isThere else { throw CancellationError() }
    }

    /// Closes the connection, the only way to report that a body is shorter than its length. RFC 9112 §8.
    struct BodyEndsEarly: Error {
        let missing: UInt64
    }

    /// Returns an empty body with a length, for HEAD.
    private static func unsent(_ length: Int?) -> ResponseBody {
        ResponseBody(contentLength: length) { try await $0.finish(nil) }
    }

    // MARK: Header fields

    /// Whether the browser can reuse the response without revalidation. HTML is revalidated, so that an open tab doesn't
    /// show pages of a removed archive.
    private func isReusable(_ part: Part, _ fields: HTTPFields) -> Bool {
        // Another archive that has a revisit's payload can appear or disappear.
        guard [200, 206, 304].contains(part.status.code), !capture.isSubstitute, !capture.isNotModified,
            [nil, capture.archive.id].contains(capture.payloadCapture?.archiveID),
            let type = fields[.contentType]?.lowercased()
        else { return false }
        return !["text/html", "application/xhtml+xml"].contains { type.hasPrefix($0) }
    }

    /// Lets the browser reuse the response for a day (RFC 9111 §5.2.2.1). Not longer, because a newer version of this
    /// program may answer differently. Because of `Vary`, requests that would be refused or redirected reach the server.
    private static func allowReuse(_ fields: inout HTTPFields) {
        fields[.cacheControl] = "private, max-age=86400"
        fields[.vary] = "Accept-Encoding, Sec-Fetch-Site, Sec-Fetch-Mode, Service-Worker"
    }

    /// Sends archived errors and redirects as 200 with fields from which the engine restores the archived response.
    private func setEngineFields(_ status: inout HTTPResponse.Status, _ fields: inout HTTPFields) {
        // A worker can't create responses with other statuses, or 304 with a body.
        guard let original = capture.status, (300...599).contains(original), original != 304, status.code == original
        else { return }
        status = .ok
        fields[.redirectStatus] = "\(original)"
        fields[.redirectStatusText] = Self.reason(capture.reason, status: original)
        if let target = capture.redirectTarget, HTTPField.isValidValue(target) { fields[.originalLocation] = target }
    }

    /// Redirects to the capture of the target, not to the live web.
    private func rewriteLocation(_ fields: inout HTTPFields) {
        guard let target = capture.redirectTarget, HTTPField.isValidValue(target) else { return }
        fields[.location] = CaptureAddress.memento(scope, capture.entry.timestamp, modifier, target)
    }

    private static func reason(_ text: String, status: Int) -> String {
        let plain = text.filter { $0.isASCII && ($0.isLetter || $0.isNumber || " -_".contains($0)) }
        return plain.isEmpty ? HTTPResponse.Status(code: status).reasonPhrase : plain
    }

    /// Returns the status of a final response. Statuses that aren't possible become 200.
    static func status(_ code: Int) -> HTTPResponse.Status {
        (200...599).contains(code) && code != 304 ? HTTPResponse.Status(code: code) : .ok
    }

    func tag(isDecoded: Bool) -> ETag {
        let payload = capture.payloadCapture.map { "\($0.archiveID) \($0.timestamp) \($0.url)" } ?? ""
        let codings = capture.body.codings.map(\.rawValue).joined(separator: ",")
        let place =
            "\(capture.archive.sha256 ?? capture.archive.key) \(capture.entry.filename) \(capture.entry.offset) "
            + "\(codings) \(payload)"
        let digest = SHA256.hash(data: Data(place.utf8)).base64.prefix(22)
        return ETag(strong: "\(digest)\(isDecoded ? ".d" : "")")
    }

    /// Whether the client accepts all of these codings. RFC 9110 §12.5.3. Without the field, this is `false`, because
    /// not all such clients can decode.
    static func accepts(_ codings: [ContentCoding], _ field: String?) -> Bool {
        guard let field else { return false }
        var isWildcardAccepted = false
        var accepted: Set<ContentCoding> = []
        var refused: Set<ContentCoding> = []
        for item in field.split(separator: ",") {
            let words = item.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            guard let name = words.first else { continue }
            let weight = words.dropFirst().first { $0.lowercased().hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) }
            let isRefused = weight == 0
            if name == "*" {
                isWildcardAccepted = !isRefused
            } else if let coding = ContentCoding(token: name) {
                if isRefused { refused.insert(coding) } else { accepted.insert(coding) }
            }
        }
        return codings.allSatisfy { accepted.contains($0) || isWildcardAccepted && !refused.contains($0) }
    }

    /// Returns a `Content-Disposition` for a download. RFC 6266 §4.
    static func attachment(_ url: String) -> String { "attachment; \(fileName(url))" }

    /// Returns the file name in a URL as a parameter of `Content-Disposition`.
    static func fileName(_ url: String) -> String {
        let path = url.prefix { $0 != "?" && $0 != "#" }
        let last = path.split(separator: "/").last.map(String.init) ?? ""
        // Remove bidi controls, which could disguise the extension.
        let readable = (last.removingPercentEncoding ?? last).unicodeScalars.filter {
            ![.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
        }
        let name = String(String.UnicodeScalarView(readable)).filter { $0 != "/" && $0 != "\\" }
        let isPlain = name.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "\"") }
        if name.isEmpty { return "filename=\"capture\"" }
        if isPlain { return "filename=\"\(name)\"" }
        let encoded = name.addingPercentEncoding(withAllowedCharacters: .unreserved) ?? "capture"
        return "filename*=UTF-8''\(encoded)"
    }

    private static let chunkBytes = 256 << 10
}

extension HTTPField.Name {
    static let redirectStatus = name("X-Redirect-Status")
    static let redirectStatusText = name("X-Redirect-StatusText")
    static let originalLocation = name("X-Orig-Location")
    static let mementoDatetime = name("Memento-Datetime")
    static let acceptDatetime = name("Accept-Datetime")
    static let link = name("Link")
    /// Only the first segment of a capture is there.
    static let segments = name("X-Replayhost-Segments")
    /// The request wasn't captured. This is the answer to a similar one.
    static let similar = name("X-Replayhost-Similar")
    static let secFetchMode = name("Sec-Fetch-Mode")
    static let serviceWorker = name("Service-Worker")
}
