/// Compares the spelling of words.
package enum Spelling {
    /// Returns the number of errors between two texts; `nil` if there are more than `most`. An error is a character that is
    /// missing, added or another one, or two neighbours that are swapped (Damerau 1964).
    package static func distance(_ one: String, _ other: String, most: Int) -> Int? {
        distance(Array(one.unicodeScalars), Array(other.unicodeScalars), most: most)
    }

    static func distance(_ one: [Unicode.Scalar], _ other: [Unicode.Scalar], most: Int) -> Int? {
        guard abs(one.count - other.count) <= most else { return nil }
        var (twoBefore, before) = ([Int](), Array(0...other.count))
        for row in one.indices {
            var current = [row + 1]
            for column in other.indices {
                var least = min(
                    before[column] + (one[row] == other[column] ? 0 : 1), before[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, one[row] == other[column - 1], one[row - 1] == other[column] {
                    least = min(least, twoBefore[column - 1] + 1)
                }
                current.append(least)
            }
            (twoBefore, before) = (before, current)
        }
        return before[other.count] <= most ? before[other.count] : nil
    }
}
