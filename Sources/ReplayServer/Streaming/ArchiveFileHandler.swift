import ArchiveStore
import NIOCore
import NIOHTTP1
import NIOPosix
import WebArchive

#if canImport(Glibc)
import CLinux
import Glibc
#else
import Darwin
#endif

/// Serves GET and HEAD on `/archives/*` from the file, and passes other requests on to the router.
///
/// It comes after `HTTPServerPipelineHandler`, which passes on one request at a time. Small bodies are buffered and
/// sent with their head. Large ones are sent with sendfile, one chunk after the other.
final class ArchiveFileHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let archives: OpenArchives
    private let hosts: HostPolicy
    private let threads = NIOThreadPool.singleton
    private var clock = DateClock()

    private enum State {
        /// The router has this request.
        case passing
        /// This handler has the request, which isn't complete yet.
        case receiving(ArchiveRequest, HTTPRequestHead)
        case answering
    }
    private var state = State.passing

    init(archives: OpenArchives, hosts: HostPolicy) {
        self.archives = archives
        self.hosts = hosts
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (unwrapInboundIn(data), state) {
        case (.head(let head), _):
            guard let request = ArchiveRequest(head, hosts: hosts) else {
                state = .passing
                return context.fireChannelRead(data)
            }
            state = .receiving(request, head)
        case (_, .passing):
            context.fireChannelRead(data)
        case (.end, .receiving(let request, let head)):
            state = .answering
            find(request, head: head, context: context)
        case (.body, _), (.end, _):
            break
        }
    }

    private func find(_ request: ArchiveRequest, head: HTTPRequestHead, context: ChannelHandlerContext) {
        if let file = archives.recentFile(for: request.file), request.accepts(file) {
            return answer(request, head: head, file: file, context: context)
        }
        let archives = archives
        threads.runIfActive(eventLoop: context.eventLoop) { try archives.file(for: request.file) }
            .assumeIsolated().whenComplete { result in
                guard context.channel.isActive else { return }
                if case .success(.some(let file)) = result, request.accepts(file) {
                    self.answer(request, head: head, file: file, context: context)
                } else {
                    // The router reports why the file isn't available.
                    self.state = .passing
                    context.fireChannelRead(self.wrapInboundOut(.head(head)))
                    context.fireChannelRead(self.wrapInboundOut(.end(nil)))
                    context.fireChannelReadComplete()
                }
            }
    }

    private func answer(
        _ request: ArchiveRequest, head: HTTPRequestHead, file: OpenArchiveFile, context: ChannelHandlerContext
    ) {
        let answer = ArchiveAnswer(to: request, file: file, date: clock.text())
        let response = HTTPResponseHead(version: .http1_1, status: answer.status, headers: answer.headers)
        context.write(wrapOutboundOut(.head(response)), promise: nil)
        send(answer.pieces[...], of: file, context: context)
    }

    /// Sends pieces in memory at once, then a range of the file, then the rest.
    private func send(
        _ pieces: ArraySlice<ArchiveAnswer.Piece>, of file: OpenArchiveFile,
        context: ChannelHandlerContext
    ) {
        var rest = pieces
        while let piece = rest.popFirst() {
            switch piece {
            case .bytes(let buffer):
                context.write(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: nil)
            case .file(let range) where range.length <= Self.bufferedMax:
                let buffer = Self.cachedBytes(range, of: file.file.number, allocator: context.channel.allocator)
                guard file.isUnchanged else { return context.close(promise: nil) }
                if let buffer {
                    context.write(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: nil)
                } else {
                    return readThenSend(range, rest: rest, of: file, context: context)
                }
            case .file(let range):
                return stream(range, rest: rest, of: file, context: context)
            }
        }
        state = .passing
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    /// Reads a small range from disk on another thread, then sends it.
    private func readThenSend(
        _ range: ByteRange, rest: ArraySlice<ArchiveAnswer.Piece>, of file: OpenArchiveFile,
        context: ChannelHandlerContext
    ) {
        let allocator = context.channel.allocator
        threads.runIfActive(eventLoop: context.eventLoop) { () throws -> ByteBuffer in
            var buffer = allocator.buffer(capacity: Int(range.length))
            let count = try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: Int(range.length)) { target in
                try file.file.read(
                    at: range.first, into: UnsafeMutableRawBufferPointer(rebasing: target[..<Int(range.length)]))
            }
            guard count == Int(range.length) else {
                throw StoreError(
                    .failed, "the file ended \(Int(range.length) - count) bytes early", place: file.file.path)
            }
            return buffer
        }.assumeIsolated().whenComplete { result in
            guard context.channel.isActive else { return }
            switch result {
            case .success(let buffer):
                context.write(self.wrapOutboundOut(.body(.byteBuffer(buffer))), promise: nil)
                self.send(rest, of: file, context: context)
            case .failure:
                // The head with the length was already sent, so close the connection.
                context.close(promise: nil)
            }
        }
    }

    /// Sends a large range with sendfile. Each range has a separate handle, because event loops can't share one.
    private func stream(
        _ range: ByteRange, rest: ArraySlice<ArchiveAnswer.Piece>, of file: OpenArchiveFile,
        context: ChannelHandlerContext
    ) {
        let copy = fcntl(file.file.number, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return context.close(promise: nil) }
        let handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: copy)
        Self.readAhead(of: range, descriptor: copy)
        sendChunks(of: range, of: file, from: handle, context: context) { isWhole in
            // Nothing can be done about an error here.
            try? handle.close()
            guard isWhole, context.channel.isActive else { return context.close(promise: nil) }
            self.send(rest, of: file, context: context)
        }
    }

    /// Sends a chunk, and the next one when it was sent, so that progress is visible.
    private func sendChunks(
        of range: ByteRange, of file: OpenArchiveFile, from handle: NIOFileHandle, context: ChannelHandlerContext,
        done: @escaping (Bool) -> Void
    ) {
        let last = min(range.last, range.first + Self.chunkMax - 1)
        let region = FileRegion(fileHandle: handle, readerIndex: Int(range.first), endIndex: Int(last) + 1)
        let sent = context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenComplete { result in
            // If a linked file changed meanwhile, break the response instead of mixing content.
            guard case .success = result, context.channel.isActive, file.isUnchanged else { return done(false) }
            guard last < range.last else { return done(true) }
            let remaining = ByteRange(first: last + 1, last: range.last)
            self.sendChunks(of: remaining, of: file, from: handle, context: context, done: done)
        }
        context.writeAndFlush(wrapOutboundOut(.body(.fileRegion(region))), promise: sent)
    }

    /// Returns the bytes if all are in the page cache; otherwise `nil`.
    private static func cachedBytes(
        _ range: ByteRange, of descriptor: Int32, allocator: ByteBufferAllocator
    ) -> ByteBuffer? {
        #if os(Linux)
        let length = Int(range.length)
        var buffer = allocator.buffer(capacity: length)
        let count = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: length) { target in
            var vector = iovec(iov_base: target.baseAddress, iov_len: length)
            return max(0, preadv2(descriptor, &vector, 1, off_t(range.first), Int32(CLINUX_RWF_NOWAIT)))
        }
        return count == length ? buffer : nil
        #else
        return nil
        #endif
    }

    private static func readAhead(of range: ByteRange, descriptor: Int32) {
        #if os(Linux)
        posix_fadvise(descriptor, off_t(range.first), off_t(min(range.length, readAheadMax)), POSIX_FADV_WILLNEED)
        #endif
    }

    /// The maximum size of a buffered range.
    private static let bufferedMax: UInt64 = 64 << 10
    /// The number of bytes to prefetch before the first chunk is sent.
    private static let readAheadMax: UInt64 = 4 << 20
    /// The size of a chunk.
    private static let chunkMax: UInt64 = 1 << 20
}

/// The value of `Date`, updated once a second.
struct DateClock {
    private var second = 0
    private var cached = ""

    mutating func text() -> String {
        let now = time(nil)
        if now != second {
            second = now
            cached = HTTPDate.text(ofSeconds: now)
        }
        return cached
    }
}
