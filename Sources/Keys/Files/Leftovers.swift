import Glibc

extension DurableFile {
    /// Removes what a crash in the middle of `write` left in a directory: files under temporary names.
    ///
    /// Only for a directory in which nobody writes at the moment. One that is not there holds none.
    package static func removeLeftovers(in directory: String) throws(FileError) {
        guard !directory.utf8.contains(0) else { throw FileError(path: directory, reason: .unusablePath) }
        for name in try names(in: directory) where name.hasPrefix(TemporaryFile.prefix) {
            try remove(directory + "/" + name)
        }
    }

    private static func names(in path: String) throws(FileError) -> [String] {
        guard let directory = unsafe opendir(path) else {
            let error = FileError.afterCall("opendir", path: path)
            if error.reason == .missing { return [] }
            throw error
        }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            names.append(name)
        }
        return names
    }
}
