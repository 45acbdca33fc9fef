import Crypto

/// Where URLs of WARC files redirect. Kept in a temporary file, so that many redirects take no memory.
final class PageRedirects {
    private let folder: String
    private var file: TemporaryFile?

    init(folder: String) { self.folder = folder }

    /// Adds a capture that redirects.
    func add(_ entry: CDXJEntry, to target: String) throws(WebArchiveError) {
        let (key, targetKey) = (PageKey(entry.url), PageKey(target))
        // URLs that differ only in what keys ignore, such as `http` and `https`, are one page.
        guard targetKey != key else { return }
        try write("\(entry.timestamp) \(key.text) \(targetKey.text)\n")
    }

    /// Adds a document, which a redirect may lead to.
    func add(_ entry: CDXJEntry) throws(WebArchiveError) {
        try write("\(entry.timestamp) \(PageKey(entry.url).text)\n")
    }

    private func write(_ line: String) throws(WebArchiveError) {
        if file == nil { file = try TemporaryFile(in: folder) }
        try file?.output.write(Array(line.utf8))
    }

    /// Returns where pages redirect in the end, by their keys. Leaves out pages that don't redirect, those whose redirects go
    /// in a circle, and those with more than 20 in a row.
    ///
    /// Of several captures of a URL, follows the one closest to the time of the page. Must be the last call.
    ///
    /// - Parameter pages: The times of the pages, by their keys.
    func ends(of pages: [PageKey: CaptureTimestamp]) throws(WebArchiveError) -> [PageKey: PageKey] {
        guard let source = try file?.finish(name: "redirects") else { return [:] }
        var steps: [PageKey: Step] = [:]
        var unread = pages
        let hopsMax = HTTPMessageHead.redirectsMax
        for _ in 0...hopsMax where !unread.isEmpty {
            var next: [PageKey: CaptureTimestamp] = [:]
            for (key, step) in try Self.closest(to: unread, in: source) {
                steps[key] = step
                guard let target = step.target, let time = unread[key] else { continue }
                // The same for every order of the pages.
                next[target] = min(next[target] ?? time, time)
            }
            unread = next.filter { steps[$0.key] == nil }
        }
        var ends: [PageKey: PageKey] = [:]
        for page in pages.keys {
            var (end, hops) = (page, 0)
            while hops <= hopsMax, let target = steps[end]?.target { (end, hops) = (target, hops + 1) }
            if hops > 0, hops <= hopsMax { ends[page] = end }
        }
        return ends
    }

    /// A capture: of a document if there is no target.
    private struct Step {
        let time: CaptureTimestamp
        let target: PageKey?
    }

    /// Returns the capture of each URL that is closest to the wanted time.
    private static func closest(
        to wanted: [PageKey: CaptureTimestamp], in source: FileByteSource
    ) throws(WebArchiveError) -> [PageKey: Step] {
        var found: [PageKey: Step] = [:]
        let lines = LineReader(SourceStream(source), lineBytesMax: 1 << 10, skippedLineBytesMax: 1 << 10)
        while let line = try lines.next()?.bytes {
            let parts = String(decoding: line, as: UTF8.self).split(separator: " ")
            guard parts.count > 1, let key = PageKey(text: parts[1]), let page = wanted[key],
                let time = CaptureTimestamp(digits: parts[0])
            else { continue }
            let step = Step(time: time, target: parts.count > 2 ? PageKey(text: parts[2]) : nil)
            // Some sites redirect to set a cookie, and then answer at the same time.
            let isBetter = found[key].map {
                time == $0.time ? step.target == nil : time.isBetter(than: $0.time, for: page)
            }
            if isBetter ?? true { found[key] = step }
        }
        return found
    }
}

/// The start of a hash of a URL's key, so that many pages take little memory.
struct PageKey: Hashable {
    private let first: UInt64
    private let second: UInt64

    init(_ url: String) {
        let hash = Array(SHA256.hash(data: Array(SURT.key(for: url).utf8)))
        func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        (first, second) = (number(hash[..<8]), number(hash[8..<16]))
    }

    fileprivate init?(text: Substring) {
        let parts = text.split(separator: "-")
        guard parts.count == 2, let first = UInt64(parts[0], radix: 16), let second = UInt64(parts[1], radix: 16) else {
            return nil
        }
        (self.first, self.second) = (first, second)
    }

    fileprivate var text: String { "\(String(first, radix: 16))-\(String(second, radix: 16))" }
}
