package import Keys
package import Records

extension JournalMark {
    package func isSigned(by key: PublicKey, as name: Name) throws -> Bool {
        guard let signature else { return false }
        return try key.isValid(signature: signature, over: JournalStatement(name, point).bytes)
    }
}

extension JournalCheckpoint {
    func isSigned(by key: PublicKey) throws -> Bool {
        try key.isValid(signature: signature, over: JournalStatement(checkpoint: point, earlier: earlier).bytes)
    }
}
