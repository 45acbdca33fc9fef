import Crypto
import Synchronization

/// A gzipped index in blocks with an `.idx` that says which key each block begins with. CDXJ 0.1.0, "ZipNum".
///
/// A search halves the `.idx`, then reads the block before the place found, where a key can begin, and those behind.
public final class ZipNumIndex: Sendable {
    /// A gzipped index that `.idx` lines may name.
    struct File: Sendable {
        /// Name without folders.
        let name: String
        /// Place among the index files of the package.
        let number: Int
        let source: any ByteSource
    }

    /// What is wrong when a block is not the one that its line of the `.idx` was written for.
    static let otherDigest = "the block is not the one whose digest its .idx has"

    private let places: SortedLines
    private let files: [File]
    /// The file of lines that name none.
    private let defaultFile: File?
    private let limits: Limits
    private let cache: Mutex<ZipNumBlockCache>

    /// Opens a pair of files, for example one that `ZipNumWriter` wrote.
    ///
    /// - Throws: `badIndex` when `idx` has no line.
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

    /// Bytes of the `.idx`.
    var idxSize: UInt64 { places.source.size }

    /// Places of the gzipped files among the index files of the package.
    var fileNumbers: [Int] { files.map(\.number) }

    /// The lines from the first on that is not below `target`.
    func cursor(from target: [UInt8]) throws(WebArchiveError) -> ZipNumCursor {
        let (found, below) = try places.search(target)
        return ZipNumCursor(self, places: below.map { places.cursor(from: $0) } ?? found, target: target)
    }

    /// Checks the first and the last line of the `.idx`: whether their blocks begin and end the gzipped files.
    ///
    /// A file that was cut, or that belongs to another, is noticed so without being read.
    ///
    /// - Throws: `badIndex`.
    func checkEnds() throws(WebArchiveError) {
        guard let first = try places.cursor(from: places.start).peek(), let last = try places.last() else {
            throw WebArchiveError(code: .badIndex, problem: "the .idx names no block", file: places.source.name)
        }
        let (firstPlace, firstFile) = try place(of: first)
        guard firstPlace.offset == 0 else {
            throw ZipNumBlock.bad(
                "the first block of the .idx is not the first of the gzipped index", firstFile.source.name, firstPlace)
        }
        let (lastPlace, lastFile) = try place(of: last)
        guard let end = lastPlace.end, end == lastFile.source.size else {
            throw ZipNumBlock.bad(
                "the last block of the .idx is not the last of the gzipped index", lastFile.source.name, lastPlace)
        }
    }

    /// Reads every line of the `.idx`: whether they are in order and their blocks cover the gzipped files wholly.
    ///
    /// - Throws: `badIndex` with the first thing that is wrong.
    func checkPlaces() throws(WebArchiveError) {
        let cursor = places.cursor(from: places.start)
        var ends = [Int: UInt64]()
        while let line = try cursor.peek() {
            let (place, file) = try place(of: line)
            guard place.offset == ends[file.number, default: 0], let end = place.end else {
                throw ZipNumBlock.bad(
                    "the blocks that the .idx names do not follow one another", file.source.name, place)
            }
            ends[file.number] = end
            cursor.advance()
        }
        for file in files where ends[file.number] != file.source.size {
            throw WebArchiveError(
                code: .badIndex,
                problem: "the .idx names \(ends[file.number] ?? 0) bytes of a gzipped index of \(file.source.size)",
                file: file.source.name)
        }
    }

    /// Checks a sample of the `.idx`.
    func samplesAreSorted(_ count: Int) throws(WebArchiveError) -> Bool { try places.areSortedInSamples(count) }

    /// Reads every block, in order. Memory stays flat.
    ///
    /// - Parameter progress: Called after each block; throws to stop.
    /// - Throws: What a search could throw; what `progress` throws.
    func checkBlocks(_ progress: () throws -> Void = {}) throws {
        try checkPlaces()
        let cursor = ZipNumCursor(self, places: places.cursor(from: places.start), target: [])
        while try cursor.nextBlock() { try progress() }
    }

    /// What a line of the `.idx` names.
    func place(of line: (offset: UInt64, bytes: [UInt8])) throws(WebArchiveError) -> (ZipNumLine, File) {
        guard let place = ZipNumLine(line.bytes) else {
            throw unusable("the .idx has a line that names no block", line)
        }
        let short = place.filename?.split(separator: "/").last.map(String.init)
        guard let file = files.first(where: { $0.name == short }) ?? defaultFile else {
            throw unusable("the .idx names a file that the package does not hold", line)
        }
        guard let end = place.end, end <= file.source.size, place.length > 0 else {
            throw unusable("the .idx names a block outside of the gzipped index", line)
        }
        return (place, file)
    }

    private func unusable(_ problem: String, _ line: (offset: UInt64, bytes: [UInt8])) -> WebArchiveError {
        WebArchiveError(code: .badIndex, problem: problem, file: places.source.name, offset: line.offset)
    }

    /// An inflated block, from the cache when it is there.
    ///
    /// - Throws: `badIndex` when the block is not what the `.idx` says, in order, size or digest; `badGzip`.
    func block(_ place: ZipNumLine, in file: File) throws(WebArchiveError) -> ZipNumBlock {
        let key = ZipNumBlockCache.Key(file: file.number, offset: place.offset, length: place.length)
        if let known = cache.withLock({ $0.block(key) }) { return known }
        // Read without the lock: two threads may both inflate a block, but none waits for another's read.
        guard place.length <= UInt64(limits.indexBlockBytesMax) else { throw tooLarge(place, file) }
        let compressed = try file.source.read(at: place.offset, count: Int(place.length))
        if let digest = place.digest, digest.algorithm == .sha256,
            !SHA256.hash(data: compressed).elementsEqual(digest.bytes)
        {
            throw ZipNumBlock.bad(Self.otherDigest, file.source.name, place)
        }
        let text = try inflated(compressed, place, file)
        let block = try ZipNumBlock(text, place: place, file: file.source.name, limits: limits)
        cache.withLock { $0.add(block, key) }
        return block
    }

    /// Inflates the gzip members of a block, which must end where it ends.
    private func inflated(
        _ compressed: [UInt8], _ place: ZipNumLine, _ file: File
    ) throws(WebArchiveError) -> [UInt8] {
        let source = MemoryByteSource(compressed, name: file.source.name)
        do throws(WebArchiveError) {
            return try GzipStream(SourceStream(source)).readAll(limit: UInt64(limits.indexBlockBytesMax))
        } catch let error where error.code == .tooLarge {
            throw tooLarge(place, file)
        }
    }

    private func tooLarge(_ place: ZipNumLine, _ file: File) -> WebArchiveError {
        ZipNumBlock.bad("a block has more than \(limits.indexBlockBytesMax) bytes", file.source.name, place)
    }
}

/// Goes over the lines of a ZipNum index, block by block. Belongs to one thread.
final class ZipNumCursor {
    private let index: ZipNumIndex
    private let places: SortedLineCursor
    private let target: [UInt8]
    private var block: ZipNumBlock?
    private var line = 0
    private var place: (offset: UInt64, end: UInt64, file: Int)?
    private var lastKey: ArraySlice<UInt8> = []
    private var pending: CDXJLine?

    init(_ index: ZipNumIndex, places: SortedLineCursor, target: [UInt8]) {
        self.index = index
        self.places = places
        self.target = target
    }

    /// The next line, without passing it; `nil` at the end.
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

    /// Passes the line that `peek` gave.
    func advance() { pending = nil }

    /// Opens the next block.
    ///
    /// - Returns: `false` at the end.
    func nextBlock() throws(WebArchiveError) -> Bool {
        guard let named = try places.peek() else { return false }
        places.advance()
        let (found, file) = try index.place(of: named)
        if let place, place.file == file.number, place.end != found.offset {
            throw ZipNumBlock.bad("the blocks that the .idx names do not follow one another", file.source.name, found)
        }
        let next = try index.block(found, in: file)
        guard !CDXJLine.sortKey(of: next.line(0)[...]).lexicographicallyPrecedes(lastKey) else {
            throw ZipNumBlock.bad("the block belongs before the one above it", file.source.name, found)
        }
        lastKey = CDXJLine.sortKey(of: next.line(next.lineCount - 1)[...])
        line = place == nil ? next.lowerBound(target) : 0
        place = (found.offset, found.end ?? 0, file.number)
        block = next
        return true
    }
}
