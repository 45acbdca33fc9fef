import Foundation

/// The parameters of an import, so that it can be repeated. Its JSON is the column `options` of a job.
package struct ImportOrder: Sendable, Hashable, Codable {
    /// An absolute path; `nil` for standard input or an upload, which can't be read again.
    package var path: String?
    package var mode: ImportMode
    /// Absolute paths of further files that are packed into the same archive; `nil` for none.
    var others: [String]?
    private var title: String?
    private var id: String?
    private var tags: [String]
    private var strict: Bool
    private var replaces: String?
    /// `nil` in orders of earlier versions.
    private var indexesText: Bool?
    private var saved: SavedURL?
    private var sha256: String?

    package init(
        path: String?, others: [String] = [], mode: ImportMode = .copy, options: ImportOptions = ImportOptions()
    ) {
        self.path = path.map(Self.absolute)
        self.others = others.isEmpty ? nil : others.map(Self.absolute)
        self.mode = mode
        title = options.title
        id = options.id?.text
        tags = options.tags
        strict = options.isStrict
        replaces = options.replaces?.text
        indexesText = options.indexesText
        saved = options.saved
        sha256 = options.sha256
    }

    package var options: ImportOptions {
        ImportOptions(
            title: title, isStrict: strict, id: id.flatMap { ArchiveID($0) }, tags: tags,
            replaces: replaces.flatMap { ArchiveID($0) }, indexesText: indexesText ?? true,
            saved: saved, sha256: sha256)
    }

    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    /// Decodes an order; `nil` if the JSON isn't one.
    init?(json: String) {
        guard let order = try? JSONDecoder().decode(ImportOrder.self, from: Data(json.utf8)) else { return nil }
        self = order
    }

    /// Doesn't resolve symbolic links: their target may change, and links can't be moved.
    private static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }
}
