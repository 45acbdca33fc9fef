import ArchiveStore
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// The pipeline of one connection: HTTP parser, one request at a time, guard, archive files, and behind these the router.
///
/// Hummingbird's own HTTP/1 channel with two differences: requests are handed over one by one (its own switch for that is not
/// public), and its connection state handler is left out, since it can't see the answers of `ArchiveFileHandler` and would end
/// them at a graceful stop; `HTTPServerPipelineHandler` and `ConnectionGuard` do its work for both.
struct ReplayChannel: ServerChildChannel, HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    let responder: HTTPChannelHandler.Responder
    let archives: OpenArchives
    let hosts: HostPolicy
    let stop: StopSignal
    let clients: ClientCheck

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.configureHTTPServerPipeline(
                withPipeliningAssistance: true, withErrorHandling: false, withOutboundHeaderValidation: false)
            try pipeline.addHandler(PresenceHandler(), position: .first)
            try pipeline.addHandler(PolicyHandler(hosts: hosts))
            try pipeline.addHandler(ConnectionGuard(stop: stop, clients: clients))
            try pipeline.addHandler(ArchiveFileHandler(archives: archives, hosts: hosts))
            try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
            return try NIOAsyncChannel(
                wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
        }
    }

    func handle(value: Value, logger: Logger) async {
        await handleHTTP(asyncChannel: value, logger: logger)
    }
}
