import Foundation
import WebArchive

/// A part of a page as the search index stores it. Computed without the database, so that another thread can write
/// meanwhile.
struct IndexedPage: Sendable {
    let position: Int
    /// The number of the part; 0 for a page without text.
    let part: Int
    let timestamp: String
    let url: String
    /// The URL's key; see `SURT.key(for:)`.
    let key: String
    let document: SearchDocument

    /// About what it takes in memory and in the index, in bytes.
    var size: Int { 500 + 2 * (url.utf8.count + key.utf8.count) + document.size }
}

/// A document as the search index stores it.
struct SearchDocument: Sendable {
    struct Text: Sendable {
        let digest: Data
        let headingsSize: Int
        let size: Int
        let beside: Data
        /// `nil` if the index has the text already.
        private(set) var compressed: Data?

        /// The text without its content, once the index has it.
        var withoutContent: Text {
            var text = self
            text.compressed = nil
            return text
        }

        init(_ text: SearchText) throws {
            (digest, headingsSize, size) = (text.digest(), text.headingsSize, text.bytes.count)
            beside = text.storedBeside
            compressed = Data(try text.compressed())
        }
    }

    let title: String
    let type: String
    /// Empty if unknown.
    let language: String
    /// `nil` if they must be made from the text that the index has.
    let words: DocumentWords?
    /// `nil` if there is none.
    let text: Text?

    /// About what it takes in memory and in the index, in bytes.
    var size: Int {
        title.utf8.count + (words?.size ?? 0) + (text.map { $0.compressed?.count ?? $0.size } ?? 0)
    }

    /// - Parameter text: The part of the page's text; `nil` if it has none.
    init(
        _ page: SourcePage, key: String, _ content: PageContent, _ text: SearchText?, _ folding: WordFolding,
        _ spellings: KnownSpellings
    ) throws {
        (title, type, language) = Self.described(page, content)
        words = DocumentWords(
            key: key, title: title, type: type, language: language, text, folding, spellings: spellings)
        self.text = try text.map(Text.init)
    }

    /// - Parameter text: A text that the index has.
    init(_ page: SourcePage, _ content: PageContent, known text: Text) {
        (title, type, language) = Self.described(page, content)
        words = nil
        self.text = text.withoutContent
    }

    private static func described(_ page: SourcePage, _ content: PageContent) -> (String, String, String) {
        // Some crawlers list the URL as the title of a page that they don't know.
        let listed = page.title.flatMap { isURL($0, of: page) ? nil : $0 }
        let title =
            [listed, content.title, page.title].compactMap { $0 }.first { !$0.allSatisfy(\.isWhitespace) } ?? ""
        return (title, content.type, language(content.language))
    }

    private static func isURL(_ title: String, of page: SourcePage) -> Bool {
        title == page.url || SURT.matches(title.contains("://") ? title : "http://\(title)", page.url)
    }

    /// Returns the primary subtag of a language tag in lower case, RFC 5646 §2.1; empty if there is none.
    static func language(_ tag: String) -> String {
        let primary = tag.prefix { $0 != "-" && $0 != "_" && !$0.isWhitespace }.lowercased()
        let isValid = (2...3).contains(primary.utf8.count) && primary.utf8.allSatisfy { (0x61...0x7A).contains($0) }
        return isValid ? primary : ""
    }
}

/// Hosts as the search index knows them: in lower case, without `www.` and port. For URLs without a host, the scheme with a
/// colon.
enum SearchSite {
    /// Returns the host of a URL, or of a text that begins with one; empty for neither.
    static func host(of text: String) -> String {
        if text.wholeMatch(of: /[A-Za-z][A-Za-z0-9+.\-]*:/) != nil { return text.lowercased() }
        return host(ofKey: SURT.key(for: text.contains("://") ? text : "http://\(text)"))
    }

    /// Returns the host of a key: `reef.example` for `example,reef)/a?b`, `file:` for `file:///a`.
    static func host(ofKey key: String) -> String {
        if let host = SURT.host(ofKey: key) { return host.name }
        return key.prefixMatch(of: /[A-Za-z][A-Za-z0-9+.\-]*:/).map { $0.output.lowercased() } ?? ""
    }

    /// Returns a key as people write URLs: `reef.example/a?b` for `example,reef)/a?b`.
    static func text(ofKey key: String) -> String {
        guard let host = SURT.host(ofKey: key) else { return key }
        return host.name + host.port + key[host.port.endIndex...].dropFirst()
    }
}

/// A word of the index that stands for a whole title or heading.
enum WholeText {
    /// Returns the word for folded words; `nil` if there are too many. `¦` isn't part of other words.
    static func word(for folded: String) -> String? {
        let words = folded.split(separator: " ")
        guard !words.isEmpty, words.count <= wordsMax else { return nil }
        return "¦" + words.joined(separator: "¦")
    }

    /// Returns the title and its first parts, such as those of "Reefs — The Sea".
    static func parts(ofTitle title: String) -> [Substring] {
        // Most titles have no byte of a separator.
        guard title.utf8.contains(where: isSeparatorStart) else { return [title[...]] }
        return [title[...]] + title.split(maxSplits: partsMax) { "—–-|·:".contains($0) }
    }

    private static func isSeparatorStart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "|"), UInt8(ascii: ":"), 0xC2, 0xE2: true
        default: false
        }
    }

    private static let partsMax = 1000

    private static let wordsMax = 8
}

/// Words of the column `facet`, which restrict a search to a site, a type or a language. `¦` isn't part of other words, so
/// that a query doesn't have to name columns, which would make it slower.
enum SearchFacet {
    /// Returns the words of a document: its host and the host's parent domains, type and language.
    ///
    /// - Parameter formsLanguage: The language whose rules apply to its words; empty if unknown.
    static func words(host: String, type: String, language: String, formsLanguage: String) -> String {
        var words = [self.type(type)]
        if !language.isEmpty { words.append(self.language(language)) }
        if !formsLanguage.isEmpty { words.append(self.formsLanguage(formsLanguage)) }
        // The names of a longer host would be longer than everything else. No host in the DNS is (RFC 1035 §2.3.4).
        guard host.utf8.count <= hostBytesMax else { return (words + [site(host)]).joined(separator: " ") }
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
        var word = Array("¦¦s".utf8)
        for byte in host.utf8 {
            if (0x30...0x39).contains(byte) || (0x61...0x79).contains(byte) {
                word.append(byte)
            } else {
                word += "z\(byte)z".utf8
            }
        }
        return String(decoding: word, as: UTF8.self)
    }

    private static let hostBytesMax = 255

    static func type(_ type: String) -> String { "¦¦t" + type }
    static func language(_ language: String) -> String { "¦¦l" + language }
    static func formsLanguage(_ language: String) -> String { "¦¦f" + language }
}
