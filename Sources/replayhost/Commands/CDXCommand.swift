import ArchiveStore
import ArgumentParser
import CommandSupport
import WebArchive

/// `replayhost cdx URL [ID…]`
struct CDXCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cdx",
        abstract: "Search the indexes for captures of a URL or a site.",
        discussion: """
            Use http://example.org/* for all URLs with this prefix, *.example.org for a domain, or * for all captures. Options and output are those of the CDX server API (docs/cdx.md).

            Example:
              replayhost cdx "*.example.org" --filter "=status:404" --from 2023
            """)

    @Argument(help: "The URL, with or without a wildcard.")
    var url: String

    @Argument(help: "IDs of archives or collections, unique prefixes, or titles (default: all archives).")
    var ids: [String] = []

    @Option(name: .customLong("match-type"), help: "exact, prefix, host or domain, instead of a wildcard.")
    var matchType: String?

    @Option(
        name: .long, help: ArgumentHelp("Only captures from this time on (1 to 17 digits).", valueName: "timestamp"))
    var from: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Only captures up to this time; 2023 includes the whole year.", valueName: "timestamp"))
    var to: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "[!][=|~]field:text. The field contains the text, equals it (=), or starts with a match of the RE2 expression (~); ! negates. Repeatable.",
            valueName: "condition"))
    var filter: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Only the first of adjacent captures with an equal field, or equal first N characters. Repeatable.",
            valueName: "field[:N]"))
    var collapse: [String] = []

    @Option(name: .long, help: "The order: reverse, or closest (with --closest).")
    var sort: String?

    @Option(name: .long, help: ArgumentHelp("Sort by distance from this time.", valueName: "timestamp"))
    var closest: String?

    @Option(name: .long, help: ArgumentHelp("The maximum number of lines.", valueName: "number"))
    var limit: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Fields to print: urlkey,timestamp,url,mime,status,digest,length,offset,filename,source.",
            valueName: "names"))
    var fields: String?

    @Option(name: .long, help: "The format: cdxj, json, text or link.")
    var output: String?

    @Option(name: .long, help: ArgumentHelp("Only this page of the results, counted from 0.", valueName: "number"))
    var page: String?

    @Option(
        name: .customLong("page-size"),
        help: ArgumentHelp("The number of 300-line blocks on a page (default: 10).", valueName: "number"))
    var pageSize: String?

    @Flag(name: .customLong("show-num-pages"), help: "Print only the number of pages.")
    var showNumPages = false

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if common.json, let output, output != "json" {
            throw ValidationError("--json can't be combined with --output \"\(output)\"")
        }
        _ = try query()
    }

    func run() throws {
        let query = try query()
        let store = try common.openExistingStore()
        let run = CDXQueryRun(
            query, sources: try sources(store, query), namesSources: ids.count != 1,
            temporaryFolder: store.layout.incoming)
        var output = BatchedOutput(ofRows: false)
        do {
            while let line = try run.next() { output.append(line) }
        } catch let problem as CDXQueryProblem {
            throw CommandError(usage: Self.what(problem), hint: problem.hint)
        } catch {
            // The lines so far are correct; the error tells the user that some may be missing.
            output.flush()
            throw error
        }
        output.flush()
        if output.isEmpty { common.note("No captures match.") }
    }

    private func sources(_ store: ArchiveStore, _ query: CDXQuery) throws -> [CDXQuerySource] {
        var known: Set<String> = []
        let archives =
            ids.isEmpty
            ? try store.resolver.archives(mayMatch: query)
            : try common.replayables(ids, in: store).flatMap(\.archives).filter { known.insert($0.key).inserted }
        return archives.bestCopiesFirst(in: store.layout).map {
            store.openArchives.querySource($0, isOneOfSeveral: ids.isEmpty)
        }
    }

    /// The options under their names in the CDX server API.
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
            throw ValidationError("\(Self.option(empty.name)) is empty; give a value or omit it")
        }
        do {
            return try CDXQuery(parameters: parameters)
        } catch {
            throw ValidationError("\(Self.what(error)); \(error.hint)")
        }
    }

    /// Describes a problem with the option's name instead of the parameter's.
    private static func what(_ problem: CDXQueryProblem) -> String {
        let value = problem.value.isEmpty ? "" : " \"\(problem.value)\""
        return "\(option(problem.parameter))\(value): \(problem.problem)"
    }

    /// Returns the option of a parameter, such as `--page-size` for `pageSize`.
    private static func option(_ parameter: String) -> String {
        if parameter == "url" { return "<url>" }
        return "--" + parameter.map { $0.isUppercase ? "-\($0.lowercased())" : "\($0)" }.joined()
    }
}
