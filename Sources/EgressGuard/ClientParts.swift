import NIOCore
import NIOHTTP1

/// What a tool sends to the guard.
enum ClientPart: Sendable {
    case head(HTTPRequestHead)
    /// Bytes of the request's body. After CONNECT: whatever comes.
    case bytes(ByteBuffer)
    /// The end of the request.
    case end
}

/// Makes parts of requests. After CONNECT, the rest of the connection isn't HTTP: it removes the decoder and itself.
final class ClientPartHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = ClientPart

    private let decoder: ByteToMessageHandler<HTTPRequestDecoder>
    private var isTunnel = false

    init(decoder: ByteToMessageHandler<HTTPRequestDecoder>) { self.decoder = decoder }

    /// Adds what a connection of a tool needs.
    static func add(to pipeline: ChannelPipeline.SynchronousOperations) throws {
        let decoder = ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes))
        try pipeline.addHandler(decoder)
        try pipeline.addHandler(ClientPartHandler(decoder: decoder))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            isTunnel = head.method == .CONNECT
            context.fireChannelRead(wrapInboundOut(.head(head)))
        case .body(let bytes):
            context.fireChannelRead(wrapInboundOut(.bytes(bytes)))
        case .end:
            context.fireChannelRead(wrapInboundOut(.end))
            if isTunnel { becomeTunnel(context) }
        }
    }

    private func becomeTunnel(_ context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        do {
            try pipeline.addHandler(TunnelHandler(), position: .after(self))
        } catch {
            context.fireErrorCaught(error)
            return
        }
        pipeline.removeHandler(self, promise: nil)
        // What it has read ahead goes to the handler above, but not the end of the read, at which bytes are delivered.
        pipeline.removeHandler(decoder).assumeIsolated().whenSuccess { pipeline.fireChannelReadComplete() }
    }
}

/// Passes the bytes of a tunnel on.
private final class TunnelHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ClientPart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.fireChannelRead(wrapInboundOut(.bytes(unwrapInboundIn(data))))
    }
}
