/// Merges the lines of several sorted readers. Use it from one thread at a time.
///
/// Lines are ordered bytewise by key and timestamp, and equal ones by archive, then by reader.
final class CDXJMerge {
    /// A line without its line ending, and the position of its archive in the query.
    struct Line {
        let bytes: [UInt8]
        var source = 0
    }

    /// Returns the next line, or `nil` at the end. The reader is released then.
    typealias Reader = () throws(WebArchiveError) -> Line?

    /// The next line of one reader.
    private struct Head {
        let line: Line
        let sortKey: ArraySlice<UInt8>
        let reader: Int
    }

    private var readers: [Reader?] = []
    /// The next line of each reader, sorted in reverse: the first line to return is last.
    private var heads: [Head] = []

    /// Adds a reader and reads its first line.
    func add(_ reader: @escaping Reader) throws(WebArchiveError) {
        readers.append(reader)
        try advance(readers.count - 1)
    }

    /// Returns the next line, or `nil` at the end. Reads one line ahead from the same reader.
    func next() throws(WebArchiveError) -> Line? {
        guard let head = heads.popLast() else { return nil }
        try advance(head.reader)
        return head.line
    }

    /// Inserts the next line of a reader into the sorted heads.
    private func advance(_ reader: Int) throws(WebArchiveError) {
        guard let line = try readers[reader]?() else {
            readers[reader] = nil
            return
        }
        let head = Head(line: line, sortKey: CDXJLine.sortKey(of: line.bytes[...]), reader: reader)
        var (low, high) = (0, heads.count)
        while low < high {
            let middle = (low + high) / 2
            if Self.isBefore(head, heads[middle]) { low = middle + 1 } else { high = middle }
        }
        heads.insert(head, at: low)
    }

    private static func isBefore(_ left: Head, _ right: Head) -> Bool {
        if left.sortKey.lexicographicallyPrecedes(right.sortKey) { return true }
        return (left.line.source, left.reader) < (right.line.source, right.reader)
            && !right.sortKey.lexicographicallyPrecedes(left.sortKey)
    }
}
