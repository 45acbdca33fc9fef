import Foundation

/// A file of records. Its first line has their number, and each other line one record as JSON.
///
/// A file that lacks lines, or has some that can't be read, is damaged: what can be read is used, and the next change sets the
/// damaged file aside.
struct RecordFile<Record: Codable & Hashable & Identifiable & Sendable>: Sendable where Record.ID == UUID {
    let folder: ShareFolder
    let name: String
    private var cached: Content?

    init(_ folder: ShareFolder, _ name: String) { (self.folder, self.name) = (folder, name) }

    /// The first line.
    private struct Head: Codable, Hashable {
        /// The number of records.
        var count: Int
        /// Raised by each change.
        var revision: Int
    }

    private struct Content {
        var head = Head(count: 0, revision: 0)
        var records: [Record] = []
        /// The lines of the records, without their ends.
        var lines: [Data] = []
        /// The whole file, if it's damaged.
        var damaged: Data?
    }

    /// Returns all records, in their order, and whether the file is damaged.
    mutating func read() throws(ShareError) -> (records: [Record], isDamaged: Bool) {
        let content = try content()
        return (content.records, content.damaged != nil)
    }

    private mutating func content() throws(ShareError) -> Content {
        guard let data = try folder.read(name) else { return Content() }
        if let cached, cached.damaged == nil, Self.head(of: data) == cached.head { return cached }
        let content = Self.parse(data)
        cached = content
        return content
    }

    private static func head(of data: Data) -> Head? {
        let line = data.prefix { $0 != newline }
        return try? JSONDecoder().decode(Head.self, from: line)
    }

    private static var newline: UInt8 { 0x0A }

    private static func parse(_ data: Data) -> Content {
        var lines = data.split(separator: newline, omittingEmptySubsequences: false)
        // Each line has an end, so the last piece is empty.
        let isWhole = lines.popLast()?.isEmpty == true
        guard let head = head(of: data), isWhole, lines.count - 1 == head.count else { return parse(damaged: data) }
        lines.removeFirst()
        let list = Data("[".utf8) + lines.joined(separator: Data(",".utf8)) + Data("]".utf8)
        guard let records = try? decoder.decode([Record].self, from: list), records.count == lines.count else {
            return parse(damaged: data)
        }
        return Content(head: head, records: records, lines: lines)
    }

    private static func parse(damaged data: Data) -> Content {
        var content = Content(damaged: data)
        content.head.revision = head(of: data)?.revision ?? 0
        var known: Set<UUID> = []
        for line in data.split(separator: newline) {
            guard let record = try? decoder.decode(Record.self, from: line), known.insert(record.id).inserted else {
                continue
            }
            content.records.append(record)
            content.lines.append(line)
        }
        content.head.count = content.lines.count
        return content
    }

    /// Adds records at the end, without reading the others. Call it under the folder's lock.
    ///
    /// - Returns: As `replace`.
    mutating func append(_ records: [Record]) throws(ShareError) -> String? {
        let data = try folder.read(name)
        let body = (data ?? Data()).drop { $0 != Self.newline }.dropFirst()
        guard let head = data.map(Self.head) ?? Head(count: 0, revision: 0),
            body.last ?? Self.newline == Self.newline, body.count(where: { $0 == Self.newline }) == head.count
        else {
            return try replace { $0 + records }
        }
        let new = Head(count: head.count + records.count, revision: head.revision + 1)
        let lines = records.map { Self.line($0) }
        try folder.write(Self.line(new) + body + lines.joined(), to: name)
        if let content = cached, content.head == head, content.damaged == nil {
            let all = content.lines + lines.map { $0.dropLast() }
            cached = Content(head: new, records: content.records + records, lines: all)
        }
        return nil
    }

    /// Replaces the records, if the closure changes any. Call it under the folder's lock.
    ///
    /// - Returns: The name under which a damaged file is kept; `nil` if it wasn't damaged.
    @discardableResult
    mutating func replace(_ change: ([Record]) -> [Record]) throws(ShareError) -> String? {
        let old = try content()
        let records = change(old.records)
        guard records != old.records || old.damaged != nil else { return nil }
        var aside: String?
        if let damaged = old.damaged {
            let name = "damaged-\(UUID().uuidString.prefix(8).lowercased())-\(name)"
            try folder.write(damaged, to: name)
            aside = name
        }
        // Only what changes is encoded again.
        let known = Dictionary(zip(old.records, old.lines)) { first, _ in first }
        let lines = records.map { known[$0] ?? Self.line($0).dropLast() }
        let head = Head(count: records.count, revision: old.head.revision + 1)
        var data = Self.line(head)
        for line in lines {
            data += line
            data.append(Self.newline)
        }
        try folder.write(data, to: name)
        cached = Content(head: head, records: records, lines: lines)
        return aside
    }

    private static func line(_ value: some Encodable) -> Data {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // The values are plain structures of strings, numbers and dates, which always encode.
        return ((try? encoder.encode(value)) ?? Data()) + [newline]
    }

    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }
}
