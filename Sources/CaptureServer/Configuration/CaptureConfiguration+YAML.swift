import CaptureAPI
import CaptureWorker
import EgressGuard
import Logging

extension CaptureConfiguration {
    /// A key with its value as YAML.
    package struct Entry: Sendable, Hashable {
        /// Such as `server.ssl.port`.
        package let key: String
        package let value: String
    }

    /// All keys with their values. API keys are left out.
    package var entries: [Entry] {
        let keys = security.apiKeys.count
        let values: [(String, String)] = [
            ("server.name", Self.text(server.name)), ("server.host", Self.text(server.host)),
            ("server.port", "\(server.port)"), ("server.names", Self.list(server.names.map(Self.text))),
            ("server.wan", server.wan.map(Self.text) ?? "null"), ("server.ssl.enabled", "\(server.ssl.isEnabled)"),
            ("server.ssl.port", "\(server.ssl.port)"),
            ("server.ssl.cert_file", server.ssl.certificateFile.map(Self.text) ?? "null"),
            ("server.ssl.key_file", server.ssl.keyFile.map(Self.text) ?? "null"),
            ("downloads.root_directory", Self.text(downloads.rootDirectory ?? "~/Downloads/VidSaver")),
            ("downloads.max_concurrent", "\(downloads.concurrentMax)"),
            ("downloads.max_retries", "\(downloads.retriesMax)"),
            ("downloads.allowed_platforms", Self.list(downloads.allowedPlatforms.map(\.rawValue))),
            ("downloads.keep_media_file", "\(downloads.keepsMediaFile)"),
            ("security.api_keys", keys == 0 ? "[]" : "[]  # not shown: \(keys)"),
            ("security.require_key", security.keyRule.rawValue),
            ("security.rate_limit_per_client", "\(security.downloadsPerHour)"),
            ("logging.level", logging.level.rawValue.uppercased()),
            ("egress.ports", Self.list(egress.ports.sorted().map { "\($0)" })),
            (
                "egress.allow",
                Self.list(
                    egress.allowed.map { $0.host.contains(":") ? "[\($0.host)]:\($0.port)" : "\($0.host):\($0.port)" }
                        .sorted().map(Self.text))
            ),
            ("page.seconds", "\(Int(page.seconds))"), ("page.bytes", "\(page.bytes)"),
            ("page.exchanges", "\(page.exchanges)"),
            ("attempt.bytes_per_second", "\(attempt.bytesPerSecond)"),
            ("attempt.file_minutes", "\(attempt.fileTime.components.seconds / 60)"),
            ("attempt.media_minutes", "\(attempt.mediaTime.components.seconds / 60)"),
            ("attempt.space_percent", "\(attempt.spacePercent)"),
            ("attempt.memory_percent", "\(attempt.memoryPercent)"),
            ("isolation", isolation.rawValue),
        ]
        return values.map { Entry(key: $0.0, value: $0.1) }
    }

    /// The entries that differ from the defaults.
    package var changedEntries: [Entry] {
        let defaults = Set(CaptureConfiguration().entries)
        return entries.filter { !defaults.contains($0) }
    }

    /// All values as a configuration file. API keys are left out.
    package var yaml: String {
        var lines: [String] = []
        var open: [Substring] = []
        for entry in entries {
            let parts = entry.key.split(separator: ".")
            let sections = parts.dropLast()
            for (depth, name) in sections.enumerated()
            where !(open.count > depth && open[...depth] == sections[...depth]) {
                lines.append(Self.indentation(depth) + "\(name):")
            }
            open = Array(sections)
            lines.append(Self.indentation(sections.count) + "\(parts[parts.count - 1]): \(entry.value)")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func indentation(_ depth: Int) -> String { String(repeating: "  ", count: depth) }

    private static func list(_ values: [String]) -> String { "[\(values.joined(separator: ", "))]" }

    /// A JSON string is one of YAML too. YAML 1.2.2 §1.2
    private static func text(_ text: String) -> String { DownloadOptions.json(of: text) }
}
