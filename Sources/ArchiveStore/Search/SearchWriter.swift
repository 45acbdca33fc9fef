import CZlib
import Crypto
import Foundation
import GRDB
import WebArchive

/// Adds pages to the search index and removes them, within a transaction.
struct SearchWriter {
    let database: Database
    let folding: WordFolding

    /// Adds a page of an archive.
    func add(_ page: SourcePage, _ content: PageContent, archive: Int64) throws {
        let title = [page.title, content.title].compactMap { $0 }.first { !$0.allSatisfy(\.isWhitespace) } ?? ""
        let url = try urlNumber(page.url)
        let parts = content.parts.isEmpty ? [nil] : content.parts.map { Optional($0) }
        for (number, part) in parts.enumerated() {
            let text = part.map(SearchText.init)
            let document = Document(
                url: url, text: try text.map { try textNumber($0) }, title: title, type: content.type,
                language: Self.language(content.language))
            let id = try documentNumber(document, text, url: page.url)
            try execute(
                "INSERT OR REPLACE INTO capture VALUES (?, ?, ?, ?, ?)",
                [archive, page.position, number, id, page.timestamp])
        }
    }

    /// Removes documents that no archive has any more: the documents of up to `limit` captures of `archive`.
    ///
    /// - Returns: Whether the archive had any captures left.
    func removeCaptures(of archive: Int64, limit: Int) throws -> Bool {
        let documents = try Int64.fetchAll(
            database,
            sql: "SELECT document FROM capture WHERE archive = ? ORDER BY position, part LIMIT ?",
            arguments: [archive, limit])
        guard !documents.isEmpty else { return false }
        try execute(
            """
            DELETE FROM capture WHERE archive = ?1 AND (position, part) IN (
                SELECT position, part FROM capture WHERE archive = ?1 ORDER BY position, part LIMIT ?2)
            """, [archive, limit])
        for document in Set(documents) { try removeIfUnused(document) }
        return true
    }

    private func removeIfUnused(_ number: Int64) throws {
        let sql = """
            SELECT document.*, url.url AS address FROM document JOIN url ON url.number = document.url
            WHERE document.number = ?1 AND NOT EXISTS (SELECT 1 FROM capture WHERE document = ?1)
            """
        guard let row = try DocumentRow.fetchOne(database, sql: sql, arguments: [number]) else { return }
        let document = row.document
        let text = try document.text.map { try SearchText.fetch(database, number: $0) }
        let words = words(of: document, text, url: row.address)
        try execute(
            "INSERT INTO word (word, rowid, title, heading, url, body, facet) VALUES ('delete', ?, ?, ?, ?, ?, ?)",
            [number] + words)
        try execute("DELETE FROM document WHERE number = ?", [number])
        if let text = document.text {
            try execute(
                "DELETE FROM text WHERE number = ?1 AND NOT EXISTS (SELECT 1 FROM document WHERE text = ?1)", [text])
        }
        let host = try Int64.fetchOne(database, sql: "SELECT host FROM url WHERE number = ?", arguments: [document.url])
        try execute(
            "DELETE FROM url WHERE number = ?1 AND NOT EXISTS (SELECT 1 FROM document WHERE url = ?1)", [document.url])
        try execute("DELETE FROM host WHERE number = ?1 AND NOT EXISTS (SELECT 1 FROM url WHERE host = ?1)", [host])
    }

    private struct Document {
        let url: Int64
        let text: Int64?
        let title: String
        let type: String
        let language: String
    }

    private struct DocumentRow: Decodable, FetchableRecord {
        let url: Int64
        let text: Int64?
        let title: String
        let type: String
        let language: String
        let address: String

        var document: Document { Document(url: url, text: text, title: title, type: type, language: language) }
    }

    private func documentNumber(_ document: Document, _ text: SearchText?, url: String) throws -> Int64 {
        let known = try one(
            """
            SELECT number FROM document WHERE url = ? AND text IS ? AND title = ? AND type = ? AND language = ?
            """, [document.url, document.text, document.title, document.type, document.language])
        if let known { return known }
        try execute(
            "INSERT INTO document (url, text, title, type, language) VALUES (?, ?, ?, ?, ?)",
            [document.url, document.text, document.title, document.type, document.language])
        let number = database.lastInsertedRowID
        try execute(
            "INSERT INTO word (rowid, title, heading, url, body, facet) VALUES (?, ?, ?, ?, ?, ?)",
            [number] + words(of: document, text, url: url))
        return number
    }

    /// Returns the columns of a row of `word`. The same document always has the same words, so that they can be deleted.
    private func words(of document: Document, _ text: SearchText?, url: String) -> [any DatabaseValueConvertible] {
        let title = WordFolding.composed(document.title)
        let headings = (text?.headings ?? []).split(separator: 0x0A)
        let titleParts = WholeText.parts(ofTitle: title).map { Array($0.utf8)[...] }
        let columns = [
            folded(Array(title.utf8)) + wholes(titleParts), folded(text?.headings ?? []) + wholes(headings),
            folded(Array(Self.withoutScheme(url).utf8)), folded(text?.body ?? []),
        ]
        let facets = SearchFacet.words(host: Self.host(of: url), type: document.type, language: document.language)
        return columns + [facets]
    }

    /// Returns a word for each text as a whole, so that a heading that is what was searched for counts more.
    private func wholes(_ texts: [ArraySlice<UInt8>]) -> String {
        Set(texts.prefix(Self.wholesMax).compactMap { WholeText.word(for: folded($0)) }).sorted().joined(separator: " ")
    }

    private func folded(_ text: some Collection<UInt8>) -> String {
        var words: [UInt8] = []
        Array(text).withUnsafeBufferPointer { folding.append($0, to: &words) }
        return String(decoding: words, as: UTF8.self)
    }

    private func urlNumber(_ url: String) throws -> Int64 {
        let key = SURT.key(for: url)
        if let known = try one("SELECT number FROM url WHERE key = ?", [key]) { return known }
        let host = Self.host(of: url)
        var number = try one("SELECT number FROM host WHERE name = ?", [host])
        if number == nil {
            try execute("INSERT INTO host (name) VALUES (?)", [host])
            number = database.lastInsertedRowID
        }
        try execute("INSERT INTO url (key, url, host) VALUES (?, ?, ?)", [key, url, number])
        return database.lastInsertedRowID
    }

    /// Returns the number of a stored text. Equal texts are stored once.
    private func textNumber(_ text: SearchText) throws -> Int64 {
        if let known = try one("SELECT number FROM text WHERE digest = ?", [text.digest]) { return known }
        try execute(
            "INSERT INTO text (digest, headings, size, compressed) VALUES (?, ?, ?, ?)",
            [text.digest, text.headingsSize, text.bytes.count, Data(try text.compressed())])
        return database.lastInsertedRowID
    }

    private func one(_ sql: String, _ arguments: [(any DatabaseValueConvertible)?]) throws -> Int64? {
        try Int64.fetchOne(database.cachedStatement(sql: sql), arguments: StatementArguments(arguments))
    }

    private func execute(_ sql: String, _ arguments: [(any DatabaseValueConvertible)?]) throws {
        try database.cachedStatement(sql: sql).execute(arguments: StatementArguments(arguments))
    }

    /// Returns the host of a URL in lower case, without `www.`; empty for URLs without a host.
    static func host(of url: String) -> String {
        guard let start = endOfScheme(url) else { return "" }
        let authority = url[start...].utf8.prefix { !"/?#".utf8.contains($0) }
        let name = (authority.split(separator: UInt8(ascii: "@")).last.map { String(Substring($0)) } ?? "").lowercased()
        let host = name.hasPrefix("[") ? name.prefix { $0 != "]" } + "]" : name.prefix { $0 != ":" }
        return String(host.hasPrefix("www.") ? host.dropFirst(4) : host)
    }

    private static func withoutScheme(_ url: String) -> String {
        let text = endOfScheme(url).map { String(url[$0...]) } ?? url
        return WordFolding.composed(text.utf8.contains(UInt8(ascii: "%")) ? text.removingPercentEncoding ?? text : text)
    }

    private static func endOfScheme(_ url: String) -> String.Index? {
        guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")), url.utf8[colon...].starts(with: "://".utf8) else {
            return nil
        }
        return url.utf8.index(colon, offsetBy: 3)
    }

    private static let wholesMax = 1000

    /// Returns the primary subtag of a language tag in lower case, RFC 5646 §2.1; empty if there is none.
    private static func language(_ tag: String) -> String {
        let primary = tag.prefix { $0 != "-" && $0 != "_" && !$0.isWhitespace }.lowercased()
        let isValid = (2...3).contains(primary.utf8.count) && primary.utf8.allSatisfy { (0x61...0x7A).contains($0) }
        return isValid ? primary : ""
    }
}

/// A text as it is stored: headings, then all lines, in UTF-8.
struct SearchText {
    let bytes: [UInt8]
    let headingsSize: Int

    var headings: ArraySlice<UInt8> { bytes[..<headingsSize] }
    var body: ArraySlice<UInt8> { bytes[headingsSize...] }

    /// Identifies equal texts.
    var digest: Data {
        var hash = SHA256()
        hash.update(data: Data("\(headingsSize) ".utf8))
        hash.update(data: bytes)
        return Data(hash.finalize()).prefix(16)
    }

    init(_ part: TextPart) {
        let headings = Self.valid(part.headings)
        (bytes, headingsSize) = (headings + Self.valid(part.body), headings.count)
    }

    private init(bytes: [UInt8], headingsSize: Int) {
        (self.bytes, self.headingsSize) = (bytes, min(headingsSize, bytes.count))
    }

    static func fetch(_ database: Database, number: Int64) throws -> SearchText {
        struct Stored: Decodable, FetchableRecord {
            let headings: Int
            let size: Int
            let compressed: Data
        }
        let statement = try database.cachedStatement(
            sql: "SELECT headings, size, compressed FROM text WHERE number = ?")
        guard let row = try Stored.fetchOne(statement, arguments: [number]) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a text is missing")
        }
        var size = UInt(clamping: row.size)
        var bytes = [UInt8](repeating: 0, count: Int(size))
        let status = row.compressed.withUnsafeBytes { source in
            uncompress(&bytes, &size, source.bindMemory(to: UInt8.self).baseAddress, UInt(source.count))
        }
        guard status == Z_OK, size == row.size else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a text is damaged")
        }
        return SearchText(bytes: bytes, headingsSize: row.headings)
    }

    func compressed() throws -> [UInt8] {
        var size = compressBound(UInt(bytes.count))
        var output = [UInt8](repeating: 0, count: Int(size))
        guard compress2(&output, &size, bytes, UInt(bytes.count), Self.level) == Z_OK else {
            throw StoreError(.failed, "not enough memory to compress a text")
        }
        return Array(output[..<Int(size)])
    }

    /// Returns valid UTF-8 with composed Hangul.
    private static func valid(_ bytes: [UInt8]) -> [UInt8] {
        Array(WordFolding.composed(String(decoding: bytes, as: UTF8.self)).utf8)
    }

    private static let level: Int32 = 3
}

/// A word of the index that stands for a whole title or heading.
enum WholeText {
    /// Returns the word for folded words; `nil` if there are too many. `¦` isn't part of other words.
    static func word(for folded: String) -> String? {
        let words = folded.split(separator: " ")
        guard !words.isEmpty, words.count <= wordsMax else { return nil }
        return "¦" + words.joined(separator: "¦")
    }

    /// Returns the title and its parts, such as those of "Reefs — The Sea".
    static func parts(ofTitle title: String) -> [Substring] {
        [title[...]] + title.split { "—–-|·:".contains($0) }
    }

    private static let wordsMax = 8
}

/// Words of the column `facet`, which restrict a search to a site, a type or a language.
enum SearchFacet {
    /// Returns the words of a document: its host and the host's parent domains, type and language.
    static func words(host: String, type: String, language: String) -> String {
        var words = [self.type(type)]
        if !language.isEmpty { words.append(self.language(language)) }
        var domain = host[...]
        while !domain.isEmpty {
            words.append(site(String(domain)))
            guard let dot = domain.firstIndex(of: ".") else { break }
            domain = domain[domain.index(after: dot)...]
        }
        return words.joined(separator: " ")
    }

    /// Returns the word for a host name. It has no separators, whatever the name contains.
    static func site(_ host: String) -> String {
        "s"
            + host.utf8.map { byte in
                (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) && byte != 0x7A
                    ? String(UnicodeScalar(byte)) : "z\(byte)z"
            }.joined()
    }

    static func type(_ type: String) -> String { "t" + type }
    static func language(_ language: String) -> String { "l" + language }
}
