import ArchiveStore
import CommandSupport
import WebArchive

/// Formats a search hit in two lines.
struct HitText {
    typealias Part = (text: String, isBold: Bool)

    let hit: SearchHit
    /// The archive's id, or a unique prefix of it.
    let archive: String
    /// The width of the terminal; `nil` for no limit.
    let room: Int?

    private static let indentation = "    "

    /// The title and the URL. Only the title is truncated, so that the URL can be copied.
    var heading: [Part] {
        let (title, url) = (hit.title.isEmpty ? "(no title)" : Terminal.safe(hit.title), Terminal.safe(hit.url))
        guard let room else { return [(title, true), ("  \(url)", false)] }
        let most = max(20, room - 2 - Terminal.width(url))
        return [(Terminal.truncated(title, to: most), true), ("  \(url)", false)]
    }

    /// The date, the archive, and the text around what was found.
    var details: [Part] {
        let date = RFC3339.text(ofTimestamp: hit.timestamp).map { String($0.prefix(10)) } ?? "no date"
        let years = Set([hit.years.first, hit.years.last].compactMap { $0 }).sorted().map(String.init)
        let captures = hit.captures > 1 ? "  \(hit.captures) captures, \(years.joined(separator: "–"))" : ""
        let otherCount = hit.otherArchives?.count ?? 0
        let others = otherCount == 0 ? "" : " and \(Terminal.count(otherCount, "other archive", "other archives"))"
        let start = "\(Self.indentation)\(date)  \(archive)\(others)\(captures)  "
        let snippet = hit.snippet.parts.map { (text: Terminal.safe($0.text), isBold: $0.isMatch) }
        guard let room else { return [(start, false)] + snippet }
        return [(start, false)] + Self.fitting(snippet, in: max(20, room - Terminal.width(start)))
    }

    /// Returns as much of a snippet as fits, with the first match.
    static func fitting(_ parts: [Part], in room: Int) -> [Part] {
        let letters = parts.flatMap { part in part.text.map { (text: String($0), isBold: part.isBold) } }
        let match = letters.firstIndex { $0.isBold } ?? 0
        let start = beginning(of: letters, match, room)
        var shown: [Part] = start > 0 ? [("…", false)] : []
        var left = room - (start > 0 ? 1 : 0)
        let isCut = letters[start...].reduce(0) { $0 + Terminal.width($1.text) } > left
        if isCut { left -= 1 }
        for letter in letters[start...] {
            left -= Terminal.width(letter.text)
            guard left >= 0 else { break }
            if let last = shown.last, last.isBold == letter.isBold {
                shown[shown.count - 1].text += letter.text
            } else {
                shown.append(letter)
            }
        }
        return isCut ? shown + [("…", false)] : shown
    }

    /// Returns where to start, so that at most a third of the room is before the match, unless there is room for all.
    private static func beginning(of letters: [Part], _ match: Int, _ room: Int) -> Int {
        func width(_ range: Range<Int>) -> Int { letters[range].reduce(0) { $0 + Terminal.width($1.text) } }
        guard width(letters.indices) > room else { return 0 }
        let most = max(room / 3, room - 1 - width(match..<letters.count))
        var (start, before) = (match, 0)
        while start > 0 {
            before += Terminal.width(letters[start - 1].text)
            guard before <= most else { break }
            start -= 1
        }
        guard start > 0, start < match else { return start }
        // Begins with a whole word, in languages that have spaces.
        return letters[start..<match].firstIndex { $0.text == " " }.map { $0 + 1 } ?? start
    }
}
