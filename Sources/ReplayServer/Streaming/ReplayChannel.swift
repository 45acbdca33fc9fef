import ArchiveStore
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// The pipeline of a connection: HTTP parser, one request at a time, guard, archive files, router.
///
/// Differs from Hummingbird's HTTP/1 channel in two ways. Requests are passed on one at a time, which isn't a public
/// option there. Its connection state handler is omitted, because it doesn't see the responses of `ArchiveFileHandler`
/// and would cut them off at a graceful stop; `HTTPServerPipelineHandler` and `ConnectionGuard` replace it.
struct ReplayChannel: ServerChildChannel, HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    let responder: HTTPChannelHandler.Responder
    /// `nil` if the listener has no archives.
    let archives: OpenArchives?
    /// `nil` if the listener has no archives.
    let hosts: HostPolicy?
    let stop: StopSignal
    let clients: ClientCheck
    var isEncrypted = false
    var limits = ClientLimits()
    /// Called for each connection, last; it adds TLS to encrypted ones. An error closes the connection.
    var prepare: @Sendable (any Channel, RequestActivity) throws -> Void = { _, _ in }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let activity = RequestActivity()
            try pipeline.configureHTTPServerPipeline(
                withPipeliningAssistance: true, withErrorHandling: false, withOutboundHeaderValidation: false,
                withEncoderConfiguration: .init(), withDecoderLimitConfiguration: HeadLimit.parsing)
            try pipeline.addHandler(PresenceHandler(), position: .first)
            try pipeline.addHandler(PolicyHandler(hosts: hosts))
            try pipeline.addHandler(
                ConnectionGuard(stop: stop, clients: clients, limits: limits, activity: activity))
            if let archives, let hosts {
                try pipeline.addHandler(ArchiveFileHandler(archives: archives, hosts: hosts))
            }
            try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: isEncrypted))
            try prepare(channel, activity)
            return try NIOAsyncChannel(
                wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
        }
    }

    func handle(value: Value, logger: Logger) async {
        await handleHTTP(asyncChannel: value, logger: logger)
    }
}
