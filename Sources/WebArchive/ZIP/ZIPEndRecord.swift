/// The location of a ZIP's central directory, as its end records give it. APPNOTE.TXT 6.3.10, §4.3.14 to §4.3.16.
struct ZIPEndRecord: Sendable, Hashable {
    /// The number of entries in the directory.
    let entryCount: UInt64
    /// The size of the directory in bytes.
    let directorySize: UInt64
    /// The byte offset of the directory from the start of the file.
    let directoryOffset: UInt64
    /// The number of bytes before the ZIP's own first byte. Every stored offset is too small by this number.
    let prefixLength: UInt64
    /// The number of bytes after the end record and its comment.
    let trailingLength: UInt64
    /// Whether other programs may find another end record, and with it other files. Readers differ in which records they skip.
    private(set) var hasRival = false

    private static let signature: UInt32 = 0x0605_4B50
    private static let locatorSignature: UInt32 = 0x0706_4B50
    private static let zip64Signature: UInt32 = 0x0606_4B50
    private static let length = 22

    /// Finds the end record by searching backwards from the end of `source`.
    ///
    /// - Throws: `notZIP` or `truncated` when there is none, `corruptZIP` when it contradicts the file.
    static func find(in source: any ByteSource, limits: Limits) throws(WebArchiveError) -> ZIPEndRecord {
        let window = Int(min(source.size, UInt64(length + 0xFFFF + limits.trailingJunkBytesMax)))
        let windowOffset = source.size - UInt64(window)
        let tail = try source.read(at: windowOffset, count: window)
        var firstProblem: WebArchiveError?
        var candidatesLeft = limits.endRecordCandidatesMax
        var position = window - length
        while position >= 0, candidatesLeft > 0 {
            defer { position -= 1 }
            guard tail[position] == 0x50, tail.uint32(at: position) == signature else { continue }
            guard position + length + Int(tail.uint16(at: position + 20)) <= window else { continue }
            candidatesLeft -= 1
            do throws(WebArchiveError) {
                var end = try parse(tail, at: position, windowOffset: windowOffset, source: source)
                end.hasRival = end.hasRival || isRivalled(end, tail, at: position)
                return end
            } catch {
                firstProblem = firstProblem ?? error
            }
        }
        if let firstProblem { throw firstProblem }
        throw try explainMissing(in: source)
    }

    /// Whether another reader may skip this record, or find another one first: one after it, even if its comment is longer than
    /// the file; or one before it with a comment up to the end, for a reader that wants nothing to follow.
    private static func isRivalled(_ end: ZIPEndRecord, _ tail: [UInt8], at position: Int) -> Bool {
        func isRecord(_ place: Int) -> Bool { tail[place] == 0x50 && tail.uint32(at: place) == signature }
        if position + length <= tail.count - length,
            (position + length...tail.count - length).contains(where: isRecord)
        {
            return true
        }
        guard end.trailingLength > 0 || end.prefixLength > 0 else { return false }
        return (0..<position).contains { place in
            isRecord(place) && place + length + Int(tail.uint16(at: place + 20)) == tail.count
        }
    }

    private static func parse(
        _ tail: [UInt8], at position: Int, windowOffset: UInt64, source: any ByteSource
    ) throws(WebArchiveError) -> ZIPEndRecord {
        let offset = windowOffset + UInt64(position)
        let recordEnd = offset + UInt64(length) + UInt64(tail.uint16(at: position + 20))
        var count = UInt64(tail.uint16(at: position + 10))
        var size = UInt64(tail.uint32(at: position + 12))
        var start = UInt64(tail.uint32(at: position + 16))
        let disks = [tail.uint16(at: position + 4), tail.uint16(at: position + 6)]
        guard disks.allSatisfy({ $0 == 0 || $0 == 0xFFFF }), tail.uint16(at: position + 8) == UInt16(count) else {
            throw WebArchiveError(
                code: .unsupported, problem: "the ZIP is split over several files", file: source.name, offset: offset,
                hint: "join its parts into one file")
        }
        var directoryEnd = offset
        var isContradicted = false
        if count == 0xFFFF || size == 0xFFFF_FFFF || start == 0xFFFF_FFFF {
            if let wide = try zip64Record(endingAt: offset, source: source) {
                (count, size, start, directoryEnd) = (wide.count, wide.size, wide.start, wide.offset)
            }
        } else if let wide = try? zip64Record(endingAt: offset, source: source) {
            // It isn't needed, but some readers use it.
            isContradicted = (wide.count, wide.size, wide.start) != (count, size, start)
        }
        let (stop, overflow) = start.addingReportingOverflow(size)
        guard !overflow, stop <= directoryEnd else {
            throw WebArchiveError(
                code: .corruptZIP,
                problem:
                    "the central directory needs \(size) bytes at offset \(start), but its end record is at \(directoryEnd)",
                file: source.name, offset: offset)
        }
        let (prefix, isAmbiguous) = try prefixLength(
            count: count, start: start, gap: directoryEnd - stop, source: source)
        return ZIPEndRecord(
            entryCount: count, directorySize: size, directoryOffset: start + prefix, prefixLength: prefix,
            trailingLength: source.size - recordEnd, hasRival: isContradicted || isAmbiguous)
    }

    /// Returns the zip64 end record that the locator right before `end` points to; `nil` without a locator.
    private static func zip64Record(
        endingAt end: UInt64, source: any ByteSource
    ) throws(WebArchiveError) -> (count: UInt64, size: UInt64, start: UInt64, offset: UInt64)? {
        guard end >= 20 else { return nil }
        let locator = try source.read(at: end - 20, count: 20)
        guard locator.uint32(at: 0) == locatorSignature else { return nil }
        guard locator.uint32(at: 4) == 0, locator.uint32(at: 16) <= 1 else {
            throw WebArchiveError(
                code: .unsupported, problem: "the ZIP is split over several files", file: source.name, offset: end - 20)
        }
        // The stored offset is too small if bytes were put before the ZIP. The record is then right before its locator.
        for offset in [locator.uint64(at: 8), end >= 76 ? end - 76 : 0] {
            guard end - 20 >= 56, offset <= end - 20 - 56 else { continue }
            let record = try source.read(at: offset, count: 56)
            guard record.uint32(at: 0) == zip64Signature else { continue }
            guard record.uint32(at: 16) == 0, record.uint32(at: 20) == 0 else {
                throw WebArchiveError(
                    code: .unsupported, problem: "the ZIP is split over several files", file: source.name,
                    offset: offset)
            }
            return (record.uint64(at: 32), record.uint64(at: 40), record.uint64(at: 48), offset)
        }
        throw WebArchiveError(
            code: .corruptZIP, problem: "no zip64 end record where its locator points", file: source.name,
            offset: end - 20)
    }

    /// Returns how far the directory is after the offset in the end record: 0, or `gap` for a ZIP after a prefix; and whether
    /// there is one at both places, of which some readers take the one right before the end record.
    private static func prefixLength(
        count: UInt64, start: UInt64, gap: UInt64, source: any ByteSource
    ) throws(WebArchiveError) -> (length: UInt64, isAmbiguous: Bool) {
        guard count > 0 else { return (0, false) }
        var found: [UInt64] = []
        for prefix in Set([0, gap]).sorted() {
            guard source.size >= 4, start + prefix <= source.size - 4 else { continue }
            if try source.read(at: start + prefix, count: 4).uint32(at: 0) == ZIPDirectory.centralSignature {
                found.append(prefix)
            }
        }
        if let first = found.first { return (first, found.count > 1) }
        throw WebArchiveError(
            code: .corruptZIP, problem: "no central directory where the end record points",
            file: source.name, offset: start)
    }
}

extension ZIPEndRecord {
    /// Explains what a file is that isn't a complete ZIP.
    private static func explainMissing(in source: any ByteSource) throws(WebArchiveError) -> WebArchiveError {
        let head = try source.read(at: 0, count: Int(min(source.size, 4096)))
        func notZIP(_ problem: String, hint: String? = nil) -> WebArchiveError {
            WebArchiveError(code: .notZIP, problem: problem, file: source.name, hint: hint)
        }
        if head.isEmpty {
            return WebArchiveError(
                code: .empty, problem: "the file is empty", file: source.name,
                hint: "download it again, then add it once more")
        }
        let packHint = "`replayhost import` packs WARC files as WACZ"
        if head.starts(with: [0x1F, 0x8B]) {
            return notZIP("this is a compressed file, perhaps a WARC file", hint: packHint)
        }
        if WARCRecord.starts(head) { return notZIP("this is a WARC file", hint: packHint) }
        let start = String(decoding: head.drop { $0 <= 0x20 || $0 >= 0x80 }.prefix(2048), as: UTF8.self).lowercased()
        if start.hasPrefix("<!doctype html") || start.hasPrefix("<html") {
            return notZIP(
                "this is an HTML page, not a WACZ file",
                hint: "open it in a browser: it may be an error or login page; then download the file again")
        }
        if start.hasPrefix("{"), start.contains("multi-wacz-package") {
            return WebArchiveError(
                code: .multiWACZ, problem: "this is a list of WACZ files, not a WACZ file", file: source.name,
                hint: "download the files in the list, then import them")
        }
        guard head.starts(with: [0x50, 0x4B]) else {
            return notZIP(
                "this isn't a web archive",
                hint: "choose a WACZ, WARC or ARC file, as ArchiveWeb.page, Browsertrix or wget make them")
        }
        return WebArchiveError(
            code: .truncated, problem: "the file is incomplete: its ZIP directory is missing",
            file: source.name, hint: "download it again, then add it once more")
    }
}
