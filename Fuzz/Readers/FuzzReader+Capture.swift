#if canImport(CaptureWorker)
import CaptureAPI
import CaptureWorker
import Foundation

extension FuzzReader {
    static func readDownloadRequest(_ bytes: [UInt8]) throws {
        do {
            let request = try DownloadRequest(json: Data(bytes))
            let url = request.url
            try require(WebURL(url.text) == url, "an accepted URL isn't accepted again")
            try require(!url.host.isEmpty && !url.host.contains("@"), "the host is \(url.host)")
            try require(url.text.unicodeScalars.allSatisfy { $0.value > 0x20 }, "a URL has a control character")
            let name = request.username.text
            try require(name.utf8.allSatisfy { $0 < 0x80 } && !name.contains("/"), "the user is \(name)")
            let options = try JSONDecoder().decode(DownloadOptions.self, from: JSONEncoder().encode(request.options))
            try require(options == request.options, "the options change when they are stored")
        } catch is DownloadRequest.Refusal {
        }
    }

    static func readToolOutput(_ bytes: [UInt8]) throws {
        var lines: [String] = []
        var output = OutputLines()
        // In two pieces.
        for piece in [bytes.prefix(bytes.count / 2), bytes.dropFirst(bytes.count / 2)] {
            lines += try Array(piece).withUnsafeBytes { try output.add($0) }
        }
        if let line = output.finish() { lines.append(line) }
        var report = MediaToolReport()
        for line in lines {
            let percent = report.read(line, from: .output)?.progress?.percent
            try require(percent.map { (0...100).contains($0) } ?? true, "the progress is \(percent ?? -1) percent")
        }
        let failure = ToolFailure(report, .exited(1), limitsQuality: false)
        try require(failure.message.utf8.count < 4000, "the message is too long")
        let text = String(decoding: bytes, as: UTF8.self)
        do { _ = try MediaProbe(json: text) } catch is ToolFailure {}
        let name = FileName.make(id: lines.first ?? "", title: text, extension: "mp4")
        try require(
            !name.contains("/") && !name.hasPrefix(".") && name.utf8.count <= FileName.bytesMax, "the name is \(name)")
        guard let head = ResponseHead(text: text) else { return }
        let record = String(decoding: head.recordBytes(), as: UTF8.self)
        try require(record.hasSuffix("\r\n\r\n"), "the head of a record has no end")
        try require(record.components(separatedBy: "\r\n\r\n").count == 2, "the head of a record ends twice")
    }
}
#else
extension FuzzReader {
    // Where the capture server isn't built, there is nothing to read.
    static func readDownloadRequest(_ bytes: [UInt8]) throws {}
    static func readToolOutput(_ bytes: [UInt8]) throws {}
}
#endif
