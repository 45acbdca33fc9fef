import Crypto

/// Reads titles and texts of detected pages, on a thread of its own, while their WARC file is read further.
final class PageTexts {
    /// A page to read.
    struct Candidate: Sendable {
        let url: String
        let time: CaptureTimestamp
        let mime: String
        /// The record's place in the WARC file.
        let offset: UInt64
        let length: UInt64
        /// The document; `nil` if it must be read from the file.
        let document: StoredDocument?

        /// About what it takes in memory.
        var size: Int { 500 + url.utf8.count + mime.utf8.count + (document?.size ?? 0) }
    }

    private struct Work: Sendable {
        let reader: WARCReader
        var waiting: ArraySlice<Candidate> = []
        /// Lines of the page list.
        var lines: [UInt8] = []
        /// The number of pages whose documents weren't read for that.
        var leftOut = 0

        /// Reads pages until there is enough text to write.
        mutating func run() {
            while lines.count < PageTexts.batchBytes, let page = waiting.popFirst() {
                line(of: page).append(to: &lines)
            }
        }

        private func document(of page: Candidate) throws -> DocumentText {
            if let document = page.document { return DocumentText(document, name: reader.name, reader.allowance) }
            let content = try RecordContent(reader.record(at: page.offset, length: page.length))
            return DocumentText(content, contentType: content.contentType)
        }

        /// Returns the line of a page. One that can't be read has no text.
        private mutating func line(of page: Candidate) -> PageLine {
            var line = PageLine(url: page.url, time: page.time, mime: page.mime)
            guard DocumentText.htmlTypes.contains(page.mime) else { return line }
            guard !reader.allowance.isUsedUp else {
                leftOut += 1
                return line
            }
            let collected = Collected()
            do {
                var document = try document(of: page)
                try document.readHTML(bytesMax: reader.limits.importedTextBytesMax) { collected.add($0, $1) }
                line.text = collected.text
            } catch {
                // The damage is a finding of the record. The text of a large document is left to those who search it.
            }
            line.title = collected.title
            return line
        }
    }

    private let lane: Lane<Work>
    private let output: FileOutput
    private var batch: [Candidate] = []
    private var batchSize = 0
    private static let batchBytes = 1 << 20

    /// - Parameter reader: Its allowance is that of the texts.
    /// - Parameter output: Receives a line for each page, in their order.
    init(_ reader: WARCReader, to output: FileOutput) {
        lane = Lane(Work(reader: reader))
        self.output = output
    }

    func add(_ page: Candidate) throws(WebArchiveError) {
        batch.append(page)
        batchSize += page.size
        if batchSize >= Self.batchBytes { try start() }
    }

    /// The number of pages whose documents weren't read, because they expand too much. Valid after `finish`.
    private(set) var leftOut = 0

    /// Waits until all pages are read.
    func finish() throws(WebArchiveError) {
        try start()
        try wait()
        leftOut = try lane.result().leftOut
    }

    private func start() throws(WebArchiveError) {
        try wait()
        var work = try lane.result()
        work.waiting = batch[...]
        (batch, batchSize) = ([], 0)
        try lane.restart(work)
        try lane.add { $0.run() }
    }

    private func wait() throws(WebArchiveError) {
        while true {
            var work = try lane.result()
            try output.write(work.lines)
            work.lines = []
            try lane.restart(work)
            guard !work.waiting.isEmpty else { return }
            try lane.add { $0.run() }
        }
    }

    private final class Collected {
        private var titleBytes: [UInt8] = []
        private var bytes: [UInt8] = []
        /// The size of the text in JSON.
        private var size = 0
        private var isTooLong = false

        var title: String? { titleBytes.isEmpty ? nil : String(decoding: titleBytes, as: UTF8.self) }
        var text: [UInt8] { isTooLong ? [] : bytes }

        func add(_ part: HTMLTextReader.Part, _ line: [UInt8]) {
            guard part != .title else {
                if titleBytes.isEmpty { titleBytes = Array(line.prefix(titleBytesMax)) }
                return
            }
            // Control characters have six bytes in JSON.
            size += line.reduce(1) { $0 + ($1 < 0x20 ? 6 : 1) }
            isTooLong = isTooLong || size > textBytesMax
            guard !isTooLong else {
                bytes = []
                return
            }
            if !bytes.isEmpty { bytes.append(0x0A) }
            bytes += line
        }

        private let titleBytesMax = 4 << 10
        /// Readers skip lines of 16 MiB. A longer text is left to those who read the document itself.
        private let textBytesMax = 4 << 20
    }
}

/// A line of a page list. WACZ 1.1.1 §5.2.3.
struct PageLine {
    let url: String
    let time: CaptureTimestamp?
    var title: String?
    var mime: String?
    /// UTF-8.
    var text: [UInt8] = []

    /// Adds the line and its line end.
    func append(to lines: inout [UInt8]) {
        let members = [("id", id), ("url", url), ("ts", time?.rfc3339), ("title", title), ("mime", mime)]
        let texts = members.compactMap { name, value in value.map { "\"\(name)\": \(JSONText.quoted($0))" } }
        lines += "{\(texts.joined(separator: ", "))".utf8
        if !text.isEmpty {
            lines += ", \"text\": ".utf8
            JSONText.appendQuoted(text, to: &lines)
        }
        lines += "}\n".utf8
    }

    /// An ID that is the same for the same page and time.
    private var id: String { Self.id(url: url, time: time) }

    static func id(url: String, time: CaptureTimestamp?) -> String {
        SHA256.hash(data: Array("\(time?.rfc3339 ?? "") \(url)".utf8)).prefix(8).hexadecimal
    }

    /// The first line of a page list.
    static let header = Array("{\"format\": \"json-pages-1.0\", \"id\": \"pages\", \"title\": \"All Pages\"}\n".utf8)
}
