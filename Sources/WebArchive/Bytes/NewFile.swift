#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A file that appears under its name only when it's complete.
final class NewFile {
    let output: FileOutput
    /// The folder of the file.
    let folder: String
    private let path: String
    /// How the complete file gets its name.
    private enum Naming {
        case hasName
        case unnamed(Int32)
        /// On file systems without unnamed files.
        case rename(from: String)
    }
    private var naming: Naming

    /// - Parameter path: Where the file appears. Nothing must be there.
    /// - Throws: `io`, `noSpace`.
    init(path: String) throws(WebArchiveError) {
        self.path = path
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let parent = parts.dropLast().joined(separator: "/")
        folder = parts.count == 1 ? "." : parent.isEmpty ? "/" : parent
        guard access(path, F_OK) != 0 else { throw Self.exists(path) }
        let unnamed = FileOutput.openUnnamed(in: folder, mode: 0o666)
        if unnamed >= 0 {
            naming = .unnamed(unnamed)
            output = FileOutput(ownedDescriptor: unnamed, name: Self.name(of: path))
        } else {
            guard errno != ENOENT, errno != EACCES, errno != ENOSPC else {
                throw FileOutput.failure("the file can't be created", path)
            }
            let partial = "\(folder)/.\(String(UInt64.random(in: 0 ... .max), radix: 16)).part"
            naming = .rename(from: partial)
            output = try FileOutput(path: partial, mode: 0o666)
        }
    }

    /// Writes into an existing file, which belongs to the caller.
    init(into path: String) throws(WebArchiveError) {
        self.path = path
        folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        output = try FileOutput(path: path)
        naming = .hasName
    }

    deinit { if case .rename(let partial) = naming { unlink(partial) } }

    /// Writes the file to the disk and gives it its name. Must be the last call.
    ///
    /// - Throws: `io` also if there is a file of that name by now.
    func commit() throws(WebArchiveError) {
        try output.synchronize()
        let isNamed =
            switch naming {
            case .hasName: true
            // Unlike `rename`, `link` never replaces a file.
            case .unnamed(let number):
                FileOutput.name(unnamed: number, path)
            case .rename(let partial): link(partial, path) == 0 || errno != EEXIST && rename(partial, path) == 0
            }
        guard isNamed else {
            throw errno == EEXIST ? Self.exists(path) : FileOutput.failure("the file can't be created", path)
        }
        try output.finish()
    }

    private static func name(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

    private static func exists(_ path: String) -> WebArchiveError {
        WebArchiveError(code: .io, problem: "a file with this name exists already", file: name(of: path))
    }
}
