/// Finds the capture that an index of Browsertrix Crawler 1.3 to 1.13 lacks.
///
/// These versions write a ZipNum index in blocks of 255 lines, and the `.idx` file names each block but the first by its
/// second line. If only one line is left for the last block, neither is written. Then the capture with the greatest key
/// is in the WARC files only. Source: browsertrix-crawler, `mergeCDXJ` of `src/util/wacz.ts`.
struct LostCaptures {
    typealias Capture = (entry: CDXJEntry, location: IndexLocation)

    private let wacz: WACZFile

    /// The number of lines in each full block.
    static let blockLines = 255
    /// If more records may be missing from the index, it has another fault.
    private static let candidatesMax = 10_000

    init(_ wacz: WACZFile) {
        self.wacz = wacz
    }

    /// Returns the captures that the index doesn't list, if it may lack its last line.
    ///
    /// - Parameter lastKey: The key and timestamp of the last line.
    /// - Throws: `io`, `tooLarge`.
    func find(after lastKey: ArraySlice<UInt8>) throws(WebArchiveError) -> [Capture] {
        do throws(WebArchiveError) {
            guard wacz.indexEntries.count == 1, wacz.warcEntries.allSatisfy({ $0.method == .stored }),
                case .success(let indexes) = try IndexFinder(wacz).find(), indexes.count == 1,
                case .zipNum(let index) = indexes[0], try index.mayLackLastLine()
            else { return [] }
            return try unlisted(candidates(from: lastKey))
        } catch let error where error.isIndexFault {
            // The index is read completely, and what is wrong with it is a finding of that.
            return []
        }
    }

    /// Returns the captures whose line could come after the last one. Indexers may add the request's method and body to
    /// the key that is made here.
    private func candidates(from lastKey: ArraySlice<UInt8>) throws(WebArchiveError) -> [Capture] {
        var found: [Capture] = []
        let allowance = Allowance(archiveSize: wacz.size)
        let lastURLKey = lastKey.prefix { $0 != 0x20 }
        for file in wacz.warcEntries {
            let scanner = try WARCReader(entry: file, of: wacz.directory, allowance).makeScanner()
            let filename = String(wacz.path(of: file).dropFirst("archive/".count))
            let recordsMax = wacz.limits.linesMax(compressed: file.compressedSize)
            var number = 0
            while let item = try scanner.next() {
                number += 1
                guard number <= recordsMax, found.count < Self.candidatesMax else { return [] }
                guard let entry = CDXJEntry(item, filename: filename) else { continue }
                let mayFollow = SURT.candidates(for: entry.url).contains { key in
                    !Array(key.utf8).lexicographicallyPrecedes(lastURLKey) || lastURLKey.starts(with: key.utf8)
                }
                if mayFollow { found.append((entry, IndexLocation(file: file.name, line: number))) }
            }
        }
        return found
    }

    private func unlisted(_ candidates: [Capture]) throws(WebArchiveError) -> [Capture] {
        guard !candidates.isEmpty else { return [] }
        struct Place: Hashable {
            let filename: String
            let offset: UInt64
        }
        var left = Dictionary(
            candidates.map { (Place(filename: $0.entry.filename, offset: $0.entry.offset), $0) },
            uniquingKeysWith: { first, _ in first })
        let index = wacz.indexEntries[0]
        let lines = CDXJSequentialReader(
            try wacz.textStream(of: index), file: index.name, limits: wacz.limits)
        var log = FindingLog(perCodeMax: 0)
        while let (entry, _) = try lines.next(&log) {
            left[Place(filename: entry.filename, offset: entry.offset)] = nil
        }
        return left.values.sorted { $0.location.line < $1.location.line }
    }
}
