import WebArchive

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Runs queries like a client.
enum CDXQueries {
    /// Returns the decoded names and values of `a=1&b=2`.
    static func parameters(_ text: String) -> [(name: String, value: String)] {
        text.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return (parts[0], parts.count == 2 ? decoded(parts[1]) : "")
        }
    }

    private static func decoded(_ text: String) -> String {
        var pieces = text.split(separator: "%", omittingEmptySubsequences: false).map(String.init)
        for place in pieces.indices.dropFirst() {
            let code = UInt8(pieces[place].prefix(2), radix: 16).map { String(Unicode.Scalar($0)) } ?? "%"
            pieces[place] = code + pieces[place].dropFirst(2)
        }
        return pieces.joined()
    }

    static func run(
        _ query: String, _ sources: [(name: String, wacz: WACZFile)], namesSources: Bool = false,
        limits: Limits = .standard, folder: String = FileManager.default.temporaryDirectory.path,
        mementoURL: ((String, String, String) -> String)? = nil, progress: @escaping () -> Bool = { true }
    ) throws -> CDXQueryRun {
        CDXQueryRun(
            try CDXQuery(parameters: parameters(query), limits: limits),
            sources: sources.map { CDXQuerySource(name: $0.name, wacz: $0.wacz) }, namesSources: namesSources,
            temporaryFolder: folder, limits: limits, mementoURL: mementoURL, progress: progress)
    }

    /// Returns the whole result.
    static func text(_ run: CDXQueryRun) throws -> String {
        var bytes: [UInt8] = []
        while let line = try run.next() { bytes += line }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the lines of a query over one archive.
    static func lines(_ query: String, _ wacz: WACZFile, limits: Limits = .standard) throws -> [String] {
        try text(run(query, [("a", wacz)], limits: limits)).split(separator: "\n").map(String.init)
    }

    /// Returns the problem of a query's parameters, if any.
    static func problem(_ query: String) -> CDXQueryProblem? {
        do throws(CDXQueryProblem) {
            _ = try CDXQuery(parameters: parameters(query))
            return nil
        } catch {
            return error
        }
    }
}
