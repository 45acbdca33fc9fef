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

/// Refuses connections of other users, closes those that have stood still for too long, and answers what is no HTTP.
///
/// It stands between the parser and everyone who answers, so it sees the requests of the router and those of the archive
/// handler alike.
final class ConnectionGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let stop: StopSignal
    private let clients: ClientCheck
    /// Found out once, so that requests on a connection that is kept don't pay for it.
    private var client = ClientCheck.Verdict.unknownUser
    /// From a request's head to its end.
    private var isReceiving = false
    /// From a request's head to the end of its answer.
    private var isRequestOpen = false
    private var isKeptAlive = true
    /// HTTP/1.0, where staying must be said.
    private var isOldVersion = false
    private var isRefused = false
    /// Whether the answer that is being sent has a status that allows a body.
    private var mayHaveBody = true
    private var clock = DateClock()
    private var lastProgress = NIODeadline.now()
    private var watch: RepeatedTask?

    init(stop: StopSignal, clients: ClientCheck) {
        self.stop = stop
        self.clients = clients
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
            isRequestOpen = true
            isKeptAlive = head.isKeepAlive
            isOldVersion = head.version != .http1_1
            if let refusal = ErrorResponse(refusing: client) {
                return refuse(refusal, head: head, context: context)
            }
            guard Self.isAcceptable(head) else { return refuse(.badRequest, context: context) }
        case .body: break
        case .end: isReceiving = false
        }
        context.fireChannelRead(data)
    }

    /// Exactly one Host (RFC 9112 §3.2), and a target in origin form: a proxy's absolute form names a host of its own, and
    /// nobody here is a proxy.
    private static func isAcceptable(_ head: HTTPRequestHead) -> Bool {
        head.headers["host"].count == 1 && head.uri.hasPrefix("/")
    }

    /// Answers with the error's words and closes.
    private func refuse(_ error: ErrorResponse, head: HTTPRequestHead, context: ChannelHandlerContext) {
        let status = HTTPResponseStatus(statusCode: error.status.code)
        do {
            let words = try error.bytes(asJSON: head.uri.hasPrefix("/api/"))
            let fields = words.fields.map { ($0.name.rawName, $0.value) }
            refuse(status, fields: fields, body: words.body, isHead: head.method == .HEAD, context: context)
        } catch {
            refuse(status, context: context)
        }
    }

    /// Answers and closes; what follows on the connection is not read.
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
        if case .head(let head) = part { mayHaveBody = head.status.mayHaveResponseBody }
        // The bytes of a body that none is allowed for would be read as the next answer. RFC 9112 §6.3.
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

    /// The client decides whether the connection lives on. RFC 9112 §9.3.
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

    /// What the parser could not read. An over-long head is most often cookies that pages of many archives have set on a
    /// common parent name: the browser is asked to forget them.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let parserError = error as? HTTPParserError else { return context.fireErrorCaught(error) }
        // A connection that has gone leaves half a request behind, which nobody waits for an answer to.
        guard !isRefused, context.channel.isActive else { return }
        guard !isReceiving, !isRequestOpen else {
            // The rest of a request that is being answered, or was: one answer is all it may get.
            isRefused = true
            return context.close(promise: nil)
        }
        guard parserError == .headerOverflow else { return refuse(.badRequest, context: context) }
        refuse(.requestHeaderFieldsTooLarge, fields: [("clear-site-data", "\"cookies\"")], context: context)
    }

    private var isStale: Bool {
        let limit = stop.isRaised ? Self.stoppingLimit : isRequestOpen ? Self.requestLimit : Self.idleLimit
        return NIODeadline.now() - lastProgress > limit
    }

    private static let tick = TimeAmount.seconds(2)
    /// Between requests, and while a head arrives.
    private static let idleLimit = TimeAmount.seconds(75)
    /// Within a request: a paused video may keep a download waiting for long.
    private static let requestLimit = TimeAmount.minutes(15)
    /// Once the server stops, for a download of which nothing moves any more.
    private static let stoppingLimit = TimeAmount.seconds(30)
}
