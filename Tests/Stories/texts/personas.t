Personas, rules and tags: who plays the cardholder of a test enrollment.

  $ sandbox --test-clock
  $ cat >config.yaml <<'END'
  > rules:
  >   - name: coffee
  >     when: {merchantName: "Bistro*", currency: USD, maxAmount: 10.00}
  >     then: approve
  >     times: 1
  >   - name: the rest
  >     when:
  >       merchantName: "Bistro*"
  >     then: deny
  > END
  $ agent --persona-tags true --config "$PWD/config.yaml"
  $ payer() { enroll --authn-type test "$@" >/dev/null 2>&1; }
  $ ended() { curl --silent --show-error "$ISSUER/sandbox/purchases/$1?wait=60" | field .status; }
  $ explained() { oobctl explain "$1" --json | jq -c 'del(.request, .enrollment, .at)'; }

# Each persona has its page, and each page its persona

  $ pages="$TESTDIR/../../../docs/reference/personas"
  $ oobctl persona list --json | field '.known[].name' | sort >known
  $ diff known <(basename -s .md "$pages"/*.md | grep -v README | sort)
  $ while read -r name; do
  >   head -n 1 "$pages/$name.md" | grep -v "^# $name$"
  >   grep -qF "| [\`$name\`]($name.md) | " "$pages/README.md" || echo "README.md has no $name"
  > done <known

# A persona that is set is listed until it is cleared

  $ payer --name listed --persona autoApprove --times 3 --delay 1
  $ oobctl persona list --json | jq -c '.set[]'
  {"delay":1,"enrollment":"<id 1>","persona":"autoApprove","played":0,"seen":0,"times":3}
  $ oobctl persona clear --enrollment listed --json
  {"enrollment":"<id 1>","wasSet":true}
  $ oobctl persona clear --enrollment listed --json
  {"enrollment":"<id 1>","wasSet":false}
  $ oobctl persona list --json | jq -c .set
  []

# A persona is for test enrollments alone

  $ enroll --authn-type presence --name person
  <id 2>
  Enrolled at http://localhost:<port> as person.
  $ oobctl persona set badSignature --enrollment person
  Error: persona: goes with authnType test only; this enrollment is of authnType presence
  [64]

The code of an enrollment that is refused is not used up.

  $ code="$(code)"
  $ oobctl enroll --issuer "$ISSUER" --code "$code" --authn-type presence --persona ask
  Error: persona: goes with authnType test only; this enrollment is of authnType presence
  [64]
  $ oobctl enroll --issuer "$ISSUER" --code "$code" --authn-type test --persona ask --name asked
  <id 3>
  Enrolled at http://localhost:<port> as asked.
  Warning: enrollment <id 3> is a test authenticator

# A key that the agent did not make is not played with

  $ (umask 077 && openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out own.key)
  $ payer --name own --key-uri "file:$PWD/own.key"
  $ oobctl persona set badSignature --enrollment own
  Error: enrollment <id 4> is of authnType test: personas are for enrollments of authnType test, with a key of the agent's own
  [64]

# A persona that there is not is told with those that there are

  $ oobctl persona set badSignatur --enrollment listed
  Error: persona: there is none of this name; did you mean badSignature? Allowed are ask, autoApprove, autoDeny, denyAsFraud, neverAnswers, badSignature, wrongKey, wrongChallenge, oldAssertion, alteredAmount, wrongOrigin, wrongRpIdHash, wrongUserHandle, noUserPresence, noUserVerification, counterRegression, zeroCounter, malformedAssertion, crossOrigin, answersTwice, approvesThenDenies, answersAfterExpiry, crashesAfterSigning, floodsFetch, disappears
  [64]
  $ result oobctl persona set ask --enrollment listed --odds 1.5
  [64] Error: --odds takes a number above 0 and at most 1.
  $ result oobctl persona set ask --enrollment listed --times 0
  [64] Error: times: must be a whole number from 1 to 1000000
  $ result oobctl persona set ask --enrollment listed --delay 90000
  [64] Error: delay: must be a whole number from 0 to 86400
  $ result oobctl persona set ask --enrollment nobody
  [3] Error: there is no enrollment nobody
  $ oobctl persona list --json | jq -c '[.set[].enrollment]'
  ["<id 3>"]
  $ oobctl persona set ask --enrollment listed --odds 0.25 --json
  {"delay":0,"enrollment":"<id 1>","odds":0.25,"persona":"ask","played":0,"seed":0,"seen":0}

# A persona answers as often as it was set for

  $ payer --name once --persona autoApprove --times 1
  $ ended "$(purchase)"
  authenticated
  $ acs="$(requested)"
  $ explained "$acs"
  {"acsTransId":"<uuid 1>","by":"nobody","reason":"the persona has answered the 1 requests that it was set for; coffee: merchantName does not match; the rest: merchantName does not match","settled":true}

A person may decide it.

  $ oobctl deny --delivery-timeout 60 "$acs"
  Denied USD 1.00 to CoffeeHouse2: the issuer took it (transStatus N). The request has no return URL.
  $ ended "$acs"
  notAuthenticated

# The journal says who decided

  $ payer --name fraud --persona denyAsFraud
  $ ended "$(purchase)"
  notAuthenticated
  $ journal decided | tail -n 1 | jq -c '[.by, .persona, .shown, .reason]'
  ["persona","denyAsFraud","nothing","suspectedFraud"]
  $ oobctl audit verify >/dev/null

# A request that came before the persona is left to a person

  $ payer --name later
  $ acs="$(requested)"
  $ oobctl persona set autoDeny --enrollment later
  <id 5> autoDeny
  $ approve "$acs"
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ ended "$acs"
  authenticated

# A transaction may name its persona

  $ payer --name tagged --persona autoApprove
  $ ended "$(purchase --merchant 'Shop [persona:autoDeny]')"
  notAuthenticated
  $ tagged() { post purchases "{\"oobPersona\": \"$1\"}" | field .acsTransId; }
  $ acs="$(tagged denyAsFraud)"
  $ ended "$acs"
  notAuthenticated
  $ explained "$acs"
  {"acsTransId":"<uuid 2>","by":"tag","persona":"denyAsFraud","reason":"the transaction names the persona denyAsFraud","settled":true}
  $ acs="$(tagged denyAsFruad)"
  $ until_true has_request "$acs"
  $ explained "$acs"
  {"acsTransId":"<uuid 3>","by":"nobody","reason":"the transaction names a persona that there is not; did you mean denyAsFraud? Allowed are ask, autoApprove, autoDeny, denyAsFraud, neverAnswers, badSignature, wrongKey, wrongChallenge, oldAssertion, alteredAmount, wrongOrigin, wrongRpIdHash, wrongUserHandle, noUserPresence, noUserVerification, counterRegression, zeroCounter, malformedAssertion, crossOrigin, answersTwice, approvesThenDenies, answersAfterExpiry, crashesAfterSigning, floodsFetch, disappears","settled":true}
  $ approve "$acs"
  Approved USD 1.00 to Sandbox Shop: the issuer took it (transStatus Y). The request has no return URL.
  $ ended "$acs"
  authenticated
  $ ended "$(purchase)"
  authenticated

# A rule is for test enrollments alone

  $ enroll --authn-type presence --name another
  <id 6>
  Enrolled at http://localhost:<port> as another.
  $ acs="$(requested --merchant Bistro)"
  $ explained "$acs"
  {"acsTransId":"<uuid 4>","by":"nobody","reason":"only enrollments of authnType test are played; this is presence","settled":false}
  $ approve "$acs"
  Approved USD 1.00 to Bistro: the issuer took it (transStatus Y). The request has no return URL.
  $ ended "$acs"
  authenticated

# Rules decide, each as often as it says

  $ payer --name ruled
  $ acs="$(purchase --merchant Bistro --amount 1001)"
  $ ended "$acs"
  notAuthenticated
  $ explained "$acs"
  {"acsTransId":"<uuid 5>","by":"rule","persona":"autoDeny","reason":"no persona is set; coffee: the amount is above maxAmount; the rest: all its conditions hold","rule":"the rest","settled":true}
  $ ended "$(purchase --merchant Bistro --amount 1000)"
  authenticated
  $ ended "$(purchase --merchant Bistro --amount 1000)"
  notAuthenticated

# A bad file keeps the old rules

  $ sed -i 's/then: deny/then: dny/' config.yaml
  $ oobctl rules reload
  Error: the rules stay as they were: <folder>/config.yaml:9: then: did you mean deny? Allowed are approve, deny, ask
  [64]
  $ ended "$(purchase --merchant Bistro --amount 1001)"
  notAuthenticated

# A signal has the agent read its rules again

  $ echo 'rules: []' >config.yaml
  $ kill -HUP "$agent_pid"
  $ until_true grep 'the settings were reloaded' agent.log
  $ acs="$(requested --merchant Bistro)"
  $ explained "$acs"
  {"acsTransId":"<uuid 6>","by":"nobody","reason":"no persona is set, and there are no rules","settled":true}
  $ approve "$acs"
  Approved USD 1.00 to Bistro: the issuer took it (transStatus Y). The request has no return URL.
  $ ended "$acs"
  authenticated
  $ oobctl explain --all --limit 1000 --json | jq -c --arg acs "$acs" '.[] | select(.acsTransId == $acs) | .by'
  "nobody"

# A page of explanations leads to the next page of explanations

  $ curl --silent --dump-header - --output /dev/null --unix-socket control.sock --header 'Connection: close' \
  >   'http://agent/v1/explanations?all=true&limit=1' | grep -i '^link:' | sed 's/=[0-9a-z]*>/=…>/' | tr -d '\r'
  Link: </v1/explanations?all=true&limit=1&before=…>; rel="next"

# The recipe for any other language works

  $ stop_agent
  $ rm -r state
  $ agent --test-clock
  $ payer --name payer
  $ recipe="$(grep '^oobctl \(persona set\|fetch\) ' "$TESTDIR/../../../docs/how-to/test-suites.md")"
  $ echo "$recipe"
  oobctl persona set badSignature --enrollment "$enrollment"
  oobctl fetch && oobctl clock advance 10m && oob-issuer clock advance 10m --issuer "$issuer"
  $ export enrollment=payer issuer="$ISSUER"
  $ bash -euc "$(sed -n 1p <<<"$recipe")"
  <id 7> badSignature
  $ acs="$(purchase --expires-in 600)"
  $ bash -euc "$(sed -n 2p <<<"$recipe")" | grep -v ' pending$'
  Now: <time>
  Clock: a test's, 10m ahead of the machine's
  <time>, a test's clock, 10m ahead of the machine's
  $ ended "$acs"
  expired
