import ArgumentParser
import ReplayHostKit

/// `replayhost list`
struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Show the archives in the store, newest first.",
        discussion: """
            Example:
              replayhost list --json
            """)

    @OptionGroup var common: CommonOptions

    func run() throws {
        common.sayWhichStore()
        let archives = try common.openExistingStore().archives()
        if common.json {
            for archive in archives { Terminal.write(Terminal.json(archive)) }
            return
        }
        if archives.isEmpty {
            return common.remark("no archives yet; replayhost import FILE brings one in")
        }
        var table = Table(["ID", "TITLE", "PAGES", "CAPTURES", "SIZE", "CAPTURED", "IMPORTED", "FINDINGS"])
        for listed in archives {
            let archive = listed.archive
            table.add([
                archive.id.text, String(Terminal.safe(archive.title).prefix(40)), "\(archive.pageCount)",
                "\(archive.captureCount)", Terminal.size(archive.size), Self.span(archive),
                String(RFC3339.text(of: archive.importedAt).prefix(10)), Self.state(listed),
            ])
        }
        for line in table.lines() { Terminal.write(line) }
    }

    /// The days of the first and the last capture.
    private static func span(_ archive: Archive) -> String {
        let days = [archive.firstCapture, archive.lastCapture].compactMap { $0 }
            .compactMap { RFC3339.text(ofTimestamp: $0) }.map { String($0.prefix(10)) }
        return Set(days).sorted().joined(separator: " to ")
    }

    /// What is wrong, the file's absence first.
    private static func state(_ listed: ListedArchive) -> String {
        switch listed.availability {
        case .here: findings(listed.archive.findingCounts)
        case .offline: "offline"
        case .changed: "file changed"
        case .missing: "file missing"
        }
    }

    private static func findings(_ counts: FindingCounts) -> String {
        var parts: [String] = []
        if counts.error > 0 { parts.append(Terminal.count(counts.error, "error", "errors")) }
        if counts.warning > 0 { parts.append(Terminal.count(counts.warning, "warning", "warnings")) }
        return parts.isEmpty ? "none" : parts.joined(separator: ", ")
    }
}
