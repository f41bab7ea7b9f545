package import Keys

/// Attestation statement format identifiers (IANA "WebAuthn Attestation Statement Format Identifiers", RFC 8809).
package enum AttestationFormat: String, Sendable, CaseIterable {
    case none
    case packed
}

/// The attestation statements that this code makes and reads.
package enum AttestationStatement: Sendable, Equatable {
    /// No attestation (WebAuthn Level 3 §8.7).
    case none
    /// Format `packed` with self attestation (§8.2): signed by the credential's own key, without certificates.
    case packedSelf(algorithm: SignatureAlgorithm, signature: [UInt8])
}

/// An attestation object (WebAuthn Level 3 §6.5.4).
package struct AttestationObject: Sendable, Equatable {
    /// The signed bytes.
    ///
    /// `AuthenticatorData.parse` parses them.
    package let authenticatorData: [UInt8]
    package let statement: AttestationStatement

    package init(authenticatorData: [UInt8], statement: AttestationStatement) {
        self.authenticatorData = authenticatorData
        self.statement = statement
    }

    package var format: AttestationFormat {
        switch statement {
        case .none: .none
        case .packedSelf: .packed
        }
    }

    /// The attestation signature.
    ///
    /// `nil` for format `none`.
    package var signature: [UInt8]? {
        switch statement {
        case .none: nil
        case .packedSelf(_, let signature): signature
        }
    }

    package func encoded() -> [UInt8] {
        let map: CBORMap = [
            "fmt": .text(format.rawValue), "attStmt": .map(statement.map), "authData": .bytes(authenticatorData),
        ]
        return CBOR.map(map).encoded()
    }

    /// Parses an attestation object, which must be the whole input and canonical CBOR.
    package static func parse(_ bytes: [UInt8]) throws(AttestationObjectError) -> AttestationObject {
        let item: CBOR
        do { item = try CBOR.decode(bytes) } catch { throw .cbor(error) }
        guard case .map(let map) = item, map.count == 3, case .text(let name)? = map["fmt"],
            case .map(let statement)? = map["attStmt"], case .bytes(let authenticatorData)? = map["authData"]
        else { throw .members }
        // WebAuthn Level 3 §7.1 step 21: the identifier is ASCII and compared byte by byte.
        guard let format = AttestationFormat.allCases.first(where: { $0.rawValue.utf8.elementsEqual(name.utf8) })
        else { throw .format }
        return AttestationObject(
            authenticatorData: authenticatorData, statement: try AttestationStatement(format: format, map: statement))
    }
}

extension AttestationStatement {
    fileprivate var map: CBORMap {
        switch self {
        case .none: [:]
        case .packedSelf(let algorithm, let signature):
            ["alg": .integer(algorithm.rawValue), "sig": .bytes(signature)]
        }
    }

    fileprivate init(format: AttestationFormat, map: CBORMap) throws(AttestationObjectError) {
        switch format {
        case .none:
            guard map.count == 0 else { throw .statement }
            self = .none
        case .packed:
            // An `x5c` would make it an attestation by certificate. That is one member too many here.
            guard map.count == 2, let number = map["alg"]?.integer,
                let algorithm = SignatureAlgorithm(rawValue: number),
                case .bytes(let signature)? = map["sig"]
            else { throw .statement }
            self = .packedSelf(algorithm: algorithm, signature: signature)
        }
    }
}

/// An error in the bytes of an attestation object that this code should read.
package enum AttestationObjectError: Error, Equatable, Sendable, CustomStringConvertible {
    case cbor(CBORError)
    case members
    case format
    case statement

    package var description: String {
        "attestation object: \(problem)"
    }

    private var problem: String {
        switch self {
        case .cbor(let error): "\(error)"
        case .members: "not a map of fmt, attStmt and authData alone"
        case .format: "fmt is neither none nor packed"
        case .statement: "attStmt is neither empty (none) nor a known alg and sig alone (packed, self attestation)"
        }
    }
}
