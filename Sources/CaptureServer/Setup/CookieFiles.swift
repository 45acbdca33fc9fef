import ArchiveStore
package import CaptureAPI
import CaptureWorker
package import Foundation

/// The cookies of each user, for sites that want a log-in. Tools get a copy.
package struct CookieFiles: Sendable {
    private let layout: CaptureLayout
    package static let bytesMax = 4 << 20

    package init(_ layout: CaptureLayout) { self.layout = layout }

    /// The text has no cookies.
    package struct NotCookies: Error {
        package static let sentence = "this isn't a cookies.txt in the Netscape format"
    }

    /// Returns what there is, by user.
    package func all() throws -> [CookieDescription] {
        try Folder.names(in: layout.cookies).filter { $0.hasSuffix(".txt") }.sorted().map { name in
            let path = "\(layout.cookies)/\(name)"
            let date = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
            let text = Data(try Descriptor.contents(of: path, bytesMax: Self.bytesMax))
            return CookieDescription(
                username: String(name.dropLast(4)), cookies: Self.count(text),
                changedAt: QueueTime.text(date ?? Date()))
        }
    }

    /// Replaces a user's cookies by a cookies.txt in the Netscape format.
    ///
    /// - Returns: How many.
    /// - Throws: `NotCookies`, `StoreError`.
    @discardableResult
    package func set(_ text: Data, for user: Username) throws -> Int {
        let count = text.count <= Self.bytesMax ? Self.count(text) : 0
        guard count > 0 else { throw NotCookies() }
        try WholeFile.replace(layout.cookies(of: user.text), by: Array(text))
        return count
    }

    /// Deletes a user's cookies.
    ///
    /// - Returns: Whether there were any.
    package func remove(of user: Username) throws -> Bool {
        let path = layout.cookies(of: user.text)
        let existed = Folder.exists(path)
        try Folder.delete(path)
        return existed
    }

    /// Counts lines with seven fields, as curl writes and reads them.
    private static func count(_ data: Data) -> Int {
        String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline).count { line in
            let isComment = line.hasPrefix("#") && !line.hasPrefix("#HttpOnly_")
            return !isComment && line.split(separator: "\t", omittingEmptySubsequences: false).count == 7
        }
    }
}
