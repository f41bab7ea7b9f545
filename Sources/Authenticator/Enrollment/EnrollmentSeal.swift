import IssuerProtocol
import Keys

/// Who vouches that a row of the store is as the agent wrote it; whoever can write the store alone cannot.
package protocol RowSeals: Sendable {
    /// What belongs to these octets, and to no others.
    func seal(_ octets: [UInt8]) throws -> [UInt8]
    /// Whether ``seal(_:)`` gave this for the same octets.
    func isSeal(_ seal: [UInt8], of octets: [UInt8]) throws -> Bool
}

extension Enrollment {
    /// All that its seal vouches for: the whole row, each value with its length, so that no two rows give the same.
    ///
    /// But for the refused signCount, which only keeps it from signing, and which a copy sets in every row.
    package var sealedOctets: [UInt8] {
        var octets = SealedOctets(of: "oob-agent enrollment 1")
        octets.add(id.text)
        octets.add(route.issuer.text)
        octets.add(route.rootsPEM)
        octets.add(name)
        octets.add(authnType.rawValue)
        octets.add(Int64(algorithm))
        octets.add(rpId)
        octets.add(credentialId)
        octets.add(userHandle)
        octets.add(startedAt)
        octets.add(key.outside?.uri.text)
        octets.add(key.outside?.facts.kind.rawValue)
        octets.add(key.outside?.facts.publicKey.subjectPublicKeyInfo)
        octets.add(key.outside?.facts.isExportable.map { $0 ? 1 : 0 })
        octets.add(key.outside?.identity?.octets)
        octets.add(takesPush ? 1 : 0)
        octets.add(credentialKey?.subjectPublicKeyInfo)
        octets.add(Int64(signCount))
        add(state, to: &octets)
        octets.add(Int64(pinTries.failures))
        octets.add(pinTries.blockedUntil)
        octets.add(isPINGuessable ? 1 : 0)
        octets.add(signCountRaise.map { Int64($0.from) })
        octets.add(signCountRaise.map { Int64($0.to) })
        octets.add(signCountRaise?.at)
        octets.add(signCountRaise.map { $0.isElsewhere ? 1 : 0 })
        octets.add(endReason)
        octets.add(endedAt)
        octets.add(journalSequence)
        return octets.all
    }

    private func add(_ state: EnrollmentState, to octets: inout SealedOctets) {
        switch state {
        case .keyless: octets.add("keyless")
        case .enrolling(let body):
            octets.add("enrolling")
            octets.add(body)
        case .active(let membership): add("active", membership, to: &octets)
        case .suspended(let membership): add("suspended", membership, to: &octets)
        case .ended(let authenticatorId, let keyRemoved):
            octets.add("ended")
            octets.add(authenticatorId?.text)
            octets.add(keyRemoved ? 1 : 0)
        }
    }

    private func add(_ name: String, _ membership: Membership, to octets: inout SealedOctets) {
        octets.add(name)
        octets.add(membership.authenticatorId.text)
        octets.add(membership.sealedToken)
        octets.add(membership.enrolledAt)
    }
}

/// Values one after the other, each with its length.
private struct SealedOctets {
    private(set) var all: [UInt8] = []

    init(of kind: String) { add(kind) }

    mutating func add(_ text: String?) { add(text.map { Array($0.utf8) }) }

    mutating func add(_ number: Int64?) { add(number.map { Self.octets(of: UInt64(bitPattern: $0)) }) }

    /// A value that is missing differs from an empty one.
    mutating func add(_ octets: [UInt8]?) {
        all.append(octets == nil ? 0 : 1)
        guard let octets else { return }
        all += Self.octets(of: UInt64(octets.count)) + octets
    }

    private static func octets(of number: UInt64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
    }
}
