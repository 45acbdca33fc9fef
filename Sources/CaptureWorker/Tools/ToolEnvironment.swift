import ArchiveStore
import Foundation
import Subprocess

#if canImport(System)
import System
#else
import SystemPackage
#endif

/// The Python environments of yt-dlp: `yt-dlp-1`, `yt-dlp-2` and so on, and a link `current` to the one in use.
///
/// A new one is used once yt-dlp starts in it. The one before stays, to go back to.
package struct ToolEnvironment {
    package let root: String

    /// What to install.
    package enum Source: Sendable {
        /// The versions of a requirements file, each by its hash.
        case pinned(file: String)
        /// The newest release, or the newest nightly build.
        case latest(nightly: Bool)
    }

    package init(root: String) {
        self.root = root
    }

    /// Returns the folder: `REPLAYHOST_TOOLS`, else `replayhost-tools` in the user's data folder (XDG Base Directory 0.8).
    static func root(_ environment: [String: String]) -> String {
        if let root = environment["REPLAYHOST_TOOLS"], root.hasPrefix("/") { return root }
        let home = environment["HOME"] ?? "/"
        let data = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home + "/.local/share"
        return data + "/replayhost-tools"
    }

    /// Returns the version of yt-dlp in use, if it's the one in a requirements file or a newer one, and the programs that belong to it
    /// are there.
    ///
    /// - Throws: `StoreError` `notFound` if there is no such file.
    package func version(notBelow requirements: String) async throws -> String? {
        guard let text = try? String(contentsOf: URL(fileURLWithPath: requirements), encoding: .utf8) else {
            throw StoreError(
                .notFound, "the list of versions is missing", place: requirements,
                hint: "install replayhost-capture again")
        }
        let programs = ["yt-dlp", "gallery-dl", "deno"].map { "\(root)/current/bin/\($0)" }
        guard programs.allSatisfy({ access($0, X_OK) == 0 }),
            let pinned = text.firstMatch(of: /(?m)^yt-dlp==([0-9.]+)/)?.output.1,
            let version = await Toolbox.version(of: programs[0], "--version")
        else { return nil }
        // 2026.9.1 on PyPI is 2026.09.01 in the output of yt-dlp.
        let (found, wanted) = (Self.numbers(version), Self.numbers(pinned))
        return found.lexicographicallyPrecedes(wanted) ? nil : version
    }

    private static func numbers(_ version: some StringProtocol) -> [Int] {
        version.split(separator: ".").compactMap { Int($0) }
    }

    /// Installs yt-dlp in a new environment and switches to it.
    ///
    /// - Parameter progress: Called with what is being done, for people.
    /// - Returns: The version.
    /// - Throws: `StoreError` `failed`; the former environment is still in use then.
    package func install(_ source: Source, progress: (String) -> Void) async throws -> String {
        try Folder.create(root)
        let number = (try numbers().last ?? 0) + 1
        let folder = "\(root)/yt-dlp-\(number)"
        do {
            try await checkPython()
            progress("creating \(folder)")
            try await run("python3", ["-m", "venv", folder], doing: "creating a Python environment")
            progress("installing yt-dlp")
            try await run(
                "\(folder)/bin/python",
                ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"] + arguments(source),
                doing: "installing yt-dlp")
            guard let version = await Toolbox.version(of: "\(folder)/bin/yt-dlp", "--version") else {
                throw StoreError(.failed, "the new yt-dlp doesn't start; the former one stays in use", place: folder)
            }
            try use(number)
            // Keep the one before.
            for old in try numbers().dropLast(2) where old != number { try? remove(old) }
            return version
        } catch {
            try? remove(number)
            throw error
        }
    }

    /// Switches to the environment before the current one.
    ///
    /// - Returns: The version.
    package func rollBack() async throws -> String {
        let current = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(root)/current")
        guard let former = try numbers().last(where: { "yt-dlp-\($0)" != current }) else {
            throw StoreError(.failed, "there is no other version of yt-dlp to return to", place: root)
        }
        guard let version = await Toolbox.version(of: "\(root)/yt-dlp-\(former)/bin/yt-dlp", "--version") else {
            throw StoreError(.failed, "the former yt-dlp doesn't start", place: "\(root)/yt-dlp-\(former)")
        }
        try use(former)
        return version
    }

    private func arguments(_ source: Source) -> [String] {
        switch source {
        case .pinned(let file): ["--require-hashes", "--requirement", file]
        case .latest(let nightly):
            ["--upgrade"] + (nightly ? ["--pre"] : []) + ["yt-dlp[default,deno,curl-cffi]", "gallery-dl"]
        }
    }

    /// The numbers of all environments, in order.
    private func numbers() throws -> [Int] {
        guard Folder.isFolder(root) else { return [] }
        return try Folder.names(in: root).compactMap { name in
            name.hasPrefix("yt-dlp-") ? Int(name.dropFirst("yt-dlp-".count)) : nil
        }.sorted()
    }

    private func use(_ number: Int) throws {
        let temporary = "\(root)/current.new"
        try Folder.delete(temporary)
        guard symlink("yt-dlp-\(number)", temporary) == 0, rename(temporary, "\(root)/current") == 0 else {
            throw StoreError.system(errno, doing: "switching to the new yt-dlp", path: root)
        }
    }

    private func remove(_ number: Int) throws { try FileManager.default.removeItem(atPath: "\(root)/yt-dlp-\(number)") }

    /// yt-dlp needs Python 3.11; Debian and Ubuntu have `venv` in a package of its own.
    private func checkPython() async throws {
        let check = "import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))"
        let result = try? await Subprocess.run(
            .name("python3"), arguments: ["-c", check], output: .discarded, error: .discarded)
        guard result?.terminationStatus.isSuccess != true else { return }
        throw StoreError(
            .failed, "Python 3.11 or newer, with venv, isn't installed",
            hint: "install it: `sudo apt install python3-venv`")
    }

    private func run(_ program: String, _ arguments: [String], doing what: String) async throws {
        let executable: Executable = program.hasPrefix("/") ? .path(FilePath(program)) : .name(program)
        let result = try await Subprocess.run(
            executable, arguments: Arguments(arguments), output: .discarded, error: .string(limit: 1 << 20))
        guard !result.terminationStatus.isSuccess else { return }
        let lines = result.standardError.split(separator: "\n")
        let line = lines.last { $0.hasPrefix("ERROR") } ?? lines.last ?? "no message"
        throw StoreError(.failed, "\(what) failed: \(line)", place: root, hint: "check the network, then try again")
    }
}
