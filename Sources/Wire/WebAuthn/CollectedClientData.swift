package import StrictJSON

/// Client data as a relying party reads it (WebAuthn Level 3 §5.8.1).
///
/// It contains the claims of the client. The verifiers compare them with the expected values.
package struct CollectedClientData: Sendable {
    package static let createType = "webauthn.create"
    package static let getType = "webauthn.get"
    package static let paymentType = "payment.get"
    /// The maximum size of the JSON that is read, in bytes.
    package static let maxBytes = 16_384

    package let type: String
    package let challenge: [UInt8]
    package let origin: String
    /// False if the member is absent.
    package let crossOrigin: Bool
    /// The origin of the top-level page, if the client ran in a frame.
    package let topOrigin: String?
    /// The confirmed payment.
    ///
    /// `nil` if the type is not `payment.get`, or the member is absent.
    package let payment: PaymentClientData?

    /// Parses the JSON strictly: no duplicate names, and each member of its type and within its bounds.
    ///
    /// Unknown members are ignored, as the standard requires of verifiers. The standard's "UTF-8 decode" would drop a
    /// byte order mark and replace bytes that are not UTF-8. Both are refused here, because no client writes them.
    package static func parse(_ bytes: [UInt8]) throws(ClientDataError) -> CollectedClientData {
        let object: JSONObject
        do {
            object = try JSONReader.object(bytes, limits: JSONLimits(maxBytes: maxBytes))
        } catch {
            throw .json(error)
        }
        do throws(JSONMemberError) {
            let type = try object.string("type", bytes: 1...64)
            return CollectedClientData(
                type: type,
                challenge: try object.base64url("challenge", bytes: 1...1_024),
                origin: try object.string("origin", bytes: 1...2_048),
                crossOrigin: try object.optionalBool("crossOrigin") ?? false,
                topOrigin: try object.optionalString("topOrigin", bytes: 1...2_048),
                payment: type.utf8.elementsEqual(paymentType.utf8) ? try payment(in: object) : nil)
        } catch {
            throw .member(error)
        }
    }

    private static func payment(in object: JSONObject) throws(JSONMemberError) -> PaymentClientData? {
        guard let json = try object.optionalObject("payment") else { return nil }
        do {
            return try PaymentClientData(json: json)
        } catch {
            throw error.inside("payment")
        }
    }
}

/// An error in the bytes of client data.
package enum ClientDataError: Error, Equatable, Sendable, CustomStringConvertible {
    case json(JSONError)
    case member(JSONMemberError)

    package var description: String {
        switch self {
        case .json(let error): "clientDataJSON: \(error)"
        case .member(let error): "clientDataJSON: \(error)"
        }
    }
}
