import Crypto

/// Writes a ZipNum index: sorted lines in gzipped blocks, and an `.idx` file that lists the blocks. CDXJ 0.1.0,
/// "ZipNum".
public final class ZipNumWriter {
    private let blocks: FileOutput
    private let idx: FileOutput
    private let gzip: GzipWriter
    private var block: [UInt8] = []
    private var firstKey: ArraySlice<UInt8> = []
    private var lineCount = 0

    /// The number of lines in a block, as in py-wacz and cdxj-indexer.
    private static let blockLines = 300
    /// The size that ends a block early, so that it never exceeds a reader's limit.
    private static let blockBytes = 4 << 20

    /// - Parameter blocksName: The name of the gzipped index in the `.idx` file.
    private init(blocks: FileOutput, idx: FileOutput, blocksName: String) throws(WebArchiveError) {
        (self.blocks, self.idx) = (blocks, idx)
        gzip = try GzipWriter()
        let name = JSONText.quoted(blocksName)
        try idx.write("!meta 0 {\"format\": \"cdxj-gzip-1.0\", \"filename\": \(name)}\n".utf8)
    }

    /// Writes sorted lines.
    static func write(
        _ lines: CDXJMerge, blocks: FileOutput, idx: FileOutput, blocksName: String
    ) throws(WebArchiveError) {
        let writer = try ZipNumWriter(blocks: blocks, idx: idx, blocksName: blocksName)
        while let line = try lines.next() { try writer.add(line.bytes) }
        try writer.writeBlock()
    }

    /// Writes all valid entries of an archive, sorted, to `<stem>.cdx.gz` and `<stem>.idx`.
    ///
    /// The JSON of each line stays unchanged. Keys that aren't SURTs are replaced. Lines are sorted in constant memory,
    /// with temporary files in the same folder. Nothing is synced to disk, and after an error both files are
    /// incomplete.
    ///
    /// - Parameters:
    ///   - wacz: The archive, which isn't changed.
    ///   - folder: An existing folder. Files with the same names are replaced.
    ///   - stem: The file names without their extensions.
    ///   - blocksName: The name of the gzipped index in the `.idx` file, if you rename it later.
    ///   - progress: Called regularly with the bytes read from the archive's indexes, or from its WARC files if it has
    ///     no index; throws to stop.
    /// - Returns: The number of entries written.
    /// - Throws: The errors of `progress` and `CaptureReader.next()`; `io` or `noSpace` if a file can't be written.
    public static func write(
        from wacz: WACZFile, to folder: String, stem: String, blocksName: String? = nil,
        progress: (_ bytesRead: UInt64) throws -> Void = { _ in }
    ) throws -> Int {
        var sorter = CDXJSorter(folder: folder, limits: wacz.limits)
        let reader = wacz.makeCaptureReader()
        var entryCount = 0
        while let (entry, _) = try reader.next() {
            try sorter.add(entry.canonicalLine(from: reader.lastLine))
            entryCount += 1
            if entryCount.isMultiple(of: 1024) { try progress(reader.bytesRead) }
        }
        let blocks = try FileOutput(path: "\(folder)/\(stem).cdx.gz")
        let idx = try FileOutput(path: "\(folder)/\(stem).idx")
        try write(sorter.sorted(), blocks: blocks, idx: idx, blocksName: blocksName ?? "\(stem).cdx.gz")
        try blocks.finish()
        try idx.finish()
        return entryCount
    }

    private func add(_ line: [UInt8]) throws(WebArchiveError) {
        if lineCount == 0 { firstKey = CDXJLine.sortKey(of: line[...]) }
        block += line
        block.append(0x0A)
        lineCount += 1
        if lineCount == Self.blockLines || block.count >= Self.blockBytes { try writeBlock() }
    }

    private func writeBlock() throws(WebArchiveError) {
        guard lineCount > 0 else { return }
        let member = try gzip.member(block)
        let digest = SHA256.hash(data: member).hexadecimal
        try idx.write(firstKey)
        try idx.write(
            " {\"offset\": \(blocks.count), \"length\": \(member.count), \"digest\": \"sha256:\(digest)\"}\n".utf8)
        try blocks.write(member)
        block.removeAll(keepingCapacity: true)
        lineCount = 0
    }
}
