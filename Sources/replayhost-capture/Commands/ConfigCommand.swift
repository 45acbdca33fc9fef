import ArchiveStore
import ArgumentParser
import CaptureServer
import CommandSupport
import Foundation

/// `replayhost-capture config`
struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Check, edit or show the configuration of the server.",
        discussion: """
            The configuration is the file capture/config.yaml in the store. docs/configuration.md describes its keys. \
            Without the file, the defaults hold.

            Example:
              replayhost-capture config edit
            """,
        subcommands: [CheckConfig.self, EditConfig.self, ShowConfig.self, RestoreConfig.self])

    /// `replayhost-capture config check [FILE]`
    struct CheckConfig: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Check the configuration, and list what differs from the defaults.",
            discussion: """
                Prints each error with its line and column. The exit code is then 1.

                Example:
                  replayhost-capture config check
                  replayhost-capture config check new.yaml
                """)

        @Argument(help: "The file to check (default: that of the store).", completion: .file(extensions: ["yaml"]))
        var file: String?

        @OptionGroup var common: CommonOptions

        private struct Result: Encodable {
            let file: String
            let valid: Bool
            let faults: [ConfigurationFault]
            let warnings: [ConfigurationFault]
            /// The keys that differ from the defaults.
            let changed: [String]
        }

        func run() throws {
            if let file, !Folder.exists(file) { throw StoreError(.notFound, "no such file", place: file) }
            let checked = ConfigCommand.file(file, common)
            let reading = checked.read()
            let name = file ?? checked.path
            let changes = reading.configuration?.changedEntries ?? []
            if common.json {
                let result = Result(
                    file: name, valid: reading.faults.isEmpty, faults: reading.faults, warnings: reading.warnings,
                    changed: changes.map(\.key))
                Terminal.writeJSON(result)
            } else {
                for fault in reading.faults { Terminal.write(fault.text(file: name)) }
                for warning in reading.warnings {
                    Terminal.writeError(warning.text(file: name), label: .warning)
                }
            }
            guard reading.faults.isEmpty else { throw ExitStatus.failed }
            if !common.json { tell(name, changes, exists: checked.stamp != nil) }
        }

        private func tell(_ name: String, _ changes: [CaptureConfiguration.Entry], exists: Bool) {
            guard exists else { return common.tell("\(name): no such file; the defaults hold") }
            guard !changes.isEmpty else { return common.tell("\(name): valid; all values are the defaults") }
            common.tell("\(name): valid; these values differ from the defaults:")
            for entry in changes { common.tell("  \(entry.key): \(entry.value)") }
        }
    }

    /// `replayhost-capture config show`
    struct ShowConfig: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show all values as YAML, also those that aren't in the file.",
            discussion: """
                API keys aren't shown.

                Example:
                  replayhost-capture config show
                """)

        @OptionGroup var common: CommonOptions

        func run() throws {
            let configuration = try ConfigCommand.read(ConfigCommand.file(nil, common))
            if common.json {
                let values = configuration.entries.map { ($0.key, $0.value) }
                return Terminal.writeJSON(Dictionary(uniqueKeysWithValues: values))
            }
            Terminal.writeLines(Array(configuration.yaml.utf8))
        }
    }

    /// `replayhost-capture config restore`
    struct RestoreConfig: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore",
            abstract: "Return to the configuration before the last change.",
            discussion: """
                The current one is kept, so that a second `config restore` returns to it.

                Example:
                  replayhost-capture config restore
                """)

        @OptionGroup var common: CommonOptions

        func run() throws {
            let file = ConfigCommand.file(nil, common)
            do {
                try file.restorePrevious()
            } catch let error as ConfigurationFile.Invalid {
                ConfigCommand.report(error.faults, file.previousPath)
                throw ExitStatus.failed
            }
            common.tell("\(file.path): restored")
        }
    }

    /// Returns a configuration file.
    ///
    /// - Parameter path: `nil` for that of the store.
    static func file(_ path: String?, _ common: CommonOptions) -> ConfigurationFile {
        let home = ProcessInfo.processInfo.environment["HOME"] ?? "/"
        guard let path else {
            return ConfigurationFile(layout: StoreLayout(root: common.location.path), home: home)
        }
        let folder = FileManager.default.currentDirectoryPath
        return ConfigurationFile(path: StoreLocation.absolute(path, in: folder), home: home)
    }

    /// Reads a configuration. Reports its faults and warnings.
    ///
    /// - Throws: `ExitStatus` `failed` if it has faults.
    static func read(_ file: ConfigurationFile) throws -> CaptureConfiguration {
        let reading = file.read()
        guard let configuration = reading.configuration else {
            report(reading.faults, file.path)
            Terminal.writeError("change it with `replayhost-capture config edit`", label: .hint)
            throw ExitStatus.failed
        }
        for warning in reading.warnings { Terminal.writeError(warning.text(file: file.path), label: .warning) }
        return configuration
    }

    /// Writes faults to standard error.
    static func report(_ faults: [ConfigurationFault], _ path: String) {
        for fault in faults { Terminal.writeError(fault.text(file: path), label: .error) }
    }
}
