import IssuerProtocol
package import Keys

/// Seals that prove that the agent wrote a row; access to the store alone is not enough to make one.
package protocol RowSeals: Sendable {
    /// Returns the seal of these bytes, which is valid for no others.
    func seal(_ bytes: [UInt8]) throws -> [UInt8]
    /// Returns whether ``seal(_:)`` made this seal for the same bytes.
    func isSeal(_ seal: [UInt8], of bytes: [UInt8]) throws -> Bool
    /// Seals the key of the row hashes in a ``RowSum``.
    func seal(rowKey key: DataKey) throws -> [UInt8]
    func openRowKey(_ sealed: [UInt8]) throws -> DataKey
}

extension Enrollment {
    /// The bytes that its seal covers: the whole row, each value with its length.
    ///
    /// The lengths ensure that no two rows have the same bytes.
    ///
    /// The refused signCount is left out: it only keeps the enrollment from signing, and a copy sets it in every row.
    /// Columns by which a store finds a row, such as the number of its name, are left out, too.
    package var sealedBytes: [UInt8] {
        var bytes = SealedBytes(of: "oob-agent enrollment 1")
        bytes.add(id.text)
        bytes.add(target.issuer.text)
        bytes.add(target.rootsPEM)
        bytes.add(name)
        bytes.add(authnType.rawValue)
        bytes.add(Int64(algorithm))
        bytes.add(rpId)
        bytes.add(credentialId)
        bytes.add(userHandle)
        bytes.add(startedAt)
        bytes.add(key.external?.uri.text)
        bytes.add(key.external?.facts.kind.rawValue)
        bytes.add(key.external?.facts.publicKey.subjectPublicKeyInfo)
        bytes.add(key.external?.facts.isExportable.map { $0 ? 1 : 0 })
        bytes.add(key.external?.identity?.bytes)
        bytes.add(takesPush ? 1 : 0)
        bytes.add(credentialKey?.subjectPublicKeyInfo)
        bytes.add(Int64(signCount))
        add(state, to: &bytes)
        bytes.add(Int64(ownPINTries.failures))
        bytes.add(ownPINTries.blockedUntil)
        bytes.add(isPINGuessable ? 1 : 0)
        bytes.add(signCountRaise.map { Int64($0.from) })
        bytes.add(signCountRaise.map { Int64($0.to) })
        bytes.add(signCountRaise?.at)
        bytes.add(signCountRaise.map { $0.isElsewhere ? 1 : 0 })
        bytes.add(endReason)
        bytes.add(endedAt)
        bytes.add(journalSequence)
        bytes.add(journalHost)
        bytes.add(sealedKey)
        bytes.add(version)
        bytes.add(pinEpoch)
        return bytes.all
    }

    private func add(_ state: EnrollmentState, to bytes: inout SealedBytes) {
        switch state {
        case .enrolling(let body):
            bytes.add("enrolling")
            bytes.add(body)
        case .active(let membership): add("active", membership, to: &bytes)
        case .suspended(let membership): add("suspended", membership, to: &bytes)
        case .ended(let authenticatorId):
            bytes.add("ended")
            bytes.add(authenticatorId?.text)
        }
    }

    private func add(_ name: String, _ membership: Membership, to bytes: inout SealedBytes) {
        bytes.add(name)
        bytes.add(membership.authenticatorId.text)
        bytes.add(membership.sealedToken)
        bytes.add(membership.enrolledAt)
    }
}

extension PINTries {
    /// Returns the bytes that the seal of a key's tries covers.
    ///
    /// - Parameters:
    ///   - version: the number of times that the row was written.
    ///   - epoch: the number of times that the count fell.
    package func sealedBytes(of key: KeyIdentity, version: Int64, epoch: Int64) -> [UInt8] {
        var bytes = SealedBytes(of: "oob-agent key tries 1")
        bytes.add(key.bytes)
        bytes.add(Int64(failures))
        bytes.add(blockedUntil)
        bytes.add(underWay)
        bytes.add(version)
        bytes.add(epoch)
        return bytes.all
    }
}

/// A list of values, each with its length.
private struct SealedBytes {
    private(set) var all: [UInt8] = []

    init(of kind: String) {
        // Enough for a row of usual size.
        all.reserveCapacity(1_024)
        add(kind)
    }

    mutating func add(_ text: String?) {
        begin(text?.utf8.count)
        if let text { all += text.utf8 }
    }

    mutating func add(_ number: Int64?) {
        begin(number.map { _ in 8 })
        if let number { append(UInt64(bitPattern: number)) }
    }

    mutating func add(_ bytes: [UInt8]?) {
        begin(bytes?.count)
        if let bytes { all += bytes }
    }

    /// Appends whether there is a value, and its length, so that a missing value differs from an empty one.
    private mutating func begin(_ count: Int?) {
        all.append(count == nil ? 0 : 1)
        if let count { append(UInt64(count)) }
    }

    private mutating func append(_ number: UInt64) {
        unsafe withUnsafeBytes(of: number.bigEndian) { unsafe all.append(contentsOf: $0) }
    }
}
