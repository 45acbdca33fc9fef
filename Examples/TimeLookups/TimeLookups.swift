// Looks captures up in an archive, and prints how many microseconds a lookup takes. Uses only the WebArchive library.
//
//     swift run --configuration release TimeLookups ARCHIVE.wacz <CAPTURES
//
// Each line of CAPTURES has a timestamp, a space and a URL. Each capture is looked up twice in a row: the second lookup,
// `again`, finds its part of the index in memory. The output is a JSON object with the median time of each.

import Foundation
import WebArchive

@main
struct TimeLookups {
    static func main() {
        do {
            guard CommandLine.arguments.count == 2 else { fail("usage: TimeLookups ARCHIVE.wacz <CAPTURES", code: 2) }
            let wacz = try WACZFile.open(path: CommandLine.arguments[1])
            var (first, again): ([Duration], [Duration]) = ([], [])
            while let line = readLine() {
                let fields = line.split(separator: " ", maxSplits: 1).map(String.init)
                guard fields.count == 2 else {
                    throw InvalidLine(description: "this line has no timestamp and URL: \(line)")
                }
                first.append(try look(fields[1], fields[0], in: wacz))
                again.append(try look(fields[1], fields[0], in: wacz))
            }
            print("{\"first\": \(median(first)), \"again\": \(median(again))}")
        } catch {
            fail("error: \(error)", code: 1)
        }
    }

    static func fail(_ message: String, code: Int32) -> Never {
        FileHandle.standardError.write(Data("\(message)\n".utf8))
        exit(code)
    }

    struct InvalidLine: Error, CustomStringConvertible {
        let description: String
    }

    /// Returns how long it took to find a capture.
    static func look(_ url: String, _ timestamp: String, in wacz: WACZFile) throws -> Duration {
        var found: CDXJEntry?
        let time = try ContinuousClock().measure {
            found = try wacz.closestCapture(toURL: url, at: CaptureTimestamp(digits: timestamp))
        }
        guard found?.timestamp == timestamp, found?.url == url else {
            throw InvalidLine(description: "\(url) has no capture of \(timestamp)")
        }
        return time
    }

    static func median(_ times: [Duration]) -> Double {
        times.isEmpty ? 0 : times.sorted()[times.count / 2] / .microseconds(1)
    }
}
