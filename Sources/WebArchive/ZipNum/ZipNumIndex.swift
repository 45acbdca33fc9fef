import Crypto
import Synchronization

/// An index in gzipped blocks, with an `.idx` file that lists the first key of each block. CDXJ 0.1.0, "ZipNum".
///
/// A search uses binary search in the `.idx` file, then reads from the block before the one found, where a key can
/// begin.
public final class ZipNumIndex: Sendable {
    /// A gzipped index that lines of the `.idx` file can name.
    struct File: Sendable {
        /// The name without folders.
        let name: String
        /// The position among the index files of the archive.
        let number: Int
        let source: any ByteSource
    }

    /// The problem of a block with a wrong digest, which `SequentialReason` recognizes.
    static let wrongDigest = "the block doesn't match its digest in the .idx file"

    private let places: SortedLines
    private let files: [File]
    /// The file for lines that don't name one.
    private let defaultFile: File?
    private let limits: Limits
    private let cache: Mutex<ZipNumBlockCache>
    /// The size of the decompressed blocks that are kept, and of what is known of others.
    var cachedByteCount: Int { cache.withLock { $0.byteCount + $0.checkedByteCount } }

    /// Opens a pair of files, for example one that `ZipNumWriter` wrote.
    ///
    /// - Throws: `badIndex` if `idx` has no lines.
    public convenience init(
        idx: any ByteSource, blocks: any ByteSource, limits: Limits = .standard
    ) throws(WebArchiveError) {
        let name = blocks.name.split(separator: "/").last.map(String.init) ?? blocks.name
        try self.init(idx: idx, files: [File(name: name, number: 0, source: blocks)], limits: limits)
    }

    init(idx: any ByteSource, files: [File], limits: Limits) throws(WebArchiveError) {
        places = try SortedLines(idx, limits: limits)
        let header = try idx.read(at: 0, count: Int(min(places.start, 4096)))
        let named = header.split(separator: 0x0A).first.flatMap { ZipNumLine.filename(inHeader: Array($0)) }
        self.files = files
        self.limits = limits
        defaultFile = files.first { $0.name == named } ?? (files.count == 1 ? files.first : nil)
        cache = Mutex(ZipNumBlockCache(limits: limits))
    }

    /// The size of the `.idx` file in bytes.
    var idxSize: UInt64 { places.source.size }

    /// The positions of the gzipped files among the index files of the archive.
    var fileNumbers: [Int] { files.map(\.number) }

    /// Returns a cursor at the first line that isn't below `target`.
    func cursor(from target: [UInt8], _ allowance: Allowance?) throws(WebArchiveError) -> ZipNumCursor {
        let (found, below) = try places.search(target)
        return ZipNumCursor(self, places: below.map { places.cursor(from: $0) } ?? found, target: target, allowance)
    }

    /// Returns the last line below `target`, or `nil` if there is none.
    func line(before target: [UInt8]) throws(WebArchiveError) -> CDXJLine? {
        guard let below = try places.search(target).below, let named = try places.cursor(from: below).peek() else {
            return nil
        }
        let (place, file) = try place(of: named)
        let block = try block(place, in: file, nil)
        let line = block.lowerBound(target) - 1
        guard line >= 0 else { return nil }
        let position = CDXJLine.Position(file: file.number, offset: place.offset, line: line)
        return CDXJLine(position: position, bytes: block.line(line))
    }

    /// Checks that the first and last block of the `.idx` file begin and end the gzipped indexes.
    ///
    /// This detects a truncated or mismatched index without reading it.
    ///
    /// - Throws: `badIndex`.
    func checkEnds() throws(WebArchiveError) {
        guard let first = try places.cursor(from: places.start).peek(), let last = try places.last() else {
            throw WebArchiveError(code: .badIndex, problem: "the .idx file lists no blocks", file: places.source.name)
        }
        let (firstPlace, firstFile) = try place(of: first)
        guard firstPlace.offset == 0 else {
            throw ZipNumBlock.invalid(
                "the first block in the .idx file isn't the first in the gzipped index", firstFile.source.name,
                firstPlace)
        }
        let (lastPlace, lastFile) = try place(of: last)
        guard let end = lastPlace.end, end == lastFile.source.size else {
            throw ZipNumBlock.invalid(
                "the last block in the .idx file isn't the last in the gzipped index", lastFile.source.name, lastPlace)
        }
    }

    /// Checks that the lines of the `.idx` file are in order and their blocks cover the gzipped indexes completely.
    ///
    /// - Throws: `badIndex` with the first problem.
    func checkPlaces() throws(WebArchiveError) {
        let cursor = places.cursor(from: places.start)
        var ends = [Int: UInt64]()
        while let line = try cursor.peek() {
            let (place, file) = try place(of: line)
            guard place.offset == ends[file.number, default: 0], let end = place.end else {
                throw ZipNumBlock.invalid(
                    "the blocks in the .idx file aren't contiguous", file.source.name, place)
            }
            ends[file.number] = end
            cursor.advance()
        }
        for file in files where ends[file.number] != file.source.size {
            throw WebArchiveError(
                code: .badIndex,
                problem:
                    "the .idx file covers \(ends[file.number] ?? 0) of \(file.source.size) bytes in the gzipped index",
                file: file.source.name)
        }
    }

    /// Returns whether the `.idx` file lists only one block.
    func hasOneBlock() throws(WebArchiveError) -> Bool {
        let cursor = places.cursor(from: places.start)
        _ = try cursor.peek()
        cursor.advance()
        return try cursor.peek() == nil
    }

    /// Returns whether the line after the last one may be missing: the last block is full, and named as Browsertrix
    /// Crawler 1.3 to 1.13 names blocks (`LostCaptures`).
    func mayLackLastLine() throws(WebArchiveError) -> Bool {
        guard let last = try places.last() else { return false }
        let (place, file) = try place(of: last)
        guard place.length <= UInt64(limits.indexBlockBytesMax) else { return false }
        let text = try inflated(file.source.read(at: place.offset, count: Int(place.length)), place, file)
        let lines = text.split(separator: 0x0A)
        guard lines.count == LostCaptures.blockLines else { return false }
        return CDXJLine.sortKey(of: lines[place.offset == 0 ? 0 : 1]).elementsEqual(place.sortKey)
    }

    /// Returns whether a sample of the `.idx` file is sorted.
    func samplesAreSorted(_ count: Int) throws(WebArchiveError) -> Bool { try places.areSortedInSamples(count) }

    /// Checks all blocks in order, in constant memory.
    ///
    /// - Parameter progress: Called after each block; throws to stop.
    /// - Throws: The errors of a search and of `progress`.
    func checkBlocks(_ progress: () throws -> Void = {}) throws {
        try checkPlaces()
        let cursor = ZipNumCursor(self, places: places.cursor(from: places.start), target: [], nil)
        while try cursor.nextBlock() { try progress() }
    }

    /// Returns the block that a line of the `.idx` file names, and its gzipped index.
    func place(of line: (offset: UInt64, bytes: [UInt8])) throws(WebArchiveError) -> (ZipNumLine, File) {
        guard let place = ZipNumLine(line.bytes) else {
            throw unusable("a line of the .idx file names no block", line)
        }
        let short = place.filename?.split(separator: "/").last.map(String.init)
        guard let file = files.first(where: { $0.name == short }) ?? defaultFile else {
            throw unusable("the .idx file names an index that is missing from the archive", line)
        }
        guard let end = place.end, end <= file.source.size, place.length > 0 else {
            throw unusable("a block in the .idx file is outside the gzipped index", line)
        }
        return (place, file)
    }

    private func unusable(_ problem: String, _ line: (offset: UInt64, bytes: [UInt8])) -> WebArchiveError {
        WebArchiveError(code: .badIndex, problem: problem, file: places.source.name, offset: line.offset)
    }

    /// Returns a decompressed block, from the cache if possible. Checks its digest when it's first read.
    ///
    /// - Parameter allowance: See `CDXJIndex.cursor`.
    /// - Throws: `badIndex` if the order, size or digest of the block is wrong; `badGzip`; `tooCostly`.
    func block(
        _ place: ZipNumLine, in file: File, _ allowance: Allowance?
    ) throws(WebArchiveError) -> ZipNumBlock {
        let key = ZipNumBlockCache.Key(file: file.number, offset: place.offset, length: place.length)
        let (known, isChecked) = cache.withLock { ($0.block(key), $0.isChecked(key)) }
        if let known { return known }
        // Reads without the lock. Two threads may decompress the same block, but never wait for each other's read.
        guard place.length <= UInt64(limits.indexBlockBytesMax) else { throw tooLarge(place, file) }
        try allowance?.charge(Int(place.length), file: file.source.name)
        let compressed = try file.source.read(at: place.offset, count: Int(place.length))
        if !isChecked, let digest = place.digest, digest.algorithm == .sha256,
            !SHA256.hash(data: compressed).elementsEqual(digest.bytes)
        {
            throw ZipNumBlock.invalid(Self.wrongDigest, file.source.name, place)
        }
        let text = try inflated(compressed, place, file)
        // Real pages can be in another order than the index, so that each needs a block. They are much larger.
        try allowance?.charge(text.count / 2, file: file.source.name)
        let block = try ZipNumBlock(text, place: place, file: file.source.name, limits: limits)
        cache.withLock { $0.add(block, key) }
        return block
    }

    /// Decompresses the gzip members of a block, which must end where the block ends.
    private func inflated(
        _ compressed: [UInt8], _ place: ZipNumLine, _ file: File
    ) throws(WebArchiveError) -> [UInt8] {
        let source = MemoryByteSource(compressed, name: file.source.name)
        do throws(WebArchiveError) {
            // A member ends with the size of its content. RFC 1952 §2.3.1.
            let size = compressed.count < 4 ? 0 : UInt64(compressed.uint32(at: compressed.count - 4))
            let limit = UInt64(limits.indexBlockBytesMax)
            return try GzipStream(SourceStream(source), Allowance(bytes: limit)).readAll(limit: limit, reserving: size)
        } catch let error where error.code == .tooLarge || error.code == .tooCostly {
            throw tooLarge(place, file)
        }
    }

    private func tooLarge(_ place: ZipNumLine, _ file: File) -> WebArchiveError {
        ZipNumBlock.invalid("a block has more than \(limits.indexBlockBytesMax) bytes", file.source.name, place)
    }
}

/// Iterates over the lines of a ZipNum index, block by block. Use it from one thread at a time.
final class ZipNumCursor {
    private let index: ZipNumIndex
    private let places: SortedLineCursor
    private let target: [UInt8]
    private let allowance: Allowance?
    private var block: ZipNumBlock?
    private var line = 0
    private var place: (offset: UInt64, end: UInt64, file: Int)?
    private var lastKey: ArraySlice<UInt8> = []
    private var pending: CDXJLine?

    init(_ index: ZipNumIndex, places: SortedLineCursor, target: [UInt8], _ allowance: Allowance?) {
        (self.index, self.places, self.target, self.allowance) = (index, places, target, allowance)
    }

    /// Returns the next line without advancing, or `nil` at the end.
    func peek() throws(WebArchiveError) -> CDXJLine? {
        while pending == nil {
            if let block, let place, line < block.lineCount {
                let position = CDXJLine.Position(file: place.file, offset: place.offset, line: line)
                pending = CDXJLine(position: position, bytes: block.line(line))
                line += 1
            } else if try !nextBlock() {
                return nil
            }
        }
        return pending
    }

    /// Advances past the line that `peek` returned.
    func advance() { pending = nil }

    /// Opens the next block.
    ///
    /// - Returns: `false` at the end.
    func nextBlock() throws(WebArchiveError) -> Bool {
        guard let named = try places.peek() else { return false }
        places.advance()
        let (found, file) = try index.place(of: named)
        if let place, place.file == file.number, place.end != found.offset {
            throw ZipNumBlock.invalid("the blocks in the .idx file aren't contiguous", file.source.name, found)
        }
        let next = try index.block(found, in: file, allowance)
        guard !CDXJLine.sortKey(of: next.line(0)[...]).lexicographicallyPrecedes(lastKey) else {
            throw ZipNumBlock.invalid("the block belongs before the previous one", file.source.name, found)
        }
        lastKey = CDXJLine.sortKey(of: next.line(next.lineCount - 1)[...])
        line = place == nil ? next.lowerBound(target) : 0
        place = (found.offset, found.end ?? 0, file.number)
        block = next
        return true
    }
}
