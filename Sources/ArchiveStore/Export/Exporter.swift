import Foundation
package import WebArchive

/// Writes archives and parts of them to new files. Nothing appears under the new name until it's complete.
package struct Exporter {
    /// Where an export is written.
    package enum Target: Sendable, Hashable {
        /// A path at which no file must be.
        case newFile(String)
        /// An existing file, whose contents are replaced.
        case existing(String)
    }

    /// What was written.
    package struct Result: Sendable, Hashable, Encodable {
        /// The capture of the page that was saved; `nil` if it wasn't one page.
        package var page: SavedPage?
        /// The number of captures; `nil` for a copy.
        package var captureCount: Int?
        /// The number of pages; `nil` for a copy.
        package var pageCount: Int?
        /// The number of files in a ZIP of files.
        package var fileCount: Int?
        /// What differs from the archive in the library, as sentences.
        package var changes: [String] = []
        /// URLs that the page needs and that aren't captured.
        package var missing: [String] = []
        /// Damage that was found.
        package var findings: [Finding] = []

        package init(
            page: SavedPage? = nil, captureCount: Int? = nil, pageCount: Int? = nil, fileCount: Int? = nil,
            changes: [String] = [], missing: [String] = [], findings: [Finding] = []
        ) {
            self.page = page
            (self.captureCount, self.pageCount, self.fileCount) = (captureCount, pageCount, fileCount)
            (self.changes, self.missing, self.findings) = (changes, missing, findings)
        }
    }

    /// The capture of a page.
    package struct SavedPage: Sendable, Hashable, Encodable {
        package let url: String
        /// The time of the capture as indexed.
        package let timestamp: String
        /// The time of the capture as RFC 3339.
        package let capturedAt: String?

        init(_ entry: CDXJEntry) {
            (url, timestamp, capturedAt) = (entry.url, entry.timestamp, entry.captureTime?.rfc3339)
        }
    }

    let store: ArchiveStore
    /// Finds what is exported, at the cost of one step for each archive.
    let resolver: Resolver
    /// Called regularly with the bytes read and their total; throws to stop.
    let progress: (_ done: UInt64, _ total: UInt64) throws -> Void

    package init(
        _ store: ArchiveStore, allowances: Allowances = Allowances(),
        progress: @escaping (_ done: UInt64, _ total: UInt64) throws -> Void = { _, _ in }
    ) {
        (self.store, self.progress) = (store, progress)
        resolver = Resolver(store: store, allowances: allowances)
    }

    /// Copies an archive's file as it is.
    package func original(_ archive: Archive, to target: Target) throws -> Result {
        var result = Result()
        let source = try archive.openFile(in: store.layout).bytes(named: "\(archive.id).wacz")
        let sha256 = try StoreError.refusingDamage {
            try target.copy(source) { try progress($0, source.size) }
        }
        if let known = archive.sha256, known != sha256 {
            result.changes.append(
                "The file doesn't match its SHA-256 any more: it was changed or damaged in the library.")
        }
        return result
    }

    /// Copies all archives of a collection into one multi-WACZ file.
    package func collection(_ collection: ArchiveCollection, to target: Target) throws -> Result {
        let members = try store.collections.members(of: collection)
        guard !members.isEmpty else {
            throw StoreError(.notPossible, "the collection \"\(collection.id)\" is empty")
        }
        let total = members.reduce(UInt64(0)) { $0.addingSaturated($1.size) }
        return try StoreError.refusingDamage {
            let zip = try target.zip()
            var names = FileNames()
            var done: UInt64 = 0
            for archive in members {
                let source = try archive.openFile(in: store.layout).bytes(named: "\(archive.id).wacz")
                try zip.add(names.unique(Self.fileName(of: archive)), source) { try progress(done + $0, total) }
                done += source.size
            }
            var description = PackageDescription()
            description.title = collection.title
            description.software = ArchiveStore.software
            try zip.finish(multiWACZ: description)
            return Result()
        }
    }

    /// Returns the name of a file that is made from an archive.
    package static func fileName(of archive: Archive, _ suffix: String = "") -> String {
        "\(IncomingArchive.stem(of: IncomingArchive.cleanName(archive.entry.originalName)))\(suffix).wacz"
    }

    /// Returns a source for the description of what is made from an archive.
    static func source(_ archive: Archive) -> PackageDescription.Source {
        .init(
            title: archive.title, path: archive.entry.originalName, hash: archive.sha256.map { "sha256:\($0)" })
    }
}

extension Exporter.Target {
    func wacz() throws(WebArchiveError) -> WACZWriter {
        switch self {
        case .newFile(let path): try WACZWriter(path: path)
        case .existing(let path): try WACZWriter(into: path)
        }
    }

    func zip() throws(WebArchiveError) -> NewZIP {
        switch self {
        case .newFile(let path): try NewZIP(path: path)
        case .existing(let path): try NewZIP(into: path)
        }
    }

    /// - Returns: The SHA-256 of the copy, in hexadecimal digits.
    fileprivate func copy(_ source: any ByteSource, progress: (UInt64) throws -> Void) throws -> String {
        switch self {
        case .newFile(let path): try FileCopy.write(source, to: path, progress: progress)
        case .existing(let path): try FileCopy.write(source, into: path, progress: progress)
        }
    }
}
