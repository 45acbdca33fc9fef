/// The lines of a configuration file, numbered as YAML does.
struct ConfigurationLines {
    private typealias Place = ConfigurationNode.Place
    /// Each with its line break.
    private var lines: [[Unicode.Scalar]] = [[]]

    init(_ text: String) {
        var previous: Unicode.Scalar?
        // libyaml doesn't count a byte order mark.
        for scalar in text.unicodeScalars.drop(while: { $0 == "\u{FEFF}" }) {
            if let previous, Self.isBreak(previous), !(previous == "\r" && scalar == "\n") { lines.append([]) }
            lines[lines.count - 1].append(scalar)
            previous = scalar
        }
    }

    var text: String {
        var text = String.UnicodeScalarView()
        for line in lines { text.append(contentsOf: line) }
        return String(text)
    }

    /// YAML 1.1 §4.1.4.
    private static func isBreak(_ scalar: Unicode.Scalar) -> Bool {
        ["\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"].contains(scalar)
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }

    /// Where the first character is that isn't printable. YAML 1.1 §4.1.1.
    var firstControlCharacter: ConfigurationNode.Place? {
        place { line, column in
            switch line[column].value {
            case 0x09, 0x0A, 0x0D, 0x20...0x7E, 0x85, 0xA0...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: false
            default: true
            }
        }
    }

    /// Where the first asterisk is after a number of others that could be aliases.
    func asterisk(after count: Int) -> ConfigurationNode.Place? {
        var found = 0
        for (number, line) in lines.enumerated() {
            // A line within quotes can begin with #, but not end the quotes without another one.
            let isComment = line.first { !Self.isSpace($0) } == "#" && !line.contains("\"") && !line.contains("'")
            if isComment { continue }
            for (column, scalar) in line.enumerated() where scalar == "*" {
                found += 1
                if found > count { return Place(line: number + 1, column: column + 1) }
            }
        }
        return nil
    }

    /// Tabs in the indentation of lines.
    var tabs: [ConfigurationNode.Place] {
        lines.enumerated().compactMap { number, line in
            let indentation = line.prefix(while: Self.isSpace)
            let isBlank = indentation.count == line.count || Self.isBreak(line[indentation.count])
            guard !isBlank, let column = indentation.firstIndex(of: "\t") else { return nil }
            return Place(line: number + 1, column: column + 1)
        }
    }

    /// Returns the next place at which a key is in the same section as at `place`.
    func nextKey(_ key: String, after place: ConfigurationNode.Place) -> ConfigurationNode.Place? {
        let name = Array(key.unicodeScalars)
        var depth = 0
        for number in (place.line - 1)..<lines.count {
            let line = lines[number]
            let isFirst = number == place.line - 1
            var column = isFirst ? place.column : 0
            while column < line.count {
                let isKey = Self.isKey(name, line, column)
                let start = column - (column > 0 && "\"'".unicodeScalars.contains(line[column - 1]) ? 1 : 0)
                let before = line[..<start].last { !Self.isSpace($0) }
                let begins = before == nil && start == place.column - 1
                let follows = before.map { "{,".unicodeScalars.contains($0) } ?? true
                if isKey, !(isFirst && start <= place.column - 1), begins || follows && depth == 0 {
                    return Place(line: number + 1, column: column + 1)
                }
                if "{[".unicodeScalars.contains(line[column]) { depth += 1 }
                if "}]".unicodeScalars.contains(line[column]) { depth -= 1 }
                column += 1
            }
        }
        return nil
    }

    /// Whether a name, and a colon after it, are in a line.
    private static func isKey(_ name: [Unicode.Scalar], _ line: [Unicode.Scalar], _ column: Int) -> Bool {
        guard line[column...].starts(with: name) else { return false }
        let rest = line[(column + name.count)...].drop { "\"'".unicodeScalars.contains($0) }
        return rest.first { !isSpace($0) } == ":"
    }

    /// Replaces a key by a name of the same length from the private-use area.
    ///
    /// - Returns: The name.
    mutating func replace(at place: ConfigurationNode.Place, count: Int, number: Int) -> String {
        let start: UInt32 = 0xE000
        let first = Unicode.Scalar(start + 1 + UInt32(number)) ?? "x"
        let name = [first] + Array(repeating: Unicode.Scalar(start) ?? "x", count: count - 1)
        lines[place.line - 1].replaceSubrange(place.column - 1..<place.column - 1 + count, with: name)
        var text = String.UnicodeScalarView()
        text.append(contentsOf: name)
        return String(text)
    }

    private func place(where condition: ([Unicode.Scalar], Int) -> Bool) -> ConfigurationNode.Place? {
        for (number, line) in lines.enumerated() {
            if let column = line.indices.first(where: { condition(line, $0) }) {
                return Place(line: number + 1, column: column + 1)
            }
        }
        return nil
    }
}
