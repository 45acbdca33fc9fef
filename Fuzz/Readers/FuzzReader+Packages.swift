import WebArchive

extension FuzzReader {
    /// The maximum number of entries to read from an input.
    private static let entriesMax = 32
    /// The maximum number of bytes to read from an entry.
    private static let contentMax: UInt64 = 1 << 20
    /// The maximum number of URLs to look up in an index.
    private static let lookupsMax = 4

    static func readZIP(_ bytes: [UInt8]) throws {
        let source = MemoryByteSource(bytes, name: "fuzz.wacz")
        let directory = try ZIPDirectory(source: source)
        try require(directory.entries.count <= bytes.count / 46, "more entries than the file has room for")
        for entry in directory.entries.prefix(entriesMax) {
            if let found = directory.entry(named: entry.name) {
                try require(!found.isUnsafe && !found.isDirectory, "an unsafe entry or a folder was found")
                try require(found.name == entry.name, "a different entry was found")
            }
            try orRefuse {
                let range = try directory.dataRange(of: entry)
                try require(range.upperBound <= source.size, "an entry ends after the end of the file")
                let content = try directory.contents(of: entry, limit: contentMax)
                try require(
                    UInt64(content.count) <= min(contentMax, entry.uncompressedSize),
                    "the content is larger than declared")
            }
        }
        let wacz = try WACZFile.open(source)
        try orRefuse {
            guard let tail = try wacz.simplifiedDirectory() else { return }
            try require(tail.offset <= source.size, "the simplified directory begins after the end of the file")
            let plainer = Array(bytes.prefix(Int(tail.offset))) + tail.bytes
            _ = try ZIPDirectory(source: MemoryByteSource(plainer, name: "plainer.wacz"))
        }
        try check(wacz)
        try verify(wacz)
    }

    /// A verification that continues from a stored state has the same result as one from start to end.
    private static func verify(_ wacz: WACZFile) throws {
        let lookups = FileLookups(wacz)
        var states: [VerificationProgress] = []
        let verifier = ArchiveVerifier(wacz, lookups: lookups, checkpointInterval: .zero) { _, state in
            if let state { states.append(state) }
        }
        let whole = try verifier.run()
        for place in Set([states.count / 3, states.count / 2]) where place < states.count {
            let continued = try ArchiveVerifier(wacz, continuing: states[place], lookups: lookups).run()
            try require(continued == whole, "a verification that was continued has another result")
        }
    }

    static func readDataPackage(_ bytes: [UInt8]) throws {
        for name in ["datapackage.json", "webarchive.yaml"] {
            try orRefuse {
                let files = [(name, bytes), ("datapackage-digest.json", bytes)]
                let wacz = try WACZFile.open(MemoryByteSource(SmallPackage.wacz(files), name: "fuzz.wacz"))
                _ = (wacz.mainPage?.timestamp, wacz.digest?.signer)
                let listed = wacz.dataPackage?.resources.count ?? 0
                try require(listed <= bytes.count, "more entries are listed than bytes exist")
                try check(wacz)
            }
        }
    }

    static func readPages(_ bytes: [UInt8]) throws {
        let files = [("pages/pages.jsonl", bytes)]
        var plain: [Page] = []
        for deflates in [false, true] {
            let package = SmallPackage.wacz(files, deflates: deflates)
            let reader = try WACZFile.open(MemoryByteSource(package, name: "fuzz.wacz")).makePageReader()
            var pages: [Page] = []
            while let page = try reader.next() { pages.append(page) }
            try require(pages.count <= bytes.count { $0 == 0x0A } + 1, "more pages than lines")
            try require(pages.allSatisfy { !$0.url.isEmpty }, "a page has no URL")
            try require(reader.bytesRead <= UInt64(bytes.count), "more bytes were read than exist")
            if deflates { try require(pages == plain, "a deflated list has different pages") }
            plain = pages
        }
    }

    static func readCDXJ(_ bytes: [UInt8]) throws {
        // The second one can't be searched, so lookups read it completely.
        let files = [("indexes/index.cdxj", bytes)]
        let plain = try WACZFile.open(MemoryByteSource(SmallPackage.wacz(files), name: "plain.wacz"))
        let deflated = try WACZFile.open(
            MemoryByteSource(SmallPackage.wacz(files, deflates: true), name: "deflated.wacz"))
        let reader = plain.makeCaptureReader()
        var urls: [String] = []
        while let (entry, location) = try reader.next() {
            if !reader.isReadingRecords {
                try require((1...bytes.count).contains(location.line), "the location is a line that doesn't exist")
            }
            if urls.count < lookupsMax, !urls.contains(entry.url) { urls.append(entry.url) }
            try orRefuse { try check(plain.record(of: entry)) }
        }
        for url in urls {
            let searched = try Set(plain.captures(ofURL: url))
            let scanned = try Set(deflated.captures(ofURL: url))
            try require(searched.isSubset(of: scanned), "a search finds what a scan doesn't for \(url)")
            // A search can't find a line whose key doesn't match the URL.
            let keys = SURT.candidates(for: url)
            let missed = scanned.subtracting(searched).filter { $0.method == nil && keys.contains($0.urlKey) }
            try require(missed.isEmpty, "a search misses what a scan finds for \(url)")
            _ = try plain.closestCapture(toURL: url, at: nil)
        }
        try check(plain)
    }

    /// The index begins at the gzip signature in the input. Without one, each part after a NUL byte becomes a block.
    static func readZipNum(_ bytes: [UInt8]) throws {
        var idx = bytes
        var blocks: [UInt8] = []
        if let start = bytes.indices.first(where: { bytes[$0...].starts(with: [0x1F, 0x8B]) }) {
            (idx, blocks) = (Array(bytes[..<start]), Array(bytes[start...]))
        } else {
            idx = []
            for text in bytes.split(separator: 0) {
                let member = SmallPackage.gzipped(Array(text))
                let key = text.prefix { $0 != UInt8(ascii: "{") && $0 != 0x0A }
                idx += key + Array("{\"offset\": \(blocks.count), \"length\": \(member.count)}\n".utf8)
                blocks += member
            }
        }
        let files = [("indexes/index.idx", idx), ("indexes/index.cdx.gz", blocks)]
        let wacz = try WACZFile.open(MemoryByteSource(SmallPackage.wacz(files), name: "fuzz.wacz"))
        try orRefuse {
            let pair = try ZipNumIndex(
                idx: MemoryByteSource(idx, name: "index.idx"), blocks: MemoryByteSource(blocks, name: "index.cdx.gz"))
            try lookUp("http://example.org/", in: wacz.using(indexes: [.zipNum(pair)]))
        }
        try orRefuse { try wacz.checkLookups() }
        try lookUp("http://example.org/", in: wacz)
        try check(wacz)
    }

    private static func lookUp(_ url: String, in wacz: WACZFile) throws {
        let keys = SURT.candidates(for: url)
        for entry in try wacz.captures(ofURL: url) {
            let isOfURL = SURT.matches(entry.url, url) || keys.contains(entry.urlKey)
            try require(isOfURL || keys.contains(SURT.key(for: entry.url)), "the capture has a different URL")
        }
        let cursor = wacz.captures(matching: CaptureQuery(url: url, matchType: .prefix))
        while try cursor.next() != nil {}
    }

    /// Checks an archive like an import does.
    private static func check(_ wacz: WACZFile) throws {
        let inspection = try wacz.inspect()
        try require(inspection.captureCount >= 0 && inspection.pageCount >= 0, "a count is negative")
        if let first = inspection.firstCapture, let last = inspection.lastCapture {
            try require(first <= last, "the first capture is later than the last")
        }
    }
}
