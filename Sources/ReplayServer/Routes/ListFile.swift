import ArchiveStore
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import WebArchive

/// The formats in which a list can be downloaded whole.
enum ListFormat: String, CaseIterable, Sendable {
    /// RFC 4180, with a header.
    case csv
    /// An array.
    case json

    /// - Returns: The parameter `format`; `nil` if it's absent.
    /// - Throws: `ErrorResponse` if it's another value.
    init?(_ query: Parameters) throws {
        guard let name = query["format"] else { return nil }
        guard let format = Self(rawValue: String(name)) else {
            throw ErrorResponse.badParameter("the parameter format must be csv or json, not \"\(name.prefix(20))\"")
        }
        self = format
    }

    fileprivate var type: String { self == .csv ? "text/csv; charset=utf-8; header=present" : "application/json" }
}

/// An item of a list that can be downloaded.
protocol ListItem: Encodable, Sendable {
    /// The names of the columns of a CSV file: keys of the item's JSON.
    static var columns: [String] { get }
    /// The values of the columns; `nil` for an absent one.
    var cells: [String?] { get }
}

extension Site {
    /// Responds with a whole list as a file. It's read and sent block by block.
    ///
    /// - Parameters:
    ///   - name: The name of the file, without its extension.
    ///   - start: The position of the first block.
    ///   - next: Returns the block at a position, which may be empty, and moves the position on; `nil` at the end.
    func listFile<Item: ListItem, Position: Sendable>(
        _ format: ListFormat, named name: String, from start: Position,
        _ next: @escaping @Sendable (inout Position) throws -> [Item]?
    ) async throws -> Response {
        @Sendable func read(from position: Position) throws -> ([Item]?, Position) {
            var position = position
            let items = try next(&position)
            return (items, position)
        }
        // An error in the first block still has its status.
        let first = try await blocking.long { try read(from: start) }
        let fields: HTTPFields = [
            .contentType: format.type, .contentSecurityPolicy: SecurityHeaders.inert, .cacheControl: "no-store",
            .contentDisposition: Responses.attachment("\(name).\(format.rawValue)"),
        ]
        let body = ResponseBody { [blocking] writer in
            var (block, position) = first
            var isEmpty = true
            try await writer.write(ByteBuffer(string: format == .csv ? CSVText.line(Item.columns) : "["))
            while let items = block {
                var text = ByteBuffer()
                for item in items {
                    switch format {
                    case .csv: text.writeString(CSVText.line(item.cells))
                    case .json:
                        text.writeString(isEmpty ? "\n" : ",\n")
                        text.writeBytes(try JSONText.encoded(item))
                    }
                    isEmpty = false
                }
                try await writer.write(text)
                (block, position) = try await blocking.long { [position] in try read(from: position) }
            }
            if format == .json { try await writer.write(ByteBuffer(string: "\n]\n")) }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: SecurityHeaders.common.adding(fields), body: body)
    }

    /// Responds with all pages of a list, block by block.
    func pagesFile(
        _ format: ListFormat, of id: ArchiveID, _ request: PageListRequest,
        read: @escaping @Sendable (PageListRequest) throws -> PageList
    ) async throws -> Response {
        var start = request
        (start.offset, start.limit) = (0, 1000)
        return try await listFile(format, named: "\(id)-pages", from: start) { request -> [ArchivePage]? in
            let pages = try read(request).pages
            request.offset += pages.count
            return pages.isEmpty ? nil : pages
        }
    }
}

extension Responses {
    /// The value of Content-Disposition for a download (RFC 6266 §4.3, RFC 8187). It has both names, as some clients know
    /// only the first.
    static func attachment(_ name: String) -> String {
        let ascii = String(name.map { $0.isASCII && $0 != "\"" && $0 != "\\" ? $0 : "_" })
        let encoded = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ascii
        return "attachment; filename=\"\(ascii)\"; filename*=UTF-8''\(encoded)"
    }
}

extension ArchivePage: ListItem {
    static var columns: [String] { ["url", "title", "timestamp", "list", "archive"] }
    var cells: [String?] { [url, title, timestamp, list, archiveID?.text] }
}

extension URLList.Item: ListItem {
    static var columns: [String] {
        ["url", "timestamp", "status", "type", "mime", "method", "length", "archive", "captures"]
    }
    var cells: [String?] {
        [
            entry.url, entry.timestamp, entry.status.map(String.init), mediaClass.rawValue, entry.mime, entry.method,
            entry.length.map(String.init), archiveID?.text, captureCount.map(String.init),
        ]
    }
}

extension SearchHit: ListItem {
    static var columns: [String] {
        ["url", "title", "timestamp", "archive", "archiveTitle", "type", "language", "captures", "snippet"]
    }
    var cells: [String?] {
        [
            url, title, timestamp, archive.text, archiveTitle, type, language, String(captures),
            snippet.parts.map(\.text).joined(),
        ]
    }
}

extension Finding: ListItem {
    static var columns: [String] { ["severity", "code", "what", "location", "consequence", "urls"] }
    var cells: [String?] { [severity.rawValue, code, what, location, consequence, urls?.joined(separator: " ")] }
}

extension LibraryItem: ListItem {
    static var columns: [String] {
        [
            "id", "title", "originalName", "size", "pageCount", "captureCount", "firstCapture", "lastCapture",
            "importedAt", "sha256", "tags", "sites", "availability",
        ]
    }
    var cells: [String?] {
        let (entry, summary) = (archive.entry, archive.summary)
        return [
            archive.id.text, entry.title, entry.originalName, String(archive.size), String(archive.pageCount),
            String(summary.captureCount), summary.firstCapture.flatMap(RFC3339.text(ofTimestamp:)),
            summary.lastCapture.flatMap(RFC3339.text(ofTimestamp:)),
            RFC3339.text(of: entry.importedAt), archive.sha256, entry.tags.joined(separator: ", "),
            sites.joined(separator: " "), availability.rawValue,
        ]
    }
}
