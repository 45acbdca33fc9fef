import CaptureAPI
import Foundation
import ShareKit
import TestSupport

/// Answers requests as a test says, and keeps them.
actor FakeServer: Transport {
    typealias Answer = Result<TransportAnswer, ShareError>

    private var answers: [Answer]
    private let health: Answer
    private(set) var posts: [TransportRequest] = []

    /// - Parameters:
    ///   - answers: To the requests that share something, in their order; then the last one again.
    ///   - isHealthy: Whether it answers `GET /health`.
    init(_ answers: [Answer], isHealthy: Bool = false) {
        self.answers = answers
        let body =
            #"{"status":"healthy","timestamp":"","version":"2.0.0","database":{"connected":true,"total_downloads":0}}"#
        health =
            isHealthy
            ? .success(TransportAnswer(status: 200, body: Data(body.utf8))) : .failure(ShareError(.unreachable))
    }

    func send(_ request: TransportRequest, to profile: ServerProfile) async throws(ShareError) -> TransportAnswer {
        guard request.method == "POST" else { return try health.get() }
        posts.append(request)
        return try (answers.count > 1 ? answers.removeFirst() : answers[0]).get()
    }

    /// The URLs of the requests.
    var urls: [String] {
        posts.map { post in
            let body = try? JSONSerialization.jsonObject(with: post.body ?? Data()) as? [String: Any]
            return body?["url"] as? String ?? ""
        }
    }

    static let accepted = answer(201, #"{"success":true,"download_id":"d1"}"#)
    static let unreachable = Answer.failure(ShareError(.unreachable))

    static func answer(_ status: Int, _ body: String, retryAfter: String? = nil) -> Answer {
        .success(TransportAnswer(status: status, retryAfter: retryAfter, body: Data(body.utf8)))
    }

    /// An error of a capture server.
    static func error(_ status: Int, retryAfter: String? = nil) -> Answer {
        answer(
            status, #"{"success":false,"status":"error","error":"code","message":"words"}"#, retryAfter: retryAfter)
    }
}

extension Share {
    init(_ url: String) throws {
        guard let url = WebURL(url) else { throw ShareError(.invalidURL) }
        self.init(url: url, sourceApp: "test")
    }
}
