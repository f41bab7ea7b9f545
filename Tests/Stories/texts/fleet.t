Many enrollments at once: made by one command that may be interrupted, from a list of codes.

Only their owner may read the codes.

  $ umask 077
  $ sandbox
  $ agent
  $ words=(oobctl enroll --issuer "$ISSUER" --authn-type test --code-file codes --count)
  $ fleet() { "${words[@]}" "$@" </dev/null; }

# A list that does not hold the codes is refused before anything is sent

  $ refused() { printf "$1" >codes; result fleet 3; }
  $ refused ''
  [64] Error: --code-file: codes has 0 lines, and --count 3 takes a code in each of 3.
  $ refused 'A\nB\n\n'
  [64] Error: --code-file: codes has 2 lines, and --count 3 takes a code in each of 3.
  $ refused 'A\n\nC\n'
  [64] Error: --code-file: codes has no code in line 2: it has 0 bytes; a code has 1 to 256 bytes.
  $ refused "A\nB\n$(printf 'q%.0s' {1..257})"
  [64] Error: --code-file: codes has no code in line 3: it has 257 bytes; a code has 1 to 256 bytes.
  $ refused 'A\noob-enroll:?issuer=x&code=B\nC\n'
  [64] Error: --code-file: codes has no code in line 2: it is a link; a code has 1 to 256 bytes.
  $ refused 'A\nB\n\xe6\n'
  [64] Error: --code-file: codes is not UTF-8 in line 3.
  $ refused '\xff\xfeA\0\n\0B\0\n\0C\0\n\0'
  [64] Error: --code-file: codes is UTF-16: save it as UTF-8.
  $ head -c 16777217 /dev/zero | tr '\0' A >codes
  $ result fleet 3
  [64] Error: --code-file: codes has 1 lines, and --count 3 takes a code in each of 3.
  $ printf 'A\nB\nC\n' >codes
  $ chmod 640 codes
  $ result fleet 3
  [64] Error: --code-file: codes has mode 0640, so others than its owner may use it: chmod 600 makes it private.
  $ rm codes

# Wrong usage is told before anything is done

  $ fleet 0
  Error: --count takes 1 to 100000.
  Usage: oobctl enroll --issuer <url> --code-file <file> [<options>]
         oobctl enroll --issuer <url> --code <code> [<options>]
         oobctl enroll 'oob-enroll:?issuer=…&code=…' [<options>]
         oobctl enroll --issuer <url> --count <n> --code-file <file> [<options>]
    See 'oobctl enroll --help' for more information.
  [64]
  $ result fleet 100001
  [64] Error: --count takes 1 to 100000.
  $ result fleet 2 --code x
  [64] Error: --count takes --issuer and --code-file, and no other code or link.
  $ result fleet 2 --key-uri file:/x
  [64] Error: --key-uri is one enrollment's key: it does not go with --count.
  $ result fleet 2 --seed 1
  [64] Error: --delay, --times, --odds and --seed go with --persona.
  $ result fleet 2 --name "$(printf 'x%.0s' {1..250})"
  [64] Error: With --count, --name takes 1 to 249 bytes.
  $ result fleet 2 --code-file - --authn-type pin --pin-file -
  [64] Error: Standard input holds the code or the PIN: name a file for the other.
  $ result oobctl enroll --count 2
  [64] Error: --count takes --issuer and --code-file, and no other code or link.
  $ for count in 0 100001 two; do result issuer code --count "$count"; done
  [64] Error: --count must be 1 to 100000
  [64] Error: --count must be 1 to 100000
  [64] Error: The value 'two' is invalid for '--count <n>'
  $ for since in 0s -1h 401d yesterday; do result oobctl fleet report --since="$since"; done
  [64] Error: --since: must be 1s to 400d, in whole numbers with the units d, h, m and s, such as 10m or 1h30m
  [64] Error: --since: must be 1s to 400d, in whole numbers with the units d, h, m and s, such as 10m or 1h30m
  [64] Error: --since: must be 1s to 400d, in whole numbers with the units d, h, m and s, such as 10m or 1h30m
  [64] Error: --since: must be 1s to 400d, in whole numbers with the units d, h, m and s, such as 10m or 1h30m
  $ oobctl enrollments

# A run that was interrupted goes on and spends no code of what is there

  $ issuer code --count 21 >all
  $ sed '7s/.*/AAAA-AAAA/' all >codes
  $ fleet 20
  2 of 20 are enrolled.
  4 of 20 are enrolled.
  6 of 20 are enrolled.
  6 of 20 are there; the same command again goes on with the rest.
  Error: fleet-00007 (line 7 of codes): the issuer http://localhost:<port> does not accept the enrollment code: it is mistyped, was used before (a code is good for one enrollment), or is too old. Ask the issuer for a new one, and enroll again with it
  [9]

The codes of the six that are there were good once. A signal comes while the issuer keeps the run waiting.

  $ sed '1,6s/.*/SPENT/' all >codes
  $ is_called() { [[ -z "$(issuer faults list)" ]]; }
  $ stopped() {
  >   issuer faults set --next path=enrollmentOptions,kind=slow,milliseconds=60000 >/dev/null
  >   env --default-signal=INT "${words[@]}" 20 </dev/null 2>&1 &
  >   until_true is_called
  >   kill "-$1" "$!"
  >   wait "$!" 2>/dev/null
  > }
  $ stopped INT
  6 of 20 are there already; the run goes on with the rest.
  6 of 20 are there; the same command again goes on with the rest.
  Error: Interrupted.
  [1]
  $ stopped KILL
  6 of 20 are there already; the run goes on with the rest.
  [137]
  $ fleet 20 --json
  {"before":6,"count":20,"made":14,"waiting":0}

Each name is there once, and the issuer has the same enrollments.

  $ enrollments() { oobctl enrollments --json | field ".[] | $1" | sort; }
  $ diff <(enrollments .name) <(seq -f 'fleet-%05g' 20)
  $ enrollments .state | uniq -c
       20 active
  $ at_issuer() { curl --silent --show-error "$ISSUER/sandbox/authenticators" | field '.[].id' | sort; }
  $ diff <(enrollments .authenticatorId) <(at_issuer)

Another run asks for nothing, though all its codes are good. A greater count takes the lines after those.

  $ issuer code --count 20 >codes
  $ tail -n 1 all >>codes
  $ fleet 20
  20 of 20 are there already; the run goes on with the rest.
  20 are enrolled: 20 were there before, 0 were made.
  $ diff <(enrollments .authenticatorId) <(at_issuer)
  $ fleet 21 --json
  {"before":20,"count":21,"made":1,"waiting":0}

# What the issuer has not answered is waited for and not made again

  $ issuer code --count 3 >codes
  $ issuer faults set --next path=enroll,kind=drop,moment=after,times=3
  next: path=enroll,kind=drop,moment=after,times=3
  $ "${words[@]}" 3 --name late </dev/null >/dev/null 2>&1 &
  $ has_begun() { enrollments .name | grep late; }
  $ until_true has_begun
  $ { kill -KILL "$!" && wait "$!"; } 2>/dev/null
  [137]
  $ fleet 3 --name late --json | jq -c '[.count, .before + .made, .waiting]'
  [3,3,0]
  $ enrollments .state | uniq -c
       24 active
  $ diff <(enrollments .authenticatorId) <(at_issuer)

# Codes come from standard input too, whatever ends their lines

  $ issuer code --count 2 >all
  $ (printf '\ufeff'; printf '%s \r\n' $(<all); printf '\n\n') | "${words[@]}" 2 --code-file - --name piped
  1 of 2 are enrolled.
  2 of 2 are enrolled.
  2 are enrolled: 0 were there before, 2 were made.
  $ enrollments .name | grep piped
  piped-00001
  piped-00002

# A name of something else is not taken for one of the run

  $ fleet 2 --authn-type presence
  Error: fleet-00001 is an enrollment of authnType test: choose another --name, or unenroll it first.
  [64]
  $ fleet 2 --issuer http://localhost:1
  Error: fleet-00001 is an enrollment at another issuer, http://localhost:<port>: choose another --name, or unenroll it first.
  [64]

# The report counts what was played

  $ stop_agent
  $ rm -r state
  $ sandbox
  $ agent
  $ words=(oobctl enroll --issuer "$ISSUER" --authn-type test --code-file codes --count)

Of ten, four are approved, three are denied, and three wait for whoever decides them.

  $ played() { issuer code --count "$1" >codes && fleet "$@" 2>/dev/null; }
  $ played 4 --name approve --persona autoApprove --json
  {"before":0,"count":4,"made":4,"waiting":0}
  $ played 3 --name deny --persona autoDeny --json
  {"before":0,"count":3,"made":3,"waiting":0}
  $ played 3 --name wait --json
  {"before":0,"count":3,"made":3,"waiting":0}
  $ oobctl fleet report --json | jq -c '.cut, .all'
  false
  {"delivery":{},"enrollments":10,"requests":0,"states":{},"transStatus":{}}
  $ python3 -B "$TESTDIR/../../../Benchmarks/purchases.py" --issuer "$ISSUER" --rate 20 --for 1 --drain 0 >load
  > jq -c '[.started, .refused, (.outcomes | add)]' load
  [20,{},20]
  $ are_decided() { oobctl fleet report --json | jq -e '.all.transStatus == {"Y": 8, "N": 6}'; }
  $ until_true are_decided
  $ oobctl fleet report --since 1h --json >report
  $ jq -c '.all, .personas[] | {persona, enrollments, requests, states, delivery, transStatus}' report
  {"persona":null,"enrollments":10,"requests":20,"states":{"approved":8,"denied":6,"pending":6},"delivery":{"delivered":14,"none":6},"transStatus":{"N":6,"Y":8}}
  {"persona":"autoApprove","enrollments":4,"requests":8,"states":{"approved":8},"delivery":{"delivered":8},"transStatus":{"Y":8}}
  {"persona":"autoDeny","enrollments":3,"requests":6,"states":{"denied":6},"delivery":{"delivered":6},"transStatus":{"N":6}}
  {"persona":null,"enrollments":0,"requests":6,"states":{"pending":6},"delivery":{"none":6},"transStatus":{}}
  $ jq -c '.all, .personas[] | .latencySeconds | . and (0 <= .p50 and .p50 <= .p90 and .p90 <= .p99 and .p99 <= .max)' report
  true
  true
  true
  false
  $ oobctl fleet report | sed 's/ *P50 .*//; s/ *[0-9]* s .*//'
  PERSONA      ENROLLMENTS  REQUESTS  PENDING  APPROVED  DENIED  EXPIRED  CANCELLED  REFUSED  Y  N  FAILED
  autoApprove  4            8         0        8         0       0        0          0        8  0  0
  autoDeny     3            6         0        0         6       0        0          0        0  6  0
  (nobody)     0            6         6        0         0       0        0          0        0  0  0
  all          10           20        6        8         6       0        0          0        8  6  0
