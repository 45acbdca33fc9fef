import ArchiveStore
import Foundation
import Subprocess

#if canImport(System)
import System
#else
import SystemPackage
#endif

/// Whether workers and their tools are confined.
package enum Isolation: Sendable {
    case walls(Walls)
    /// They run like any program of this user. The text says why.
    case none(reason: String)

    /// Tries to build walls around a program.
    ///
    /// - Parameters:
    ///   - program: The absolute path of this program.
    ///   - readable: Other folders that it reads.
    package static func find(program: String, toolbox: Toolbox, readable: [String] = []) async -> Isolation {
        #if os(Linux)
        guard let bubblewrap = toolbox.path(of: .bubblewrap) else { return .none(reason: "bubblewrap isn't installed") }
        let walls = Walls(bubblewrap: bubblewrap, program: program, toolbox: toolbox, readable: readable)
        do {
            try await walls.test()
            return .walls(walls)
        } catch {
            return .none(reason: error.message)
        }
        #else
        return .none(reason: "this is only possible on Linux")
        #endif
    }

    /// The promise that doesn't hold without walls.
    package static let lack =
        "the tools aren't confined: a site that exploits a flaw in one can read your files and reach your network"

    /// How to confine them, for people.
    package static let remedy =
        "install bubblewrap; on Ubuntu, also the profile that docs/safety.md names under “Saving URLs”"

    /// Why tools aren't confined; `nil` if they are.
    package var reason: String? {
        switch self {
        case .walls: nil
        case .none(let reason): reason
        }
    }

    /// Returns the command that runs a worker.
    ///
    /// - Parameter file: Another file that it reads; `nil` for none.
    func command(
        _ program: String, _ arguments: [String], in folder: String, reading file: String?
    ) -> (program: String, arguments: [String]) {
        switch self {
        case .walls(let walls): walls.command(arguments, in: folder, reading: file)
        case .none: (program, arguments)
        }
    }
}

/// Namespaces in which a worker and its tools run. bubblewrap makes them. namespaces(7), bwrap(1)
///
/// Inside, there are the programs of the system, this program and the tools, all read-only, and the session folder. There is
/// nothing else of this computer's files. The network is a loopback interface of its own: only the guard's socket in the
/// session folder leads out. When the first process in it ends, the kernel ends all others.
package struct Walls: Sendable {
    private let bubblewrap: String
    private let program: String
    private let arguments: [String]

    fileprivate init(bubblewrap: String, program: String, toolbox: Toolbox, readable: [String]) {
        // Libraries that are found from where the program is must be found inside, too.
        let program = Folder.resolved(program)
        (self.bubblewrap, self.program) = (bubblewrap, program)
        let visible = Self.libraryFolders() + [program] + Self.folders(of: toolbox) + readable
        arguments =
            Self.namespaces + Self.system
            + visible.filter { $0 != "/usr" && !$0.hasPrefix("/usr/") }.flatMap { ["--ro-bind", $0, $0] }
    }

    /// Returns the command that runs this program inside.
    func command(
        _ arguments: [String], in folder: String, reading file: String?
    ) -> (program: String, arguments: [String]) {
        let places = (file.map { ["--ro-bind", $0, $0] } ?? []) + ["--bind", folder, folder, "--chdir", folder]
        return (bubblewrap, self.arguments + places + Self.readOnly + ["--", program] + arguments)
    }

    /// Starts this program inside.
    fileprivate func test() async throws(ToolFailure) {
        do {
            let result = try await Subprocess.run(
                .path(FilePath(bubblewrap)),
                arguments: Arguments(arguments + Self.readOnly + ["--", program, "--version"]),
                output: .discarded, error: .string(limit: 4096))
            guard !result.terminationStatus.isSuccess else { return }
            let line = result.standardError.split(separator: "\n").last.map(String.init)
            throw ToolFailure(.toolFailed, line ?? "bubblewrap failed (\(result.terminationStatus))")
        } catch let failure as ToolFailure {
            throw failure
        } catch {
            throw ToolFailure(.toolFailed, "bubblewrap can't be started: \(error)")
        }
    }

    /// Any user ID but root's has the same effect inside. A namespace for users is made also for root, so that Chromium can
    /// use its own sandbox.
    private static let namespaces = [
        "--die-with-parent", "--unshare-user", "--uid", "1000", "--gid", "1000", "--unshare-net", "--unshare-pid",
        "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL",
    ]

    /// What is in memory: otherwise, a tool could fill half of it. Temporary files are in the session folder.
    private static let readOnly = ["/tmp", "/dev", "/"].flatMap { ["--remount-ro", $0] }

    /// The system's files. Of `/etc`, only what programs need to start and to check certificates: root can read all of it.
    private static var system: [String] {
        var result = ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--ro-bind", "/usr", "/usr"]
        for folder in ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"] {
            if let target = try? FileManager.default.destinationOfSymbolicLink(atPath: folder) {
                result += ["--symlink", target, folder]
            } else {
                result += ["--ro-bind-try", folder, folder]
            }
        }
        let settings = ["alternatives", "chromium", "chromium.d", "fonts", "ld.so.cache", "localtime", "ssl"]
        let paths = settings.map { "/etc/\($0)" } + ["/var/cache/fontconfig"]
        return result + paths.flatMap { ["--ro-bind-try", $0, $0] }
    }

    /// The folders of this program's libraries. proc_pid_maps(5)
    private static func libraryFolders() -> [String] {
        #if os(Linux)
        let maps = FileManager.default.contents(atPath: "/proc/self/maps") ?? Data()
        let paths = String(decoding: maps, as: UTF8.self).split(separator: "\n").compactMap { line in
            line.firstIndex(of: "/").map { String(line[$0...]) }
        }
        let libraries = paths.filter { $0.contains(".so") && Folder.isFile($0) && !$0.hasPrefix("/lib") }
        return Set(libraries.map(folder)).sorted()
        #else
        return []
        #endif
    }

    /// The folders of the tools, also those that their links lead to, and of the Python that runs yt-dlp.
    private static func folders(of toolbox: Toolbox) -> [String] {
        let paths = Toolbox.Tool.allCases.compactMap { toolbox.path(of: $0) }
        let folders = (paths + paths.map(Folder.resolved)).map(folder)
        // PREFIX/bin/python3 needs PREFIX/lib.
        let prefix = folder(folder(Folder.resolved("\(toolbox.root)/current/bin/python")))
        return Set(folders + [toolbox.root, prefix].filter { Folder.isFolder($0) }).sorted()
    }

    private static func folder(_ path: String) -> String { (path as NSString).deletingLastPathComponent }
}
