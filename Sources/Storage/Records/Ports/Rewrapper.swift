/// Reencrypts values under the present secret that are still under the previous one; no PIN is needed.
///
/// Each value is under one of the two secrets, and both are tried. So an interrupted run is completed by another one.
package protocol Rewrapper: Sendable {
    /// Returns an access token under the present secret, or `nil` if it is already.
    func token(_ sealed: [UInt8], of name: EnrollmentID) throws -> [UInt8]?
    /// Returns the key of a push subscription under the present secret, or `nil` if it is already.
    func pushKey(_ sealed: [UInt8], of name: EnrollmentID) throws -> [UInt8]?
    /// Returns the data key of an enrollment under the present secret, or `nil` if it is already.
    func dataKey(_ sealed: [UInt8], of name: EnrollmentID) throws -> [UInt8]?
    /// Returns the key of an enrollment under the present secret, or `nil` if it is already.
    func key(_ sealed: [UInt8], of name: EnrollmentID) throws -> [UInt8]?
    /// Returns the audit key under the present secret, or `nil` if it is already.
    func auditKey(_ sealed: [UInt8]) throws -> [UInt8]?
    /// Returns the key of the ``RowSum`` hashes under the present secret, or `nil` if it is already.
    func rowKey(_ sealed: [UInt8]) throws -> [UInt8]?
}
