import Yams

/// Reads the structure of a configuration file: YAML without anchors, aliases, tags, or a second document.
struct ConfigurationText {
    /// The contents; `nil` if there are none, or they can't be read.
    private(set) var root: ConfigurationNode?
    private(set) var faults: [ConfigurationFault] = []

    private typealias Place = ConfigurationNode.Place
    private var lines: ConfigurationLines
    /// What stands in the text for the second of two equal keys: the key, and the line of the first.
    private var duplicates: [String: (key: String, line: Int)] = [:]

    /// Where nodes with anchors begin. An alias has the place of its node.
    private var anchors: Set<ConfigurationNode.Place> = []

    /// Yams compares keys that are sections with each other: for a text made for that, the time grows with the square.
    static let bytesMax = 16 << 10
    /// A chain of aliases multiplies a text. With so few, the factor is at most 19: the number of nodes is largest if each
    /// node has three aliases of the one before it.
    static let aliasesMax = 8
    private static let duplicatesMax = 20

    init(_ bytes: some Collection<UInt8>) {
        lines = ConfigurationLines("")
        read(bytes)
    }

    private mutating func read(_ bytes: some Collection<UInt8>) {
        guard bytes.count <= Self.bytesMax else {
            return refuse(Place(), "the file is too large: \(bytes.count) bytes; the maximum is \(Self.bytesMax)")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            let valid = bytes.split(separator: 10, omittingEmptySubsequences: false)
                .prefix { String(validating: $0, as: UTF8.self) != nil }
            return refuse(Place(line: valid.count + 1), "this line isn't valid UTF-8; save the file as UTF-8")
        }
        lines = ConfigurationLines(text)
        if let place = lines.firstControlCharacter {
            return refuse(place, "YAML doesn't allow this control character; delete it")
        }
        if let place = lines.asterisk(after: Self.aliasesMax) { return refuse(place, Self.noAliases) }
        while !compose() {}
    }

    private mutating func refuse(_ place: ConfigurationNode.Place, key: String? = nil, _ message: String) {
        faults.append(ConfigurationFault(line: place.line, column: place.column, key: key, message: message))
    }

    private static let noAliases =
        "anchors (&) and aliases (*) aren't supported; write the value itself, and put text that begins so in quotes"

    /// Reads the text.
    ///
    /// - Returns: Whether it's done. Otherwise, a key that is set twice was replaced, and the text has to be read again.
    private mutating func compose() -> Bool {
        do {
            let parser = try Parser(yaml: lines.text, resolver: .basic, encoding: .utf8)
            let first = try parser.nextRoot()
            // The parser owns the anchors.
            withExtendedLifetime(parser) { root = first.map { node($0, "") } }
            if let second = try parser.nextRoot() {
                refuse(Self.place(second.mark), "a second document begins here; keep one, without “---” between them")
            }
        } catch YamlError.duplicatedKeysInMapping(let keys, let context) {
            return !replace(keys, Self.place(context.mark))
        } catch YamlError.scanner(let context, let problem, let mark, _),
            YamlError.parser(let context, let problem, let mark, _)
        {
            // At the end of the text, only where the quote or bracket begins is of use.
            let isCut = problem.contains("end of stream") || problem.contains("document indicator")
            refuseSyntax(problem, Self.place(isCut ? context?.mark ?? mark : mark))
        } catch YamlError.composer(_, _, let mark, _) {
            refuse(Self.place(mark), Self.noAliases)
        } catch {
            refuse(Place(), "this isn't valid YAML")
        }
        return true
    }

    /// Gives the second of two equal keys a name that no other key has, so that the text can be read to its end.
    ///
    /// - Returns: Whether it was found.
    private mutating func replace(_ keys: [String], _ first: ConfigurationNode.Place) -> Bool {
        guard let key = keys.min(), !key.isEmpty, duplicates.count < Self.duplicatesMax,
            let second = lines.nextKey(key, after: first)
        else {
            let names = keys.sorted().map { "“\(ConfigurationNode.short($0))”" }.joined(separator: ", ")
            refuse(first, "set more than once: \(names); keep one of them")
            return false
        }
        let name = lines.replace(at: second, count: key.unicodeScalars.count, number: duplicates.count)
        duplicates[name] = (key, first.line)
        return true
    }

    private mutating func refuseSyntax(_ problem: String, _ place: ConfigurationNode.Place) {
        let tabs = lines.tabs
        for place in tabs { refuse(place, "YAML doesn't allow tabs for indentation; use spaces") }
        if !tabs.isEmpty { return }
        let known = Self.problems.first { problem.contains($0.part) }
        refuse(place, known?.message ?? "this isn't valid YAML: \(problem)")
    }

    private static let problems: [(part: String, message: String)] = [
        ("mapping values are not allowed", "“:” isn't expected here; put text that contains “: ” in quotes"),
        ("could not find expected ':'", "a key needs “:” and a space after it"),
        ("did not find expected key", "this line isn't indented like the lines above it"),
        ("did not find expected '-' indicator", "this line isn't indented like the list above it"),
        ("did not find expected ',' or", "a bracket isn't closed, or a comma is missing"),
        ("unexpected end of stream", "a quote isn't closed"),
        ("found unexpected document indicator", "a quote isn't closed"),
        ("alias", noAliases), ("anchor", noAliases),
        ("start any token", "put text that begins with this character in quotes"),
        ("maximum nesting level", "too many levels"),
        ("escape", "unknown escape sequence; use single quotes for text with “\\”"),
    ]

    private static func place(_ mark: Mark?) -> ConfigurationNode.Place {
        ConfigurationNode.Place(line: mark?.line ?? 1, column: mark?.column ?? 1)
    }

    /// Converts a node. Those with an anchor are refused without a look into them.
    private mutating func node(_ node: Node, _ path: String) -> ConfigurationNode {
        let place = Self.place(node.mark)
        func made(_ content: ConfigurationNode.Content) -> ConfigurationNode {
            ConfigurationNode(content: content, place: place)
        }
        if node.anchor != nil || node.alias != nil {
            guard anchors.insert(place).inserted else { return made(.refused) }
            refuse(place, key: path.isEmpty ? nil : path, Self.noAliases)
            return made(.refused)
        }
        switch node {
        case .scalar(let scalar):
            guard [Tag.implicit, Tag(.str)].contains(scalar.tag) else {
                return refusedTag(scalar.tag, place, path)
            }
            return made(.scalar(scalar.string, isPlain: scalar.style == .plain && scalar.tag == .implicit))
        case .sequence(let sequence):
            guard [Tag.implicit, Tag(.seq)].contains(sequence.tag) else {
                return refusedTag(sequence.tag, place, path)
            }
            return made(.list(sequence.enumerated().map { self.node($1, "\(path)[\($0)]") }))
        case .mapping(let mapping):
            guard [Tag.implicit, Tag(.map)].contains(mapping.tag) else { return refusedTag(mapping.tag, place, path) }
            return made(.section(mapping.compactMap { entry($0.key, $0.value, path) }))
        case .alias: return made(.refused)
        }
    }

    private mutating func refusedTag(
        _ tag: Tag, _ place: ConfigurationNode.Place, _ path: String
    ) -> ConfigurationNode {
        refuse(
            place, key: path.isEmpty ? nil : path,
            "the tag “\(ConfigurationNode.short(tag.description))” isn't supported; delete it")
        return ConfigurationNode(content: .refused, place: place)
    }

    private mutating func entry(_ key: Node, _ value: Node, _ path: String) -> ConfigurationNode.Entry? {
        let place = Self.place(key.mark)
        guard key.anchor == nil, case .scalar(let scalar) = key else {
            refuse(place, key: path.isEmpty ? nil : path, "a key must be a word")
            return nil
        }
        let name = ConfigurationPath.joined(path, scalar.string)
        if let (key, line) = duplicates[scalar.string] {
            let name = ConfigurationPath.joined(path, key)
            refuse(place, key: name, "set twice, first in line \(line); keep one of them")
            return nil
        }
        if value.anchor != nil, anchors.contains(Self.place(value.mark)) {
            refuse(place, key: name, Self.noAliases)
            return nil
        }
        return ConfigurationNode.Entry(key: scalar.string, place: place, node: node(value, name))
    }
}

/// The paths of keys, such as `server.port`.
enum ConfigurationPath {
    static func joined(_ path: String, _ key: String) -> String {
        let key = ConfigurationNode.short(key)
        return path.isEmpty ? key : "\(path).\(key)"
    }
}
