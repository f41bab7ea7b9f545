import Sandbox
import Testing

@Suite struct FaultSpecTests {
    @Test(arguments: [
        "500=1", "500=0", "500=0.000001", "500=1.000000", "503=0.05", "503-retry-after=0.05:1s",
        "503-retry-after=1:0s", "503-retry-after=1:3600s", "slow=0.1:200ms", "slow=1:1ms", "slow=1:60s",
        "slow=1:60000ms", "duplicate=1,reorder=1,slow=1:1s,500=1", "full-list=1,full-list-moving=0.5", "500=1,seed=0",
        "500=1,seed=18446744073709551615",
        "500=1,path=decision", "seed=1,path=decision|fetch,500=1",
        "drop-before=0.1,drop-after=0.1,500=0.1,503=0.1,503-retry-after=0.1:1s,garbage=0.1,truncated=0.2,endless=0.2",
    ])
    func `a specification in order is taken`(text: String) throws {
        _ = try FaultSpec(text)
    }

    @Test(arguments: [
        ("", "\"\" must be NAME=VALUE"), ("500", "\"500\" must be NAME=VALUE"), ("500=0.1,", "\"\" must be NAME=VALUE"),
        ("500=", "500: must be odds"), ("500=2", "500: must be odds"), ("500=1.000001", "500: must be odds"),
        ("500=-0.1", "500: must be odds"), ("500=.1", "500: must be odds"), ("500=0.", "500: must be odds"),
        ("500=0.0000001", "at most six decimals"), ("500=1e-1", "500: must be odds"), ("500=00.1", "500: must be odds"),
        ("500=0.1:1s", "500: must be odds"), ("500= 0.1", "500: must be odds"), ("500=٠", "500: must be odds"),
        (" 500=0.1", "no such name"), ("teapot=1", "teapot: no such name; allowed are slow, drop-before"),
        ("typo=1", "typo: no such name; allowed are"),
        ("slwo=1:1s", "slwo: no such name; did you mean slow? Allowed are slow, drop-before"),
        ("dropafter=1", "did you mean drop-after?"), ("garbge=1", "did you mean garbage?"),
        ("501=1", "did you mean 500?"),
        ("=1", ": no such name; allowed are"), ("x=1", "x: no such name; allowed are"),
        ("500=0.1,500=0.1", "500: is set twice"), ("full-list=2", "full-list: must be odds"),
        ("500=0.1,seed=1,seed=1", "seed: is set twice"),
        ("slow=0.1", "slow: must be ODDS:TIME"), ("slow=0.1:", "1ms to 60s"), ("slow=0.1:0ms", "1ms to 60s"),
        ("slow=0.1:60001ms", "1ms to 60s"), ("slow=0.1:61s", "1ms to 60s"), ("slow=0.1:1", "1ms to 60s"),
        ("slow=0.1:1m", "1ms to 60s"), ("slow=0.1:-1s", "1ms to 60s"), ("slow=2:1s", "slow: must be odds"),
        ("503-retry-after=0.1", "503-retry-after: must be ODDS:TIME"),
        ("503-retry-after=0.1:200ms", "whole seconds"), ("503-retry-after=0.1:3601s", "0s to 3600s"),
        ("500=0.1,seed=-1", "seed: must be a whole number"), ("500=0.1,seed=", "seed: must be a whole number"),
        ("500=0.1,seed=18446744073709551616", "from 0 to 18446744073709551615"),
        ("500=0.1,path=", "path: must be names joined by |"), ("500=0.1,path=decision|", "path: must be names"),
        ("500=0.1,path=decision|decision", "each once"), ("500=0.1,path=sandbox", "of discovery, jwks"),
        ("seed=1", "no kind of fault is named"), ("path=fetch", "no kind of fault is named"),
        ("drop-after=0.5,garbage=0.5,endless=0.000001", "must not be more than 1"),
    ])
    func `anything else is refused with what is wrong in it`(text: String, complaint: String) {
        #expect(throws: FaultSpec.ParseError.self) { try FaultSpec(text) }
        do {
            _ = try FaultSpec(text)
        } catch {
            #expect(error.description.contains(complaint), "\(error)")
        }
    }

    @Test func `the help names every kind and every call`() {
        let kinds = [
            "slow", "drop-before", "drop-after", "500", "503", "503-retry-after", "garbage", "truncated", "endless",
            "duplicate", "reorder", "full-list", "full-list-moving", "seed", "path",
        ]
        for name in kinds + FaultPoint.allCases.map(\.rawValue) {
            #expect(FaultSpec.help.contains(name), "\(name)")
        }
    }

    @Test func `its example is in order`() throws {
        let example = try #require(FaultSpec.help.split(separator: " ").last)
        _ = try FaultSpec(String(example.dropLast()))
    }
}

@Suite struct SplitMix64Tests {
    /// Of Vigna's reference implementation in C, https://prng.di.unimi.it/splitmix64.c.
    @Test func `the numbers of seed 1234567 are those of the reference implementation`() {
        var generator = SplitMix64(seed: 1_234_567)
        #expect(
            (0..<5).map { _ in generator.next() } == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
                4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
            ])
    }
}
