import ArchiveStore
import ArgumentParser
import WebArchive

/// `replayhost cdx URL [ID…]`
struct CDXCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cdx",
        abstract: "Query the indexes: captures of a URL or a site, by time, status, type.",
        discussion: """
            URL may be http://example.org/* for all that begin so, or *.example.org for a domain. Options and answers are those of the CDX server API (docs/cdx.md).

            Example:
              replayhost cdx "*.example.org" --filter "=status:404" --from 2023
              replayhost cdx http://example.org/ crawl --closest 20240102 --limit 1 --json
            """)

    @Argument(help: "The URL, with or without a wildcard.")
    var url: String

    @Argument(help: "Ids of the archives to ask, or unique beginnings of them; every archive when there is none.")
    var ids: [String] = []

    @Option(name: .customLong("match-type"), help: "exact, prefix, host or domain, instead of a wildcard.")
    var matchType: String?

    @Option(name: .long, help: ArgumentHelp("Captures at this time or later: 1 to 17 digits.", valueName: "timestamp"))
    var from: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Captures at this time or earlier; 2023 means all of it.", valueName: "timestamp"))
    var to: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Repeatable. [!][=|~]field:text: holds the text, is the text (=), begins with a match of the RE2 expression (~); not (!).",
            valueName: "condition"))
    var filter: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Repeatable. Of neighbours that are equal in it (in its first N characters) the first only.",
            valueName: "field[:N]"))
    var collapse: [String] = []

    @Option(name: .long, help: "reverse, or closest with --closest.")
    var sort: String?

    @Option(name: .long, help: ArgumentHelp("Sort by the distance to this time.", valueName: "timestamp"))
    var closest: String?

    @Option(name: .long, help: ArgumentHelp("Lines, at most.", valueName: "number"))
    var limit: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Only these fields: urlkey,timestamp,url,mime,status,digest,length,offset,filename,source.",
            valueName: "names"))
    var fields: String?

    @Option(name: .long, help: "cdxj, json, text or link.")
    var output: String?

    @Option(name: .long, help: ArgumentHelp("One page of the lines, counted from 0.", valueName: "number"))
    var page: String?

    @Option(
        name: .customLong("page-size"),
        help: ArgumentHelp("Blocks of 300 lines on a page; 10 when not given.", valueName: "number"))
    var pageSize: String?

    @Flag(name: .customLong("show-num-pages"), help: "The number of pages instead of lines.")
    var showNumPages = false

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if common.json, let output, output != "json" {
            throw ValidationError("--json and --output \"\(output)\" exclude each other; give one of them")
        }
        _ = try query()
    }

    func run() throws {
        let query = try query()
        let store = try common.openExistingStore()
        let run = CDXQueryRun(
            query, sources: try sources(store), namesSources: ids.count != 1, temporaryFolder: store.layout.incoming)
        var output = BatchedOutput()
        do {
            while let line = try run.next() { output.append(line) }
        } catch let problem as CDXQueryProblem {
            Fault(usage: Self.what(problem), hint: problem.hint).report(asJSON: common.json)
            throw ExitStatus.usage
        } catch {
            // What was found so far is right as far as it goes; the error says that it may not be all.
            output.flush()
            throw error
        }
        output.flush()
        if output.isEmpty { common.remark("no capture fits") }
    }

    private func sources(_ store: ArchiveStore) throws -> [CDXQuerySource] {
        var archives: [Archive] = []
        for archive in try common.asked(ids, in: store).flatMap(\.archives) where !archives.contains(archive) {
            archives.append(archive)
        }
        return archives.map { store.openArchives.querySource($0, isOneOfSeveral: ids.isEmpty) }
    }

    /// Options and what they are called in the API.
    private var parameters: [(name: String, value: String)] {
        let single: [(name: String, value: String?)] = [
            ("url", url), ("matchType", matchType), ("from", from), ("to", to), ("sort", sort), ("closest", closest),
            ("limit", limit), ("fields", fields), ("output", common.json ? "json" : output), ("page", page),
            ("pageSize", pageSize), ("showNumPages", showNumPages ? "true" : nil),
        ]
        return single.compactMap { name, value in value.map { (name, $0) } } + filter.map { ("filter", $0) }
            + collapse.map { ("collapse", $0) }
    }

    private func query() throws -> CDXQuery {
        if let empty = parameters.first(where: { $0.value.isEmpty }) {
            throw ValidationError("\(Self.option(empty.name)) is empty; give a value or leave it out")
        }
        do {
            return try CDXQuery(parameters: parameters)
        } catch {
            throw ValidationError("\(Self.what(error)); \(error.hint)")
        }
    }

    /// The problem in the words of the command line.
    private static func what(_ problem: CDXQueryProblem) -> String {
        let value = problem.value.isEmpty ? "" : " \"\(Terminal.safe(problem.value))\""
        return "\(option(problem.parameter))\(value): \(problem.problem)"
    }

    /// The option of a parameter: `--page-size` for `pageSize`.
    private static func option(_ parameter: String) -> String {
        if parameter == "url" { return "<url>" }
        return "--" + parameter.map { $0.isUppercase ? "-\($0.lowercased())" : "\($0)" }.joined()
    }
}

/// Standard output in large pieces, but nothing held back for long.
private struct BatchedOutput {
    /// Whether nothing was given.
    private(set) var isEmpty = true
    private var bytes: [UInt8] = []
    private var writtenAt: ContinuousClock.Instant?
    private static let bytesMax = 64 << 10
    private static let patience = Duration.milliseconds(100)

    mutating func append(_ line: [UInt8]) {
        isEmpty = false
        bytes += line
        guard bytes.count < Self.bytesMax, let writtenAt, ContinuousClock.now - writtenAt < Self.patience else {
            return flush()
        }
    }

    mutating func flush() {
        Terminal.writeLines(bytes)
        bytes.removeAll(keepingCapacity: true)
        writtenAt = .now
    }
}
