public import Crypto

/// Writes a WACZ: WARC files, their index, page list and description, as a ZIP. WACZ 1.1.1.
///
///     let writer = try WACZWriter(path: "site.wacz")
///     try writer.addWARC(FileByteSource(path: "site.warc.gz"), name: "site.warc.gz")
///     try writer.finish()
///
/// Everything is written in one pass and with constant memory. The same contents give the same bytes, unless they are signed.
/// The file appears under its name when it's complete; if the writer is released before, nothing is left.
public final class WACZWriter {
    /// What was written.
    public struct Result: Sendable, Hashable {
        /// The number of captures in the index.
        public let captureCount: Int
        /// The number of pages in the page list.
        public let pageCount: Int
        /// The number of WARC records that were read.
        public let recordCount: Int
        /// Damage in the WARC files.
        public let findings: [Finding]
        /// Those of `findings` that the WACZ doesn't show, such as what was lost when a file was converted.
        package let sourceFindings: [Finding]
        /// The files, without the descriptions.
        package let files: [WrittenFile]
        /// The hash of `datapackage.json`: `sha256:` and hexadecimal digits.
        public let packageHash: String
    }

    /// A file of the package.
    package struct WrittenFile: Sendable, Hashable {
        package let path: String
        /// In hexadecimal digits.
        package let sha256: String
    }

    let limits: Limits
    let folder: String
    private let file: NewFile
    private let zip: ZIPWriter
    private var resources = ListedFiles()
    private var files: [WrittenFile] = []
    private var names: Set<String> = ["datapackage.json", "datapackage-digest.json"]
    private(set) var sorter: CDXJSorter
    let pages: PageListWriter
    /// What reading the WACZ shows again.
    var log: FindingLog
    /// What only the files show that it's made from.
    var sourceLog: FindingLog
    var segments = SegmentedRecords()
    var recordCount = 0
    private(set) var captureCount = 0
    private(set) var lastCapture: CaptureTimestamp?

    /// Starts a WACZ at `path`, where no file must be.
    ///
    /// - Parameters:
    ///   - modified: The time of the files in the ZIP.
    ///   - limits: The limits for what is read.
    /// - Throws: `io`, `noSpace`.
    public convenience init(
        path: String, modified: CaptureTimestamp? = nil, limits: Limits = .standard
    ) throws(WebArchiveError) {
        try self.init(NewFile(path: path), modified: modified, limits: limits)
    }

    /// Starts a WACZ in an existing file, whose contents are replaced.
    package convenience init(into path: String, limits: Limits = .standard) throws(WebArchiveError) {
        try self.init(NewFile(into: path), modified: nil, limits: limits)
    }

    private init(_ file: NewFile, modified: CaptureTimestamp?, limits: Limits) throws(WebArchiveError) {
        self.file = file
        self.limits = limits
        folder = file.folder
        zip = ZIPWriter(file.output, modified: modified)
        var sorting = limits
        sorting.sortedBytesMax = min(limits.sortedBytesMax, 4 << 20)
        sorter = CDXJSorter(folder: file.folder, limits: sorting)
        pages = try PageListWriter(folder: file.folder)
        log = FindingLog(perCodeMax: limits.findingsPerCodeMax)
        sourceLog = log
    }

    /// Adds a file that isn't a WARC file, an index or the page list, for example a log.
    ///
    /// - Parameters:
    ///   - path: Its path in the package: `logs/crawl.log`.
    ///   - contents: The contents.
    public func addFile(_ path: String, _ contents: any ByteSource) throws {
        try add(path, sizeMax: contents.size) { entry in
            try SourceStream(contents).forEachPiece { bytes throws(WebArchiveError) in try entry.write(bytes) }
        }
    }

    /// Adds a page to the page list, before detected ones.
    public func addPage(url: String, time: CaptureTimestamp?, title: String? = nil, text: String? = nil) throws {
        var lines: [UInt8] = []
        PageLine(url: url, time: time, title: title, text: Array((text ?? "").utf8)).append(to: &lines)
        pages.note(url, time)
        try pages.output.write(lines)
    }

    /// Returns the ID that `addPage` gives a page.
    package static func pageID(url: String, time: CaptureTimestamp?) -> String { PageLine.id(url: url, time: time) }

    /// Writes index, page list and description, and gives the file its name. Must be the last call.
    ///
    /// - Parameters:
    ///   - description: The contents of `datapackage.json`.
    ///   - key: A key to sign the package with, anonymously; `nil` for no signature.
    /// - Throws: `io`, `noSpace`.
    public func finish(
        _ description: PackageDescription = PackageDescription(), signedWith key: P384.Signing.PrivateKey? = nil
    ) throws -> Result {
        try addJoinedSegments()
        try writeIndex()
        let list = try pages.finish()
        if let list { try addFile("pages/pages.jsonl", list) }
        var description = description
        description.created = description.created ?? lastCapture
        description.mainPage = description.mainPage ?? pages.first.map { .init(url: $0.url, time: $0.time) }
        let package = description.json(resources.json)
        _ = try zip.add("datapackage.json", package)
        _ = try zip.add("datapackage-digest.json", PackageDigest.json(of: package, description, signedWith: key))
        try zip.finish()
        try file.commit()
        return Result(
            captureCount: captureCount, pageCount: pages.count, recordCount: recordCount,
            findings: sourceLog.findings + log.findings, sourceFindings: sourceLog.findings, files: files,
            packageHash: "sha256:" + SHA256.hash(data: package).hexadecimal)
    }

    /// Returns the contents of a file of another archive; of a compressed one, a decompressed copy.
    package func source(of entry: ZIPEntry, in wacz: WACZFile) throws -> any ByteSource {
        if entry.method == .stored { return try wacz.directory.bytes(of: entry) }
        let copy = try TemporaryFile(in: folder)
        try wacz.directory.stream(of: entry, wacz.allowance).forEachPiece { bytes throws(WebArchiveError) in
            try copy.output.write(bytes)
        }
        return try copy.finish(name: wacz.directory.path(of: entry))
    }

    /// Adds an index line.
    func add(_ entry: CDXJEntry) throws(WebArchiveError) {
        try sorter.add(entry.canonicalLine(from: nil))
        captureCount += 1
        guard let time = entry.captureTime else { return }
        lastCapture = max(lastCapture ?? time, time)
    }

    /// Adds a file to the package and its description.
    func add(_ path: String, sizeMax: UInt64?, _ body: (ZIPWriter.Entry) throws -> Void) throws {
        guard names.insert(path.lowercased()).inserted else {
            throw WebArchiveError(code: .duplicateName, problem: "the archive has this file already", file: path)
        }
        let sums = try zip.add(path, sizeMax: sizeMax, body)
        resources.add(path, sums)
        files.append(WrittenFile(path: path, sha256: sums.sha256))
    }

    /// Returns a name in `archive/` that isn't used yet, also where case doesn't count.
    func freeWARCName(_ name: String) -> String {
        let stem = name.prefix { $0 != "." }
        var free = name
        var number = 2
        while names.contains("archive/\(free)".lowercased()) {
            free = "\(stem)-\(number)\(name.dropFirst(stem.count))"
            number += 1
        }
        return free
    }

    private func writeIndex() throws {
        let (blocks, idx) = (try TemporaryFile(in: folder), try TemporaryFile(in: folder))
        try ZipNumWriter.write(
            sorter.sorted(), blocks: blocks.output, idx: idx.output, blocksName: "index.cdx.gz")
        try addFile("indexes/index.cdx.gz", try blocks.finish(name: "index.cdx.gz"))
        try addFile("indexes/index.idx", try idx.finish(name: "index.idx"))
    }
}
