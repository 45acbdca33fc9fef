/// Collects the lines of a page list in a temporary file.
final class PageListWriter {
    /// Receives the lines of the pages.
    let output: FileOutput
    private let folder: String
    private let file: TemporaryFile
    /// The keys and times of pages that a crawler wrote a record about, and their lines. Other documents of its files aren't
    /// pages.
    private var recorded: [PageKey: CaptureTimestamp] = [:]
    private var recordedFile: TemporaryFile?
    /// For each WARC file with pages: the number of pages up to its end, and whether it has records about pages.
    private var files: [(end: Int, isRecorded: Bool)] = []
    private var hasRecords = false
    /// The number of pages.
    private(set) var count = 0
    /// The first page.
    private(set) var first: (url: String, time: CaptureTimestamp?)?
    /// Where pages redirect.
    let redirects: PageRedirects

    init(folder: String) throws(WebArchiveError) {
        self.folder = folder
        file = try TemporaryFile(in: folder)
        output = file.output
        redirects = PageRedirects(folder: folder)
        try output.write(PageLine.header)
    }

    /// Counts a page whose line is written to `output`, now or later.
    func note(_ url: String, _ time: CaptureTimestamp?) {
        count += 1
        if first == nil { first = (url, time) }
    }

    /// Adds a page that has a record of its own.
    func addRecorded(_ url: String, _ time: CaptureTimestamp) throws(WebArchiveError) {
        hasRecords = true
        if recordedFile == nil { recordedFile = try TemporaryFile(in: folder) }
        guard case let key = PageKey(url), recorded[key] == nil else { return }
        recorded[key] = time
        var line: [UInt8] = []
        PageLine(url: url, time: time).append(to: &line)
        try recordedFile?.output.write(line)
    }

    /// Ends a WARC file. Whether documents are pages is decided for each file, since files of several crawlers can be packed
    /// together.
    func endFile() {
        files.append((count, hasRecords))
        hasRecords = false
    }

    /// Returns the page list; `nil` if there are no pages.
    func finish() throws -> (any ByteSource)? {
        let list = try file.finish(name: "pages.jsonl")
        guard let lines = try recordedFile?.finish(name: "pages.jsonl") else { return count == 0 ? nil : list }
        return try onlyPages(in: list, lines)
    }

    /// Returns the list without documents that aren't pages. A page that redirects to a document is listed as that document.
    private func onlyPages(in list: FileByteSource, _ recordedLines: FileByteSource) throws -> any ByteSource {
        let shorter = try TemporaryFile(in: folder)
        try shorter.output.write(PageLine.header)
        (count, first) = (0, nil)
        let ends = try redirects.ends(of: recorded)
        let targets = Set(ends.values)
        var listed: Set<PageKey> = []
        func add(_ source: FileByteSource, where isWanted: (Int, PageKey) -> Bool) throws {
            let lines = LineReader(SourceStream(source), lineBytesMax: .max, skippedLineBytesMax: .max)
            var number = 0
            while let line = try lines.next()?.bytes {
                guard let page = try? Page(line: line, list: .pages, limits: .standard) else { continue }
                defer { number += 1 }
                let key = PageKey(page.url)
                guard isWanted(number, key) else { continue }
                listed.insert(key)
                note(page.url, page.captureTime)
                try shorter.output.write(line + [0x0A])
            }
        }
        var file = 0
        var fromRecords: Set<PageKey> = []
        try add(list) { number, key in
            while file < files.count - 1, number >= files[file].end { file += 1 }
            guard files[file].isRecorded else { return true }
            return (recorded[key] != nil || targets.contains(key)) && fromRecords.insert(key).inserted
        }
        // Crawlers also write a record about a page that is a PDF, or that couldn't be loaded.
        try add(recordedLines) { _, key in
            !listed.contains(key) && !(ends[key].map(listed.contains) ?? false)
        }
        return try shorter.finish(name: "pages.jsonl")
    }
}
