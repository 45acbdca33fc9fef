import ArchiveStore
import ArgumentParser
import CommandSupport
import Foundation
import ReplayServer
import WebArchive

/// `replayhost get URL [ID…]`
struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print a capture: its body, its headers or its WARC record.",
        discussion: """
            Prints the latest capture, or the one closest to --at. Bodies are decompressed.

            Example:
              replayhost get https://example.org/report.pdf --at 2023 > report.pdf
            """)

    @Argument(help: "The captured URL; http and https are equivalent.")
    var url: String

    @Argument(help: "IDs of archives or collections, or unique prefixes (default: all archives).")
    var ids: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp("Print the capture closest to this time (4 to 17 digits, UTC).", valueName: "timestamp"))
    var at: String?

    @Flag(name: .long, help: "Print the archived status line and headers.")
    var head = false

    @Flag(name: .long, help: "Print the whole WARC record, uncompressed.")
    var record = false

    @Flag(name: .customLong("as-archived"), help: "Keep the body compressed, as the server sent it.")
    var asArchived = false

    @OptionGroup var common: CommonOptions

    func validate() throws {
        let urlBytesMax = Limits.standard.urlBytesMax
        if url.utf8.count > urlBytesMax {
            throw ValidationError("<url> has \(url.utf8.count) bytes; the limit is \(urlBytesMax)")
        }
        if url.isEmpty { throw ValidationError("<url> is empty; give the URL of a capture") }
        if let at, CaptureTimestamp(endOf: at) == nil {
            throw ValidationError("--at \"\(at)\" isn't a time; give 4 to 17 digits of YYYYMMDDhhmmss")
        }
        if [head, record, asArchived, common.json].filter({ $0 }).count > 1 {
            throw ValidationError("--head, --record, --as-archived and --json can't be combined; choose one")
        }
    }

    func run() throws {
        let store = try common.openExistingStore()
        let replayables = try common.replayables(ids, in: store)
        let request = ArchiveStore.CaptureRequest(
            url: CapturedURL.completed(url), time: at.flatMap { CaptureTimestamp(endOf: $0) })
        guard let capture = try store.resolver.openCapture(request, inAnyOf: replayables) else {
            throw try missing(request, replayables, in: store)
        }
        let status = capture.status.map(String.init) ?? "unknown"
        common.note(
            "\(capture.archive.id): \(Terminal.url(capture.entry.url)), \(capture.entry.timestamp), status \(status)")
        if capture.isFirstSegment {
            common.note("Only the first segment of this capture is there. The rest of it is missing from the archive.")
        }
        if common.json {
            let trust = store.resolver.trust(in: capture)
            return Terminal.writeJSON(CaptureDescription(capture, trust))
        }
        if head { return writeHead(of: capture) }
        if record { return try writeRecord(of: capture, in: store) }
        let reader = try capture.body.open(decoded: !asArchived)
        while true {
            let bytes = try reader.read(upTo: Self.chunkBytes)
            if bytes.isEmpty { break }
            try Terminal.writeBytes(bytes)
        }
    }

    /// Returns the error for a URL without captures, or with captures of other request methods only.
    private func missing(
        _ request: ArchiveStore.CaptureRequest, _ replayables: [Replayable], in store: ArchiveStore
    ) throws -> StoreError {
        let wanted = CaptureList.Request(url: request.url, part: .around(request.time), limit: 1)
        for replayable in replayables {
            guard let other = try store.resolver.captures(wanted, in: replayable).closest?.request else { continue }
            return StoreError(
                .notFound, "this URL was captured only as the answer to a form or a script", place: request.url,
                hint: "get that answer with `replayhost get \(Terminal.quoted(other))`")
        }
        return StoreError(
            .notFound, "no capture of this URL in the archives searched", place: request.url,
            hint: "list the captures of a site with `replayhost cdx \"*.HOST\"`")
    }

    private func writeHead(of capture: OpenCapture) {
        // Archived text must not control the terminal.
        if let line = capture.statusLine { Terminal.write(line) }
        for field in capture.fields.fields { Terminal.write("\(field.name): \(field.value)") }
    }

    private func writeRecord(of capture: OpenCapture, in store: ArchiveStore) throws {
        let record = try store.openArchives.lookups(capture.archive, Allowances()).wacz.record(of: capture.entry)
        let fields = record.headers.fields.map { "\($0.name): \($0.value)\r\n" }.joined()
        try Terminal.writeBytes(Array("WARC/\(record.version)\r\n\(fields)\r\n".utf8))
        try record.forEachChunk {
            try Terminal.writeBytes(Array($0))
            return true
        }
    }

    private static let chunkBytes = 256 << 10
}

/// The output of `get --json` (docs/json.md).
private struct CaptureDescription: Encodable {
    private struct CaptureReference: Encodable {
        let archive: String
        let url: String
        let timestamp: String
    }

    private let archive: String
    private let url: String
    private let timestamp: String
    private let capturedAt: String?
    private let status: Int?
    private let mime: String?
    private let length: UInt64?
    private let encodings: [String]?
    private let revisitOf: CaptureReference?
    private let isFirstSegment: Bool?
    private let verification: VerificationCode?
    private let uncovered: Bool?

    init(_ capture: OpenCapture, _ trust: CaptureTrust) {
        (archive, timestamp) = (capture.archive.id.text, capture.entry.timestamp)
        // The record decides.
        url = trust.recorded?.url ?? capture.entry.url
        (verification, uncovered) = (trust.verification, trust.isUncovered ? true : nil)
        capturedAt = RFC3339.text(ofTimestamp: capture.entry.timestamp)
        (status, mime, length) = (capture.status, capture.mime, capture.body.storedLength)
        isFirstSegment = capture.isFirstSegment ? true : nil
        let codings = capture.body.codings.map(\.rawValue)
        encodings = codings.isEmpty ? nil : codings
        revisitOf = capture.payloadCapture.map {
            CaptureReference(archive: $0.archiveID.text, url: $0.url, timestamp: $0.timestamp)
        }
    }
}
