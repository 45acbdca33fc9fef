import CaptureAPI
public import Foundation

/// What this device has shared, the newest first.
public struct ShareHistory: Sendable, Hashable {
    /// The entries, the newest first.
    public let entries: [HistoryEntry]

    /// How many entries a page has.
    public static let pageSize = 20

    init(entries: [HistoryEntry]) { self.entries = entries }

    /// Returns the entries with all of these words in the URL or the app's name, in any case.
    public func matching(_ text: String) -> ShareHistory {
        let words = text.split(whereSeparator: \.isWhitespace)
        return filtered { entry in
            words.allSatisfy { word in
                [entry.url, entry.sourceApp].contains { $0.range(of: word, options: .caseInsensitive) != nil }
            }
        }
    }

    /// Returns the entries whose host is a domain, or below it.
    public func at(domain: String) -> ShareHistory {
        filtered { WebURL($0.url)?.isAt(domain.lowercased()) == true }
    }

    /// Returns the entries from a time on.
    public func since(_ time: Date) -> ShareHistory { filtered { $0.sharedAt >= time } }

    /// Returns the entries before a time.
    public func before(_ time: Date) -> ShareHistory { filtered { $0.sharedAt < time } }

    /// Returns the entries with a status.
    public func with(status: HistoryEntry.Status) -> ShareHistory { filtered { $0.status == status } }

    private func filtered(_ isIncluded: (HistoryEntry) -> Bool) -> ShareHistory {
        ShareHistory(entries: entries.filter(isIncluded))
    }

    /// Returns a page of 20 entries; empty after the last one.
    ///
    /// - Parameter number: From 0.
    public func page(_ number: Int) -> ArraySlice<HistoryEntry> {
        entries.dropFirst(max(0, number) * Self.pageSize).prefix(Self.pageSize)
    }

    /// Returns the entries by the day on which they were shared, the last day first.
    public func days(in calendar: Calendar = .current) -> [(day: Date, entries: [HistoryEntry])] {
        Dictionary(grouping: entries) { calendar.startOfDay(for: $0.sharedAt) }
            .sorted { $0.key > $1.key }.map { (day: $0.key, entries: $0.value) }
    }

    /// The entries as a JSON array.
    public var json: Data {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // The values are plain structures of strings and dates, which always encode.
        return (try? encoder.encode(entries)) ?? Data()
    }

    /// The entries as CSV with a head. RFC 4180.
    ///
    /// A field that a spreadsheet would take for a formula has an apostrophe before it.
    public var csv: Data {
        let head = ["id", "url", "sharedAt", "status", "serverDownloadId", "sourceApp", "message"]
        let time = ISO8601DateFormatter()
        let rows = entries.map { entry in
            [
                entry.id.uuidString.lowercased(), entry.url, time.string(from: entry.sharedAt), entry.status.rawValue,
                entry.serverDownloadId ?? "", entry.sourceApp, entry.message ?? "",
            ]
        }
        return Data(([head] + rows).map { $0.map(Self.field).joined(separator: ",") + "\r\n" }.joined().utf8)
    }

    private static func field(_ text: String) -> String {
        let clear = text.replacingOccurrences(of: "\0", with: "\u{FFFD}")
        let isFormula = clear.unicodeScalars.first.map { "=+-@＝＋－＠\t\r\n".unicodeScalars.contains($0) } == true
        let safe = isFormula ? "'" + clear : clear
        guard safe.unicodeScalars.contains(where: { "\",\r\n".unicodeScalars.contains($0) }) else { return safe }
        return "\"" + safe.replacingOccurrences(of: "\"", with: "\"\"") + "\""
    }
}
