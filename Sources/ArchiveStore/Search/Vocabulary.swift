import Foundation
import GRDB
import WebArchive

/// The words of the search index, with the number of documents that have them. It tells which other forms of a word, and
/// which words that are spelled alike, can be found at all.
struct Vocabulary {
    struct Entry: Decodable, FetchableRecord, Hashable {
        /// Folded.
        let word: String
        /// How the word is written in lower case, if that isn't its folded form; else empty. Of several, the first one that
        /// was indexed.
        let written: String
        /// The number of documents.
        let pages: Int

        /// The word as people write it.
        var text: String { written.isEmpty ? word : written }
    }

    let database: Database

    func entry(_ word: String) throws -> Entry? {
        try Entry.fetchOne(
            database.cachedStatement(sql: "SELECT * FROM vocabulary WHERE word = ?"), arguments: [word])
    }

    /// Returns words that begin with a text: first those of several documents, so that one page can't crowd out words by
    /// inventing thousands.
    func entries(startingWith text: String, limit: Int = 5000) throws -> [Entry] {
        let several = try Entry.fetchAll(
            database.cachedStatement(
                sql: "SELECT * FROM vocabulary WHERE word >= ? AND word < ? AND pages > 1 LIMIT ?"),
            arguments: [text, text + "\u{10FFFF}", limit])
        let single = try Entry.fetchAll(
            database.cachedStatement(
                sql: "SELECT * FROM vocabulary WHERE word >= ? AND word < ? AND pages = 1 LIMIT ?"),
            arguments: [text, text + "\u{10FFFF}", limit])
        return several + single
    }

    /// Returns the languages of pages, the most frequent first: those that pages declare, else those that were detected.
    func languages() throws -> [String] {
        let prefix = SearchFacet.formsLanguage("")
        return try entries(startingWith: prefix).sorted { ($0.pages, $1.word) > ($1.pages, $0.word) }
            .map { String($0.word.dropFirst(prefix.count)) }
    }
}

/// What documents that are added or removed change in the vocabulary.
struct VocabularyChanges {
    private struct Change {
        /// Where the word is in `bytes`.
        let range: Range<Int>
        let hash: Int
        /// The document that was counted last.
        var document: Int
        var pages: Int
    }

    private var bytes: [UInt8] = []
    private var changes: [Change] = []
    /// An open hash table, whose size is a power of 2: indexes of `changes`, plus one; 0 if free.
    private var table = [Int32](repeating: 0, count: 1 << 12)
    private var written: [String: String] = [:]
    private var documents = 0

    /// Counts the words of a document.
    ///
    /// - Parameter sign: 1 for one that is added, -1 for one that is removed.
    mutating func count(_ words: DocumentWords, _ sign: Int) {
        documents += 1
        for column in [words.title, words.body, words.facet] {
            var column = column
            column.withUTF8 { text in
                var start = 0
                while start < text.count {
                    let end = text[start...].firstIndex(of: 0x20) ?? text.count
                    count(UnsafeBufferPointer(rebasing: text[start..<end]), sign)
                    start = end + 1
                }
            }
        }
        written.merge(words.written) { known, _ in known }
    }

    /// Writes all changes if they take much memory. Batches of real pages have fewer words.
    mutating func writeIfLarge(_ database: Database) throws {
        guard changes.count > Self.changesMax else { return }
        try write(database)
        self = VocabularyChanges()
    }

    private static let changesMax = 50_000

    /// Writes all changes by one statement: a statement for each word would take twice as long.
    func write(_ database: Database) throws {
        // The table is sorted by word: neighbours are written to the same page of the file.
        let changes = sorted().filter { $0.pages != 0 }
        guard !changes.isEmpty else { return }
        // Words have letters, marks and replacements only, so no character needs an escape.
        var counts: [UInt8] = []
        for change in changes {
            counts += (counts.isEmpty ? #"{""# : #",""#).utf8
            counts += bytes[change.range]
            counts += #"":\#(change.pages)"#.utf8
        }
        let text = String(decoding: counts, as: UTF8.self) + "}"
        try database.cachedStatement(
            sql: """
                INSERT INTO vocabulary SELECT key, '', value FROM json_each(?) WHERE true
                ON CONFLICT (word) DO UPDATE SET pages = pages + excluded.pages
                """
        ).execute(arguments: [text])
        if changes.contains(where: { $0.pages < 0 }) {
            try database.execute(
                sql: "DELETE FROM vocabulary WHERE pages <= 0 AND word IN (SELECT key FROM json_each(?))",
                arguments: [text])
        }
        let spell = try database.cachedStatement(
            sql: "UPDATE vocabulary SET written = ? WHERE word = ? AND written = ''")
        for (word, written) in written { try spell.execute(arguments: [written, word]) }
    }

    /// The changes in the order of their words, which is that of their bytes.
    private func sorted() -> [Change] {
        bytes.withUnsafeBytes { bytes in
            changes.sorted { bytes[$0.range].lexicographicallyPrecedes(bytes[$1.range]) }
        }
    }

    private mutating func count(_ word: UnsafeBufferPointer<UInt8>, _ sign: Int) {
        guard Self.isKept(word) else { return }
        let hash = Int(truncatingIfNeeded: word.quickHash)
        var slot = hash & (table.count - 1)
        while table[slot] != 0 {
            let place = Int(table[slot]) - 1
            if changes[place].hash == hash, isEqual(changes[place].range, word) {
                guard changes[place].document != documents else { return }
                changes[place].document = documents
                changes[place].pages += sign
                return
            }
            slot = (slot + 1) & (table.count - 1)
        }
        changes.append(
            Change(range: bytes.count..<bytes.count + word.count, hash: hash, document: documents, pages: sign))
        bytes += word
        table[slot] = Int32(changes.count)
        if changes.count * 2 > table.count { grow() }
    }

    private func isEqual(_ range: Range<Int>, _ word: UnsafeBufferPointer<UInt8>) -> Bool {
        guard range.count == word.count else { return false }
        return bytes.withUnsafeBufferPointer { bytes in
            word.indices.allSatisfy { bytes[range.lowerBound + $0] == word[$0] }
        }
    }

    private mutating func grow() {
        table = [Int32](repeating: 0, count: table.count * 4)
        for (place, change) in changes.enumerated() {
            var slot = change.hash & (table.count - 1)
            while table[slot] != 0 { slot = (slot + 1) & (table.count - 1) }
            table[slot] = Int32(place + 1)
        }
    }

    /// Whether the vocabulary has such a word: numbers, and pairs of characters of scripts without spaces, have no other
    /// forms. Of the words that stand for something else, it has those of languages.
    private static func isKept(_ word: UnsafeBufferPointer<UInt8>) -> Bool {
        guard (2...bytesMax).contains(word.count), !word.contains(where: { (0x30...0x39).contains($0) }) else {
            return false
        }
        // The first byte of ¦ also begins other characters.
        if word[0] == replacement[0], word.starts(with: replacement) { return word.starts(with: language) }
        return !WordFolding.isOfRun(word)
    }

    private static let bytesMax = 40
    private static let replacement = Array("¦".utf8)
    private static let language = Array(SearchFacet.formsLanguage("").utf8)
}
