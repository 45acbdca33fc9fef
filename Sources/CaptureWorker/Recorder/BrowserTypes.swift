import Foundation

// Parameters and answers of the Chrome DevTools Protocol, as far as they are used. The names are those of the protocol.
// Parameters whose values all have one type are written as dictionaries where they are sent.

/// The events that are read. Others are skipped.
enum BrowserEventName: String {
    case attached = "Target.attachedToTarget"
    case detached = "Target.detachedFromTarget"
    case crashed = "Inspector.targetCrashed"
    case paused = "Fetch.requestPaused"
    case askedForPassword = "Fetch.authRequired"
    case requested = "Network.requestWillBeSent"
    case requestedExtra = "Network.requestWillBeSentExtraInfo"
    case responded = "Network.responseReceived"
    case respondedExtra = "Network.responseReceivedExtraInfo"
    case received = "Network.dataReceived"
    case finished = "Network.loadingFinished"
    case failed = "Network.loadingFailed"
    case loaded = "Page.loadEventFired"
    case dialog = "Page.javascriptDialogOpening"
    case exception = "Runtime.exceptionThrown"
}

/// No parameters, or an answer that doesn't matter.
struct NoValues: Codable, Sendable {}

enum Target {
    struct AutoAttach: Encodable, Sendable {
        struct Filter: Encodable, Sendable {
            var type: String?
            var exclude: Bool?
        }

        var autoAttach = true
        var waitForDebuggerOnStart = true
        var flatten = true
        let filter: [Filter]
    }

    struct Info: Decodable, Sendable {
        let targetId: String
        let type: String
    }

    struct Attached: Decodable, Sendable {
        let sessionId: String
        let targetInfo: Info
    }

    struct Detached: Decodable, Sendable {
        let sessionId: String
    }

    struct ID: Codable, Sendable {
        let targetId: String
    }
}

enum Fetch {
    struct Enable: Encodable, Sendable {
        struct Pattern: Encodable, Sendable {
            var urlPattern = "*"
            let requestStage: String
        }

        /// Without the first one, the browser doesn't ask what to do about a password.
        var patterns = [Pattern(requestStage: "Request"), Pattern(requestStage: "Response")]
        var handleAuthRequests = true
    }

    struct ContinueWithAuth: Encodable, Sendable {
        struct Response: Encodable, Sendable {
            var response = "CancelAuth"
        }

        let requestId: String
        var authChallengeResponse = Response()
    }

    struct Field: Codable, Sendable {
        let name: String
        let value: String
    }

    struct Paused: Decodable, Sendable {
        let requestId: String
        let request: Network.Request
        let resourceType: String
        let responseStatusCode: Int?
        let responseStatusText: String?
        let responseHeaders: [Field]?
        let networkId: String?

        /// The first value of a field, whose name is given in lower case.
        func field(_ name: String) -> String? { responseHeaders?.first { $0.name.lowercased() == name }?.value }
    }

    struct ID: Codable, Sendable {
        let requestId: String
    }

    struct Failed: Encodable, Sendable {
        let requestId: String
        var errorReason = "BlockedByClient"
    }

    struct Fulfilled: Encodable, Sendable {
        let requestId: String
        let responseCode: Int
        let responsePhrase: String?
        let responseHeaders: [Field]
        var body = ""
    }

    struct Stream: Decodable, Sendable {
        let stream: String
    }
}

enum IO {
    struct Read: Encodable, Sendable {
        let handle: String
        let size: Int
    }

    struct Piece: Decodable, Sendable {
        let base64Encoded: Bool?
        let data: String
        let eof: Bool

        /// - Throws: `BrowserEnd` if the data isn't base64, as it says.
        func bytes() throws -> Data {
            guard base64Encoded == true else { return Data(data.utf8) }
            guard let bytes = Data(base64Encoded: data) else { throw BrowserEnd("the browser sent damaged data") }
            return bytes
        }
    }
}

enum Network {
    struct Request: Decodable, Sendable {
        struct Part: Decodable, Sendable {
            /// Base64; `nil` for a file.
            let bytes: String?
        }

        let url: String
        let method: String
        let headers: [String: String]
        let hasPostData: Bool?
        let postDataEntries: [Part]?
    }

    struct Requested: Decodable, Sendable {
        let requestId: String
        /// The page that requests it.
        let documentURL: String
        let request: Request
        let type: String?
    }

    struct RequestedExtra: Decodable, Sendable {
        let requestId: String
        let headers: [String: String]
    }

    struct Certificate: Decodable, Sendable, Hashable {
        /// `TLS 1.3`
        let `protocol`: String
        let issuer: String
    }

    struct Responded: Decodable, Sendable {
        struct Response: Decodable, Sendable {
            let url: String
            let status: Int
            let mimeType: String
            let securityDetails: Certificate?
        }

        let requestId: String
        let type: String
        let response: Response
    }

    struct RespondedExtra: Decodable, Sendable {
        let requestId: String
        /// Several values of a field are separated by line feeds.
        let headers: [String: String]
        let statusCode: Int
        /// The head as it was received; `nil` for HTTP/2.
        let headersText: String?
    }

    struct Failed: Decodable, Sendable {
        let requestId: String
        let errorText: String
        let canceled: Bool?
    }

    struct ID: Codable, Sendable {
        let requestId: String
    }

    struct PostData: Decodable, Sendable {
        let postData: String
        let base64Encoded: Bool?
    }

    struct Cookies: Decodable, Sendable {
        struct Pair: Decodable, Sendable {
            let name: String
            let value: String
        }

        let cookies: [Pair]
    }

    struct Cookie: Encodable, Sendable, Hashable {
        let name: String
        let value: String
        let domain: String
        let path: String
        let secure: Bool
        let httpOnly: Bool
        /// Seconds since 1970; `nil` for a cookie of the session.
        let expires: Double?
    }
}

enum Page {
    struct Navigated: Decodable, Sendable {
        let loaderId: String?
        let errorText: String?
    }

    struct Dialog: Decodable, Sendable {
        let type: String
    }

    struct Frame: Decodable, Sendable {
        let id: String
        let name: String?
        let url: String
    }

    struct FrameTree: Decodable, Sendable {
        let frame: Frame
        let childFrames: [FrameTree]?

        var frames: [Frame] { [frame] + (childFrames ?? []).flatMap(\.frames) }

        /// Returns the frame of a name, with those in it.
        func below(_ name: String) -> FrameTree? {
            frame.name == name ? self : (childFrames ?? []).lazy.compactMap { $0.below(name) }.first
        }
    }

    struct Frames: Decodable, Sendable {
        let frameTree: FrameTree
    }

    struct Context: Decodable, Sendable {
        let executionContextId: Int
    }

    struct Screenshot: Encodable, Sendable {
        struct Clip: Encodable, Sendable {
            var x = 0.0
            var y = 0.0
            let width: Double
            let height: Double
            let scale: Double
        }

        let format: String
        var quality: Int?
        var clip: Clip?
    }

    struct Image: Decodable, Sendable {
        let data: String
    }
}

enum Runtime {
    struct Evaluate: Encodable, Sendable {
        let expression: String
        let contextId: Int
        var awaitPromise = true
        var returnByValue = true
    }

    struct Evaluated<Value: Decodable & Sendable>: Decodable, Sendable {
        struct Object: Decodable, Sendable {
            let value: Value?
        }

        let result: Object
    }
}

enum Emulation {
    struct Metrics: Encodable, Sendable {
        let width: Int
        let height: Int
        var deviceScaleFactor = 1
        var mobile = false
    }
}

enum Browser {
    struct Version: Decodable, Sendable {
        let product: String
        let userAgent: String
    }
}
