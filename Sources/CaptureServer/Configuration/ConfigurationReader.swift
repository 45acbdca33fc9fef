import ArchiveStore
import CaptureAPI
import CaptureWorker
import EgressGuard
import Logging
import NIOCore

/// Reads the text of a configuration file.
///
/// All of it is checked, and all faults are reported.
package struct ConfigurationReader: Sendable {
    /// The folder to which relative paths belong.
    let folder: String
    /// What `~` stands for.
    let home: String
    /// The IP addresses of this computer.
    let addresses: Set<String>

    /// - Parameters:
    ///   - addresses: The IP addresses of this computer; `nil` to ask the system.
    package init(folder: String, home: String, addresses: Set<String>? = nil) {
        (self.folder, self.home) = (folder, home)
        self.addresses = addresses ?? Self.systemAddresses()
    }

    private static func systemAddresses() -> Set<String> {
        let devices = (try? System.enumerateDevices()) ?? []
        return Set(devices.compactMap { $0.address?.ipAddress })
    }

    package func read(_ bytes: some Collection<UInt8>) -> ConfigurationReading {
        let text = ConfigurationText(bytes)
        var pass = ConfigurationPass(faults: text.faults, paths: ConfigurationPaths(folder: folder, home: home))
        if let root = text.root { pass.read(root, addresses) }
        let isInOrder = { (one: ConfigurationFault, other: ConfigurationFault) in
            (one.line, one.column) < (other.line, other.column)
        }
        return ConfigurationReading(
            configuration: pass.faults.isEmpty ? pass.configuration : nil, faults: pass.faults.sorted(by: isInOrder),
            warnings: pass.warnings.sorted(by: isInOrder))
    }
}

/// A section of the file, or nothing where the file has none.
struct ConfigurationSection {
    let path: String
    var place = ConfigurationNode.Place()
    var entries: [ConfigurationNode.Entry] = []

    func entry(_ key: String) -> ConfigurationNode.Entry? { entries.first { $0.key == key } }
}

/// One pass over a file.
struct ConfigurationPass {
    var configuration = CaptureConfiguration()
    var faults: [ConfigurationFault]
    var warnings: [ConfigurationFault] = []
    let paths: ConfigurationPaths

    mutating func refuse(_ place: ConfigurationNode.Place, _ key: String?, _ message: String) {
        faults.append(ConfigurationFault(line: place.line, column: place.column, key: key, message: message))
    }

    mutating func read(_ root: ConfigurationNode, _ addresses: Set<String>) {
        let names = ["server", "downloads", "security", "logging", "egress", "page", "attempt", "isolation"]
        guard let root = section(root, "", names) else { return }
        readServer(root, addresses)
        readDownloads(root)
        readSecurity(root)
        let levels = ["TRACE", "DEBUG", "INFO", "NOTICE", "WARNING", "ERROR", "CRITICAL"]
        let logging = section("logging", root, ["level"])
        let level = ConfigurationRule<String>.word(levels, ignoringCase: true)
        set(\.logging.level, "level", logging, level.then { Logger.Level(rawValue: $0.lowercased()) ?? .info })
        readEgress(root)
        let page = section("page", root, ["seconds", "bytes", "exchanges"])
        set(\.page.seconds, "seconds", page, ConfigurationRule<Int>.integer(1...3600).then { Double($0) })
        set(
            \.page.bytes, "bytes", page, ConfigurationRule<Int>.integer(1_000_000...100_000_000_000).then { UInt64($0) }
        )
        set(\.page.exchanges, "exchanges", page, .integer(1...100_000))
        readAttempt(root)
        set(
            \.isolation, "isolation", root,
            ConfigurationRule<String>.word(["auto", "required"]).then { .init(rawValue: $0) ?? .auto })
    }

    /// Returns the section of a key.
    mutating func section(
        _ key: String, _ parent: ConfigurationSection, _ keys: [String]
    ) -> ConfigurationSection {
        let path = ConfigurationPath.joined(parent.path, key)
        guard let entry = parent.entry(key), let section = section(entry.node, path, keys) else {
            return ConfigurationSection(path: path)
        }
        return section
    }

    /// Reads a node as a section, and refuses keys that it doesn't know.
    private mutating func section(
        _ node: ConfigurationNode, _ path: String, _ keys: [String]
    ) -> ConfigurationSection? {
        if node.isNull { return nil }
        switch node.content {
        case .section(let entries):
            for entry in entries where !keys.contains(entry.key) { refuseUnknown(entry, path, keys) }
            return ConfigurationSection(path: path, place: node.place, entries: entries)
        case .refused: return nil
        default:
            refuse(
                node.place, path.isEmpty ? nil : path,
                "\(node.description) isn't valid here; write keys below it: \(keys.joined(separator: ", "))")
            return nil
        }
    }

    private mutating func refuseUnknown(_ entry: ConfigurationNode.Entry, _ path: String, _ keys: [String]) {
        // Long names have no similar key, and comparing them takes long.
        let ranked = keys.compactMap { key in
            Spelling.distance(entry.key.lowercased(), key, most: max(2, key.count / 3)).map { (key: key, distance: $0) }
        }
        let closest = ranked.min { $0.distance < $1.distance }?.key
        let hint = closest.map { "did you mean “\($0)”?" } ?? "the keys here are: \(keys.joined(separator: ", "))"
        refuse(entry.place, ConfigurationPath.joined(path, entry.key), "unknown key; \(hint)")
    }

    /// Reads a value, if the section has it. Its fault is reported.
    mutating func set<Value: Sendable>(
        _ target: WritableKeyPath<CaptureConfiguration, Value>, _ key: String, _ section: ConfigurationSection,
        _ rule: ConfigurationRule<Value>
    ) {
        if let value = value(key, section, rule) { configuration[keyPath: target] = value }
    }

    mutating func value<Value: Sendable>(
        _ key: String, _ section: ConfigurationSection, _ rule: ConfigurationRule<Value>
    ) -> Value? {
        guard let entry = section.entry(key) else { return nil }
        return value(entry.node, ConfigurationPath.joined(section.path, key), rule)
    }

    private mutating func value<Value: Sendable>(
        _ node: ConfigurationNode, _ path: String, _ rule: ConfigurationRule<Value>
    ) -> Value? {
        if case .refused = node.content { return nil }
        do {
            return try rule.read(node)
        } catch {
            refuse(node.place, path, error.message)
            return nil
        }
    }

    /// Reads a list. Each of its values can have a fault.
    mutating func list<Value: Hashable & Sendable>(
        _ key: String, _ section: ConfigurationSection, _ example: String, _ rule: ConfigurationRule<Value>
    ) -> [Value]? {
        guard let entry = section.entry(key) else { return nil }
        if entry.node.isNull { return [] }
        let path = ConfigurationPath.joined(section.path, key)
        guard case .list(let nodes) = entry.node.content else {
            if case .refused = entry.node.content { return nil }
            let what = path == "security.api_keys" ? "this" : entry.node.description
            refuse(entry.node.place, path, "\(what) isn't a list; write \(example)")
            return nil
        }
        var values: [Value] = []
        for (index, node) in nodes.enumerated() {
            let path = "\(path)[\(index)]"
            guard let value = value(node, path, rule) else { continue }
            if values.contains(value) {
                refuse(node.place, path, "this is in the list twice; delete it")
            } else {
                values.append(value)
            }
        }
        return values
    }
}
