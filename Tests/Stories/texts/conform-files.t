The files of `oob-conform`: cases, and the file of a tested side that `init` writes.

  $ ln -s "$TESTDIR/../../../conformance" conformance
  $ GOOD="$(cat conformance/cases/issuer/approval.yaml)"
  $ mkdir --parents cases/issuer
  $ list() { oob-conform issuer --cases cases --list </dev/null; }
  $ changed() { printf '%s\n' "${GOOD/"$1"/"$2"}" >cases/issuer/one.yaml; list; }
  $ changed 'level: must' 'level: must'
  8  one (must): An honest assertion is accepted, and the purchase is authenticated

# An unknown member is named with its line

  $ changed 'level: must' $'level: must\nbogus: 1'
  oob-conform: cases/issuer/one.yaml:5: bogus: no such member; allowed are title, section, statement, level, needs, steps
  [2]
  $ changed '{request: first}' '{request: first, wrongg: x}'
  oob-conform: cases/issuer/one.yaml:8: wrongg: no such member; did you mean wrong? Allowed are request, decision, reason, wrong, again, replay, jti, token, verified, body
  [2]
  $ changed 'transStatus: Y}' 'transtatus: Y}'
  oob-conform: cases/issuer/one.yaml:9: transtatus: no such member; did you mean transStatus? Allowed are status, code, transStatus, signCount, lists, listsNot, cancels, empty, within, notBefore, same, problems
  [2]

# An unknown step is named

  $ changed '- enroll: {}' '- dance: {}'
  oob-conform: cases/issuer/one.yaml:6: dance: no such member; did you mean cancel? Allowed are discover, keys, options, register, enroll, purchase, poll, fetch, batch, decide, status, unenroll, subscribe, unsubscribe, cancel, outcome, clock, expire, call, expect, cardholder, times
  [2]
  $ changed '- enroll: {}' '- {}'
  oob-conform: cases/issuer/one.yaml:6: a step has one of discover, keys, options, register, enroll, purchase, poll, fetch, batch, decide, status, unenroll, subscribe, unsubscribe, cancel, outcome, clock, expire, call
  [2]

# A wrong value says what is allowed

  $ changed 'decide: {request: first}' 'decide: {request: first, wrong: noSuch}'
  oob-conform: cases/issuer/one.yaml:8: noSuch: allowed are none, badSignature, wrongKey, wrongChallenge, alteredAmount, wrongOrigin, wrongRpIdHash, wrongUserHandle, noUserPresence, noUserVerification, counterRegression, zeroCounter, malformedAssertion, crossOrigin
  [2]
  $ changed 'level: must' 'level: perhaps'
  oob-conform: cases/issuer/one.yaml:4: perhaps: allowed are must, should
  [2]

# A file that is not YAML or not text, or too large, is named

  $ for content in 'a: [' '\xff\xfe' '' 'a: &a [1]\nb: *a\n'; do
  >   printf "$content" >cases/issuer/one.yaml
  >   list || echo "exit status $?"
  > done
  oob-conform: cases/issuer/one.yaml: is not valid YAML: 2:1: error: parser: while parsing a flow node in line 2, column 1: did not find ...
  exit status 2
  oob-conform: cases/issuer/one.yaml: must be UTF-8 text of at most 262144 bytes
  exit status 2
  oob-conform: cases/issuer/one.yaml: is empty
  exit status 2
  oob-conform: cases/issuer/one.yaml: aliases (*name) are not allowed
  exit status 2
  $ head --bytes 300000 /dev/zero | tr '\0' '#' >cases/issuer/one.yaml
  $ list
  oob-conform: cases/issuer/one.yaml: must be UTF-8 text of at most 262144 bytes
  [2]

# A directory of cases that is not there is named

  $ oob-conform issuer --cases /no/such --list
  oob-conform: /no/such/issuer: no such directory of cases; name one with --cases
  [2]

# A file that init writes is one that a run reads

  $ for side in issuer approver; do
  >   oob-conform init "$side" "$side.yaml"
  >   oob-conform init "$side" "$side.yaml" || echo "exit status $?"
  >   oob-conform init "$side" - | cmp - "$side.yaml"
  > done
  oob-conform: issuer.yaml is written: fill in the commands, then run oob-conform issuer --config issuer.yaml
  oob-conform: issuer.yaml: is there already, and is left as it is
  exit status 2
  oob-conform: approver.yaml is written: fill in the commands, then run oob-conform approver --config approver.yaml
  oob-conform: approver.yaml: is there already, and is left as it is
  exit status 2
  $ oob-conform issuer http://localhost:9 --config issuer.yaml </dev/null
  oob-conform: the issuer http://localhost:9 takes no connection
  [2]
