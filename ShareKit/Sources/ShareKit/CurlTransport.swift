#if os(Linux)
import Dispatch
import Foundation

/// Sends requests with curl: on Linux, `URLSession` can't be told which certificate to trust.
public struct CurlTransport: Transport {
    private let folder: ShareFolder
    private let curl: String?

    /// - Parameter folder: Where the root certificates are kept.
    public init(folder: ShareFolder) {
        self.folder = folder
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        curl = path.split(separator: ":").map { "\($0)/curl" }.first(where: FileManager.default.isExecutableFile)
    }

    /// Sends a request. As in `Transport`.
    public func send(
        _ request: TransportRequest, to profile: ServerProfile
    ) async throws(ShareError) -> TransportAnswer {
        var trust: [String] = []
        if profile.scheme == .https, let fingerprint = profile.fingerprint {
            _ = try await RootCertificates(folder: folder).root(fingerprint) { request throws(ShareError) in
                try await run(request, profile, ["insecure"])
            }
            let root = folder.place(of: RootCertificates.name(fingerprint))
            // Without `capath`, curl would also trust the certificates of the system.
            trust = ["cacert = \(Self.quoted(root))", "capath = \(Self.quoted("/nonexistent"))"]
        }
        return try await run(request, profile, trust)
    }

    private func run(
        _ request: TransportRequest, _ profile: ServerProfile, _ trust: [String]
    ) async throws(ShareError) -> TransportAnswer {
        guard let curl else { throw ShareError(.unreachable, "curl isn't installed") }
        var lines = [
            "url = \(Self.quoted(profile.baseURL + request.path))", "request = \(Self.quoted(request.method))",
            "proto = \"=http,https\"", "noproxy = \"*\"", "http1.1", "globoff", "silent", "show-error", "include",
            "max-time = \(TransportLimits.secondsMax)", "header = \"Expect:\"", "header = \"Accept: application/json\"",
        ]
        lines += request.fields.sorted { $0.key < $1.key }.map { "header = \(Self.quoted("\($0.key): \($0.value)"))" }
        if let body = request.body { lines.append("data-raw = \(Self.quoted(String(decoding: body, as: UTF8.self)))") }
        let output = await CurlRun(path: curl, configuration: (lines + trust).joined(separator: "\n") + "\n").output()
        return try Self.answer(output)
    }

    /// Quotes a value of a configuration file. curl(1), `--config`.
    private static func quoted(_ text: String) -> String {
        let escapes: [Character: String] = ["\\": "\\\\", "\"": "\\\"", "\n": "\\n", "\r": "\\r", "\t": "\\t"]
        return "\"" + text.map { escapes[$0] ?? String($0) }.joined() + "\""
    }

    private static func answer(_ output: CurlRun.Output) throws(ShareError) -> TransportAnswer {
        guard !output.isTooLong else { throw ShareError(.foreign) }
        switch output.code {
        case 0: break
        // CURLE_OPERATION_TIMEDOUT
        case 28: throw ShareError(.timedOut)
        // CURLE_PEER_FAILED_VERIFICATION, and its older number
        case 60, 51: throw ShareError(.untrusted, output.error)
        // CURLE_UNSUPPORTED_PROTOCOL and CURLE_WEIRD_SERVER_REPLY: HTTP/0.9, or something else
        case 1, 8: throw ShareError(.foreign)
        default: throw ShareError(.unreachable, output.error)
        }
        guard let answer = parsed(output.data[...]) else { throw ShareError(.foreign) }
        return answer
    }

    /// Parses what curl writes with `include`: the heads of all answers, then the body of the last.
    private static func parsed(_ data: Data) -> TransportAnswer? {
        guard let end = data.range(of: Data("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: data[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count >= 2, words[0].hasPrefix("HTTP/"), let status = Int(words[1]) else { return nil }
        let body = data[end.upperBound...]
        if (100..<200).contains(status) { return parsed(body) }
        let field = lines.first { $0.lowercased().hasPrefix("retry-after:") }
        let value = field?.split(separator: ":", maxSplits: 1).last?.trimmingCharacters(in: .whitespaces)
        return TransportAnswer(status: status, retryAfter: value, body: Data(body))
    }
}

/// One run of curl.
private struct CurlRun: Sendable {
    let path: String
    /// Its options, which a list of processes doesn't show.
    let configuration: String

    struct Output: Sendable {
        var code: Int32
        var data = Data()
        var error = ""
        var isTooLong = false
    }

    private static let configurationBytesMax = 60_000

    /// Runs it beside the caller's thread.
    func output() async -> Output {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: run()) }
        }
    }

    private func run() -> Output {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = ["--disable", "--config", "-"]
        // Without the variables that change whom curl trusts, or what it writes.
        process.environment = ["LC_ALL": "C"]
        let (input, output, error) = (Pipe(), Pipe(), Pipe())
        (process.standardInput, process.standardOutput, process.standardError) = (input, output, error)
        do {
            // It fits into the pipe. Written before curl runs, it can't meet a closed one, which would end this process.
            let bytes = Data(configuration.utf8)
            guard bytes.count < Self.configurationBytesMax else {
                return Output(code: -1, error: "the request is too large")
            }
            try input.fileHandleForWriting.write(contentsOf: bytes)
            try input.fileHandleForWriting.close()
            try process.run()
        } catch {
            return Output(code: -1, error: "curl can't be started")
        }
        var result = Output(code: -1)
        // Its message is one line, which fits into the pipe.
        while let part = try? output.fileHandleForReading.read(upToCount: 1 << 16), !part.isEmpty {
            result.data += part
            guard result.data.count <= TransportLimits.bytesMax else {
                result.isTooLong = true
                // It inherits the signals that the threads of Dispatch block. This one can't be blocked.
                kill(process.processIdentifier, SIGKILL)
                break
            }
        }
        let message = (try? error.fileHandleForReading.readToEnd()) ?? nil
        process.waitUntilExit()
        result.code = process.terminationStatus
        result.error = String(decoding: (message ?? Data()).prefix(500), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
            .replacingOccurrences(of: #"^curl: \(\d+\) "#, with: "", options: .regularExpression)
        return result
    }
}
#endif
