import NIOCore
import NIOEmbedded
import Testing

@testable import ReplayServer

struct ClientPresenceTests {
    private let channel = EmbeddedChannel(handler: PresenceHandler())

    private func watch() -> ClientPresence {
        let presence = ClientPresence()
        channel.pipeline.triggerUserOutboundEvent(presence, promise: nil)
        return presence
    }

    @Test func halfClosedClientCountsAsDisconnected() {
        let presence = watch()
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.outputClosed)
        #expect(presence.isThere)
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(!presence.isThere)
        // Also for watchers that are added later.
        #expect(!watch().isThere)
    }

    @Test func closedConnectionCountsAsDisconnected() {
        let presence = watch()
        #expect(presence.isThere)
        channel.pipeline.fireChannelInactive()
        #expect(!presence.isThere)
    }
}
