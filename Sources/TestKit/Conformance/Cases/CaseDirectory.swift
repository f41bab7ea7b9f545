import FoundationEssentials

/// A directory of case files, one `.yaml` for each case.
package struct CaseDirectory: Sendable {
    /// The limit of files; more are an error, because the path is probably wrong.
    package static let maxFiles = 5_000

    package let path: String

    package init(_ path: String) { self.path = path }

    /// Returns the default directory of cases: beside the installed program, or else in a checkout.
    ///
    /// - Returns: `nil` if there is none in either place.
    package static func standard(program: String) -> String? {
        let installed = URL(filePath: program).deletingLastPathComponent()
            .appending(path: "../share/oob-testkit/conformance/cases").standardized.path
        return [installed, "conformance/cases"].first { FileManager.default.fileExists(atPath: $0) }
    }

    /// Reads the files of `side` and of its subdirectories, in the order of their paths.
    ///
    /// - Throws: `CaseFileError` if there are none, one cannot be read, or two have the same name.
    package func files(of side: String) throws(CaseFileError) -> [(name: String, node: CaseNode)] {
        let directory = "\(path)/\(side)"
        guard let found = try? FileManager.default.subpathsOfDirectory(atPath: directory) else {
            throw CaseFileError("\(directory): no such directory of cases; name one with --cases")
        }
        let paths = found.filter { $0.hasSuffix(".yaml") }
        guard paths.count <= Self.maxFiles else {
            throw CaseFileError("\(directory): has more than \(Self.maxFiles) files")
        }
        guard !paths.isEmpty else { throw CaseFileError("\(directory): has no case, a file NAME.yaml") }
        var files: [(name: String, node: CaseNode)] = []
        var names: Set<String> = []
        for path in paths.sorted() {
            let name = String((path.split(separator: "/").last ?? "").dropLast(".yaml".count))
            guard names.insert(name).inserted else {
                throw CaseFileError("\(directory)/\(path): another case has this name")
            }
            files.append((name, try Self.node(at: "\(directory)/\(path)")))
        }
        return files
    }

    /// Reads one YAML file.
    package static func node(at path: String) throws(CaseFileError) -> CaseNode {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else {
            throw CaseFileError("\(path): cannot be read")
        }
        return try CaseNode([UInt8](data), path: path)
    }
}
