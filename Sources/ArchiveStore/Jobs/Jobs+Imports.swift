import GRDB

extension Jobs {
    /// Queues imports of files, which run as soon as a server or `jobs run` gets to them.
    ///
    /// - Parameter paths: Absolute paths of files and folders. Folders are searched as `FolderSearch` does.
    /// - Returns: The jobs, at most `importsMax`.
    /// - Throws: `StoreError`: `notFound` for a path that doesn't exist and for a folder without archives, `notPossible` for
    ///   a folder that can't be read and for too many files. Nothing is queued then.
    package func queueImports(of paths: [String], mode: ImportMode) throws -> [Job] {
        let files = try paths.flatMap(Self.files(at:))
        guard files.count <= Self.importsMax else {
            throw StoreError(
                .notPossible, "\(files.count) files are too many at once; the maximum is \(Self.importsMax)",
                hint: "add a part of the folder, or use `replayhost import`")
        }
        let orders = try files.map { path in
            (path: path, options: try ImportOrder(path: path, mode: mode).json(), size: FileReference(at: path)?.size)
        }
        let now = Self.now()
        let ids = try catalog.writing { database in
            let sql = """
                INSERT INTO job (kind, subject, options, state, total, createdAt, updatedAt)
                VALUES ('import', ?, ?, 'waiting', ?, ?, ?)
                """
            let statement = try database.makeStatement(sql: sql)
            return try orders.map { order in
                let total = order.size.map { Int64(clamping: $0) }
                try statement.execute(arguments: [order.path, order.options, total, now, now])
                return database.lastInsertedRowID
            }
        }
        return try ids.compactMap { try job(id: $0) }
    }

    /// Returns a file itself, or the archives in a folder.
    private static func files(at path: String) throws -> [String] {
        guard Folder.exists(path) else { throw StoreError(.notFound, "there is no file or folder \(path)") }
        guard FileReference(at: path) == nil else { return [path] }
        var unreadable: [String] = []
        let found = FolderSearch.archives(in: path, unreadable: &unreadable)
        if let folder = unreadable.first { throw StoreError(.notPossible, "can't read the folder \(folder)") }
        guard !found.isEmpty else {
            throw StoreError(.notFound, "no .wacz, .warc or .arc files in \(path)")
        }
        return found
    }

    private static let importsMax = 10_000
}
