package import StrictJSON

/// Client data as a relying party reads it (WebAuthn Level 3 §5.8.1).
///
/// It says what the client claims, and nothing of whether that was expected: the verifiers compare.
package struct CollectedClientData: Sendable {
    package static let createType = "webauthn.create"
    package static let getType = "webauthn.get"
    package static let paymentType = "payment.get"
    /// Bytes of the JSON that are read at most.
    package static let maxBytes = 16_384

    package let type: String
    package let challenge: [UInt8]
    package let origin: String
    /// False if the member is absent.
    package let crossOrigin: Bool
    /// The top-level page's origin, from a client that ran in a frame.
    package let topOrigin: String?
    /// What was confirmed of a payment; nil if the type is not `payment.get`, or the member is absent.
    package let payment: PaymentClientData?

    /// Reads the JSON strictly: no name twice, and each member of its type and within its bounds.
    ///
    /// Members that the standard does not name are ignored, as it tells verifiers to. Its "UTF-8 decode" would drop a
    /// byte order mark and replace bytes that are no UTF-8; here both are refused, for no client writes them.
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

/// Why bytes are not client data.
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
