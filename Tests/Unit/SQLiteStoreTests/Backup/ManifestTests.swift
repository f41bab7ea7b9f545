import Testing

@testable import SQLiteBackup

struct ManifestTests {
    private let sample: SampleState

    init() throws { sample = try SampleState() }

    private func refusal(setting name: String, to value: String) async throws -> RestoreError? {
        let sql = "UPDATE manifest SET value = '\(value)' WHERE name = '\(name)'"
        return try sample.refusal(of: sample.altered(try await sample.backup(), by: sql))
    }

    @Test(arguments: ["\u{1B}[2J", "a\nb", "\u{202E}", "\u{7F}"])
    func `text that a terminal would obey is refused`(text: String) async throws {
        let error = try await refusal(setting: "version", to: text)
        guard case .damaged(_, "its manifest cannot be read") = error else {
            throw SampleError("\(error, default: "nil")")
        }
    }

    @Test func `a time of another form is refused`() async throws {
        let error = try await refusal(setting: "created_at", to: "2023-11-14T22:13:20")
        guard case .damaged(_, "its manifest cannot be read") = error else {
            throw SampleError("\(error, default: "nil")")
        }
    }

    @Test func `another form is a newer version's`() async throws {
        let error = try await refusal(setting: "form", to: "2")
        guard case .newer(_, "its form is 2") = error else { throw SampleError("\(error, default: "nil")") }
    }

    @Test func `a manifest that is a view, or has other columns, is not read`() async throws {
        let bytes = try await sample.backup()
        for sql in [
            "DROP TABLE manifest; CREATE VIEW manifest AS SELECT 'form' AS name, '1' AS value",
            "DROP TABLE manifest; CREATE TABLE manifest (name, value)", "DROP TABLE manifest",
            "DELETE FROM manifest", "DELETE FROM manifest WHERE name = 'digest'",
        ] {
            let error = try sample.refusal(of: sample.altered(bytes, by: sql))
            guard case .damaged(_, let fault) = error, fault.contains("manifest") else {
                throw SampleError("\(sql): \(error, default: "nil")")
            }
        }
    }
}
