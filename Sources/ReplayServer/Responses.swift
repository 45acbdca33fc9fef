import Foundation
package import HTTPTypes
package import Hummingbird
import NIOCore
import WebArchive

/// Creates responses with the fields that all responses need.
package enum Responses {
    static func json(
        _ value: some Encodable, status: HTTPResponse.Status = .ok, fields: HTTPFields = HTTPFields()
    ) throws -> Response {
        bytes(
            try JSONText.encoded(value) + Array("\n".utf8), type: "application/json", status: status,
            policy: SecurityHeaders.inert,
            fields: fields.adding([.cacheControl: "no-store", .apiVersion: "1"]))
    }

    static func text(_ text: String, status: HTTPResponse.Status, fields: HTTPFields = HTTPFields()) -> Response {
        bytes(
            Data(text.utf8), type: "text/plain; charset=utf-8", status: status, policy: SecurityHeaders.inert,
            fields: fields.adding([.cacheControl: "no-store"]))
    }

    static func page(
        _ html: String, policy: String, status: HTTPResponse.Status = .ok, fields: HTTPFields = HTTPFields()
    ) -> Response {
        bytes(
            Data(html.utf8), type: "text/html; charset=utf-8", status: status, policy: policy,
            fields: fields.adding([.cacheControl: "no-store"]))
    }

    static func empty(_ status: HTTPResponse.Status, fields: HTTPFields = HTTPFields()) -> Response {
        Response(status: status, headers: SecurityHeaders.common.adding(fields))
    }

    package static func redirect(to address: String, status: HTTPResponse.Status = .temporaryRedirect) -> Response {
        empty(
            status,
            fields: [
                .location: address, .cacheControl: "no-store", .referrerPolicy: SecurityHeaders.referrerOfRedirects,
            ])
    }

    /// Returns an asset. Browsers revalidate it with every request, unless the URL has the start of its hash as `v`.
    package static func asset(
        _ asset: Asset, policy: String, request: Request, fields: HTTPFields = HTTPFields()
    ) -> Response {
        let conditions = ConditionalRequest(ifNoneMatch: request.headers[.ifNoneMatch])
        let isImmutable = request.uri.queryParameters["v"].map { $0.count == 16 && asset.sha256.hasPrefix($0) } ?? false
        let fields = fields.adding([
            .eTag: asset.tag.description, .cacheControl: isImmutable ? "max-age=31536000, immutable" : "no-cache",
        ])
        if conditions.answer(tag: asset.tag, modifiedAt: 0, size: 0, isHead: true) == .notModified {
            return empty(.notModified, fields: fields.adding([.contentSecurityPolicy: policy]))
        }
        return bytes(asset.bytes, type: asset.type, status: .ok, policy: policy, fields: fields)
    }

    package static func bytes(
        _ bytes: some Sequence<UInt8>, type: String, status: HTTPResponse.Status, policy: String, fields: HTTPFields
    ) -> Response {
        let headers = SecurityHeaders.common.adding([.contentType: type, .contentSecurityPolicy: policy]).adding(fields)
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

extension HTTPFields {
    /// Returns the fields, with those of the same name replaced by others.
    package func adding(_ others: HTTPFields) -> HTTPFields {
        var fields = self
        for field in others { fields[field.name] = field.value }
        return fields
    }
}
