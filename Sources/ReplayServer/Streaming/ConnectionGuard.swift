import HTTPTypes
import NIOCore
import NIOHTTP1
import Synchronization

/// Whether the server is stopping; shared by all of its connections.
final class StopSignal: Sendable {
    private let flag = Atomic(false)

    var isRaised: Bool { flag.load(ordering: .relaxed) }

    func raise() { flag.store(true, ordering: .relaxed) }
}

/// Refuses connections of other users, closes stale ones, and responds to malformed HTTP.
///
/// It comes right after the parser, so it sees all requests and responses.
final class ConnectionGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let stop: StopSignal
    private let clients: ClientCheck
    private let limits: ClientLimits
    private let activity: RequestActivity
    private var hasRequested = false
    /// Determined once per connection.
    private var client = ClientCheck.Verdict.unknownUser
    /// From a request's head to its end.
    private var isReceiving = false
    /// From a request's head to the end of its response.
    private var isRequestOpen: Bool {
        get { activity.isBusy }
        set { activity.isBusy = newValue }
    }
    /// Whether the last request has got the start of a response.
    private var hasBegunResponse = false
    private var bodyStart = NIODeadline.now()
    private var bodyBytes = 0
    private var isKeptAlive = true
    /// HTTP/1.0, which needs an explicit keep-alive.
    private var isOldVersion = false
    private var isRefused = false
    /// Whether the status of the current response allows a body.
    private var mayHaveBody = true
    private var clock = DateClock()
    private var lastProgress: NIODeadline {
        get { activity.lastProgress }
        set { activity.lastProgress = newValue }
    }
    private var watch: RepeatedTask?

    init(stop: StopSignal, clients: ClientCheck, limits: ClientLimits, activity: RequestActivity) {
        (self.stop, self.clients, self.limits, self.activity) = (stop, clients, limits, activity)
    }

    func channelActive(context: ChannelHandlerContext) {
        client = clients.verdict(on: context.channel)
        context.fireChannelActive()
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        watch = context.eventLoop.scheduleRepeatedTask(initialDelay: Self.tick, delay: Self.tick) { _ in
            let (connection, context) = bound.value
            if connection.isStale { context.close(promise: nil) }
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        watch?.cancel()
        watch = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        lastProgress = .now()
        switch unwrapInboundIn(data) {
        case .head(let head):
            isReceiving = true
            hasRequested = true
            isRequestOpen = true
            hasBegunResponse = false
            (bodyStart, bodyBytes) = (.now(), 0)
            // After a head with Upgrade, the parser takes what follows for the other protocol.
            isKeptAlive = head.isKeepAlive && !head.headers.contains(name: "upgrade")
            isOldVersion = head.version != .http1_1
            if let refusal = ErrorResponse(refusing: client) {
                return refuse(refusal, head: head, context: context)
            }
            guard Self.isAcceptable(head) else { return refuse(.badRequest, context: context) }
            if let refusal = HeadLimit.refusal(of: head) { return refuse(refusal, head: head, context: context) }
        case .body(let bytes): bodyBytes += bytes.readableBytes
        case .end: isReceiving = false
        }
        context.fireChannelRead(data)
    }

    /// Whether a request has exactly one Host (RFC 9112 §3.2) and a target in origin form. The absolute form is for
    /// proxies.
    private static func isAcceptable(_ head: HTTPRequestHead) -> Bool {
        head.headers["host"].count == 1 && head.uri.hasPrefix("/")
    }

    /// Responds with an error and closes the connection.
    private func refuse(_ error: ErrorResponse, head: HTTPRequestHead, context: ChannelHandlerContext) {
        let status = HTTPResponseStatus(statusCode: error.status.code)
        do {
            let response = try error.bytes(asJSON: head.uri.hasPrefix("/api/"))
            let fields = response.fields.map { ($0.name.rawName, $0.value) }
            refuse(status, fields: fields, body: response.body, isHead: head.method == .HEAD, context: context)
        } catch {
            refuse(status, context: context)
        }
    }

    /// Responds and closes the connection without reading further requests.
    private func refuse(
        _ status: HTTPResponseStatus, fields: [(String, String)] = [], body: [UInt8] = [], isHead: Bool = false,
        context: ChannelHandlerContext
    ) {
        isRefused = true
        var headers = HTTPHeaders([("date", clock.text()), ("connection", "close")] + fields)
        headers.replaceOrAdd(name: "content-length", value: "\(body.count)")
        context.write(wrapOutboundOut(.head(.init(version: .http1_1, status: status, headers: headers))), promise: nil)
        if !body.isEmpty, !isHead {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
        }
        let sent = context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: sent)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isRefused else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        lastProgress = .now()
        let part = unwrapOutboundIn(data)
        if case .head(let head) = part {
            (hasBegunResponse, mayHaveBody) = (true, head.status.mayHaveResponseBody)
        }
        // A client would read a body that isn't allowed as the next response. RFC 9112 §6.3.
        if case .body = part, !mayHaveBody {
            promise?.succeed()
            return
        }
        switch part {
        case .head(var head) where !isKeptAlive || isOldVersion:
            head.headers.replaceOrAdd(name: "connection", value: isKeptAlive ? "keep-alive" : "close")
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end:
            isRequestOpen = false
            writeEnd(data, promise: promise, context: context)
        case .head, .body:
            context.write(data, promise: promise)
        }
    }

    /// Closes the connection after the response if the client requested that. RFC 9112 §9.3.
    private func writeEnd(_ data: NIOAny, promise: EventLoopPromise<Void>?, context: ChannelHandlerContext) {
        guard !isKeptAlive else { return context.write(data, promise: promise) }
        let sent = promise ?? context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
        context.writeAndFlush(data, promise: sent)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        lastProgress = .now()
        context.fireChannelWritabilityChanged()
    }

    /// Responds to malformed requests.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let parserError = error as? HTTPParserError else { return context.fireErrorCaught(error) }
        // A closed connection leaves an incomplete request, which needs no response.
        guard !isRefused, context.channel.isActive else { return }
        guard !hasBegunResponse || !isReceiving && !isRequestOpen else {
            // Part of a request that already got a response, and mustn't get a second one.
            isRefused = true
            return context.close(promise: nil)
        }
        refuse(parserError == .headerOverflow ? .requestHeaderFieldsTooLarge : .badRequest, context: context)
    }

    private var isStale: Bool {
        let waitLimit = hasRequested ? Self.idleLimit : limits.firstHead
        let limit = stop.isRaised ? Self.stoppingLimit : isRequestOpen ? Self.requestLimit : waitLimit
        return isBodyTooSlow || NIODeadline.now() - lastProgress > limit
    }

    private var isBodyTooSlow: Bool {
        guard isReceiving, let rate = limits.bodyBytesPerSecond else { return false }
        let late = NIODeadline.now() - bodyStart - Self.bodyGrace
        return late > .zero && bodyBytes < Int(late.nanoseconds / 1_000_000_000) * rate
    }

    private static let tick = TimeAmount.seconds(2)
    /// Between requests, and while a head arrives.
    static let idleLimit = TimeAmount.seconds(75)
    /// Within a request. A paused video can stall its download for a long time.
    private static let requestLimit = TimeAmount.minutes(15)
    /// Before the rate of a body counts.
    private static let bodyGrace = TimeAmount.seconds(10)
    /// For stalled downloads while the server is stopping.
    private static let stoppingLimit = TimeAmount.seconds(30)
}
