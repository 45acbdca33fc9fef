import Foundation
import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// Questions "which capture of this URL at this time", and the answers of pywb 2.10.0:
/// `Scripts/lib/capture_questions.py` writes the file. `REPLAYHOST_CAPTURE_QUESTIONS` names another one.
struct CaptureQuestions: Decodable, Sendable {
    struct Question: Decodable, Sendable {
        let archive: Int
        let url: String
        /// Empty for the latest.
        let time: String
        /// `nil` when pywb has no capture.
        let answer: String?

        init(from decoder: any Decoder) throws {
            var values = try decoder.unkeyedContainer()
            archive = try values.decode(Int.self)
            url = try values.decode(String.self)
            time = try values.decode(String.self)
            answer = try values.decodeIfPresent(String.self)
        }

        /// Whether another time is as close as pywb's, and later: of two equally close captures pywb takes the earlier.
        func isTie(_ other: String) -> Bool {
            guard let wanted = CaptureTimestamp(endOf: time), let mine = CaptureTimestamp(digits: other),
                let theirs = answer.flatMap({ CaptureTimestamp(digits: $0) })
            else { return false }
            return wanted.distance(to: mine) == wanted.distance(to: theirs) && mine > theirs
        }
    }

    /// For each archive its captures: key, timestamp, URL.
    let archives: [[[String]]]
    let questions: [Question]

    static func read() throws -> CaptureQuestions {
        let name = ProcessInfo.processInfo.environment["REPLAYHOST_CAPTURE_QUESTIONS"]
        let path = name ?? Checkout.fixture("capture-questions.json")
        return try JSONDecoder().decode(Self.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    }

    func importArchives(into store: ArchiveStore, _ folder: TemporaryFolder) throws -> [Archive] {
        try archives.enumerated().map { number, captures in
            let records = captures.map { capture in
                RecordedArchive.Record(capture[2], capture[2], timestamp: capture[1]).with { $0.key = capture[0] }
            }
            let file = try folder.write(RecordedArchive(records).bytes(), to: "q\(number).wacz")
            return try store.importFile(at: file).archive
        }
    }
}
