import Foundation

/// What an import was asked for, so that it can be done again. Its JSON is the column `options` of a job.
package struct ImportOrder: Sendable, Hashable, Codable {
    /// Absolute; `nil` for what came from standard input or a browser, and cannot be read a second time.
    package var path: String?
    package var mode: ImportMode
    private var title: String?
    private var id: String?
    private var tags: [String]
    private var strict: Bool
    private var replaces: String?

    package init(path: String?, mode: ImportMode = .copy, options: ImportOptions = ImportOptions()) {
        self.path = path.map(Self.absolute)
        self.mode = mode
        title = options.title
        id = options.id?.text
        tags = options.tags
        strict = options.isStrict
        replaces = options.replaces?.text
    }

    package var options: ImportOptions {
        ImportOptions(
            title: title, isStrict: strict, id: id.flatMap { ArchiveID($0) }, tags: tags,
            replaces: replaces.flatMap { ArchiveID($0) })
    }

    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    /// `nil` for what is no order.
    init?(json: String) {
        guard let order = try? JSONDecoder().decode(ImportOrder.self, from: Data(json.utf8)) else { return nil }
        self = order
    }

    /// Links stay as they are: a link is not moved, and what it leads to may be another file by then.
    private static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }
}
