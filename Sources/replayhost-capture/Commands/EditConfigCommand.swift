import ArchiveStore
import ArgumentParser
import CaptureServer
import CommandSupport
import Foundation
import Subprocess

#if canImport(System)
import System
#else
import SystemPackage
#endif

/// `replayhost-capture config edit`
struct EditConfig: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Edit the configuration with $VISUAL, $EDITOR or vi.",
        discussion: """
            You edit a copy. It replaces the file only if it's valid; the previous version is kept \
            (`config restore`). A running server takes it over within seconds, as far as docs/configuration.md says.

            Example:
              replayhost-capture config edit
            """)

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let file = ConfigCommand.file(nil, common)
        let stamp = file.stamp
        let before = try file.text()
        let layout = CaptureLayout(store: try common.openStore(repairing: false).layout, downloads: "")
        try layout.makeFolders()
        let copy = try Copy(of: before ?? Array(Self.beginning.utf8), in: layout.root)
        while true {
            try await edit(copy.path)
            let text = try copy.text()
            if text == before { return common.tell("\(file.path): not changed") }
            do {
                let configuration = try file.write(text, replacing: stamp)
                return tell(file, configuration)
            } catch let error as StoreError {
                copy.keep()
                Terminal.writeError("your text is kept in \(copy.path)", label: .hint)
                throw error
            } catch let error as ConfigurationFile.Invalid {
                ConfigCommand.report(error.faults, "config.yaml")
                guard Self.asks("Edit again? [Y/n]") else {
                    Terminal.writeError("nothing was changed", label: .hint)
                    throw ExitStatus.failed
                }
            }
        }
    }

    private func tell(_ file: ConfigurationFile, _ configuration: CaptureConfiguration) {
        for warning in file.read().warnings { Terminal.writeError(warning.text(file: file.path), label: .warning) }
        common.tell("\(file.path): changed")
        for entry in configuration.changedEntries { common.note("  \(entry.key): \(entry.value)") }
    }

    private static let beginning = """
        # The configuration of replayhost-capture. All keys are optional; docs/configuration.md describes them.
        # `replayhost-capture config show` prints all keys with their values.

        """

    /// Runs the editor as git does: a command of the shell, which can have arguments.
    private func edit(_ path: String) async throws {
        let environment = ProcessInfo.processInfo.environment
        let editor = ["VISUAL", "EDITOR"].compactMap { environment[$0] }.first { !$0.isEmpty } ?? "vi"
        let result = try await Subprocess.run(
            .path("/bin/sh"), arguments: ["-c", "\(editor) \"$1\"", "sh", path], input: .currentStandardInput,
            output: .currentStandardOutput, error: .currentStandardError)
        guard result.terminationStatus.isSuccess else {
            throw StoreError(
                .failed, "the editor ended with an error; nothing was changed", place: editor,
                hint: "choose another editor with EDITOR")
        }
    }

    /// Asks a yes-or-no question. Without an answer, it's no.
    private static func asks(_ question: String) -> Bool {
        guard let answer = Terminal.answer(to: question) else { return false }
        return ["", "y", "yes"].contains(answer.lowercased())
    }

    /// A copy that only this user can read. It's deleted at the end.
    private final class Copy {
        let path: String

        init(of bytes: [UInt8], in folder: String) throws {
            path = "\(folder)/config-\(UUID().uuidString.lowercased()).yaml"
            let file = try Descriptor(path: path, flags: O_WRONLY | O_CREAT | O_EXCL)
            try bytes.withUnsafeBytes { try file.append($0) }
        }

        /// Keeps the copy, with what the person has written.
        func keep() { isKept = true }

        private var isKept = false

        deinit { if !isKept { unlink(path) } }

        /// Editors replace the file or write into it.
        func text() throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }
    }
}
