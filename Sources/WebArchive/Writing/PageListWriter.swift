/// Collects the lines of a page list in a temporary file.
final class PageListWriter {
    /// Receives the lines of the pages.
    let output: FileOutput
    private let folder: String
    private let file: TemporaryFile
    /// Pages that a crawler wrote a record about. If there are any, other documents aren't pages.
    private var recorded: [(url: String, time: CaptureTimestamp?)] = []
    /// The number of pages.
    private(set) var count = 0
    /// The first page.
    private(set) var first: (url: String, time: CaptureTimestamp?)?

    init(folder: String) throws(WebArchiveError) {
        self.folder = folder
        file = try TemporaryFile(in: folder)
        output = file.output
        try output.write(PageLine.header)
    }

    /// Counts a page whose line is written to `output`, now or later.
    func note(_ url: String, _ time: CaptureTimestamp?) {
        count += 1
        if first == nil { first = (url, time) }
    }

    /// Adds a page that has a record of its own.
    func addRecorded(_ url: String, _ time: CaptureTimestamp?) { recorded.append((url, time)) }

    /// Returns the page list; `nil` if there are no pages.
    func finish() throws -> (any ByteSource)? {
        let list = try file.finish(name: "pages.jsonl")
        if recorded.isEmpty { return count == 0 ? nil : list }
        return try onlyRecorded(in: list)
    }

    /// Returns the list of the pages that have records.
    private func onlyRecorded(in list: FileByteSource) throws -> any ByteSource {
        let shorter = try TemporaryFile(in: folder)
        try shorter.output.write(PageLine.header)
        (count, first) = (0, nil)
        var left = Dictionary(grouping: recorded) { SURT.key(for: $0.url) }
        let lines = LineReader(SourceStream(list), lineBytesMax: .max, skippedLineBytesMax: .max)
        while let line = try lines.next()?.bytes {
            guard let page = try? Page(line: line, list: .pages, limits: .standard),
                left.removeValue(forKey: SURT.key(for: page.url)) != nil
            else { continue }
            note(page.url, page.captureTime)
            try shorter.output.write(line + [0x0A])
        }
        // Crawlers also write a record about a page that is a PDF, or that couldn't be loaded.
        for page in recorded where left.removeValue(forKey: SURT.key(for: page.url)) != nil {
            note(page.url, page.time)
            var line: [UInt8] = []
            PageLine(url: page.url, time: page.time).append(to: &line)
            try shorter.output.write(line)
        }
        return try shorter.finish(name: "pages.jsonl")
    }
}
