`oob-conform issuer` against the sandbox, which is in order, is given wrong commands, or fails on purpose.

  $ ln -s "$TESTDIR/../../../conformance" conformance
  $ cases="$(ls conformance/cases/issuer/*.yaml | wc -l)"
  $ sandbox --test-clock
  $ judge() {
  >   oob-conform issuer "$ISSUER" --config conformance/tested/oob-issuer.yaml --seed 7 "$@" </dev/null |
  >     sed -E 's/, [0-9.]+ s$/, <seconds>/'
  > }

# The sandbox passes every case

  $ judge --json all.json --junit all.xml --html all.html --badge badge.md | tail -n 1 | sed "s/^$cases /all /"
  all passed, 0 failed; seed 7, <seconds>
  $ jq --compact-output --argjson cases "$cases" \
  >   '[.seed, ([.cases[].verdict] | unique), (.cases | length) == $cases]' all.json
  ["7",["passed"],true]
  $ python3 -c 'import xml.etree.ElementTree as xml
  > print(len(list(xml.parse("all.xml").getroot().iter("testcase"))))' | sed "s/^$cases$/all/"
  all
  $ grep --only-matching 'testsuites .* tests="[0-9]*"' all.xml | sed "s/\"$cases\"/all/"
  testsuites name="oob-conform issuer" tests=all

The page of HTML loads nothing, and the badge counts the rules that an issuer must keep.

  $ grep --count --extended-regexp '(src|href)=' all.html
  0
  [1]
  $ musts="$(jq '[.cases[] | select(.level == "must")] | length' all.json)"
  $ grep --only-matching ': [0-9]* of [0-9]* musts' badge.md | sed "s/ $musts / all /g"
  : all of all musts

# A case runs alone

  $ judge --case counter-regression
  section  passed  failed  not shown
  8             1       0          0
  
  1 passed, 0 failed; seed 7, <seconds>

# A section takes those within it

  $ oob-conform issuer --section 4 --list | cut --delimiter ' ' --fields 1 | sort --unique
  4.1
  4.2
  4.3

# A seed gives the same order again

  $ order() { judge --section 3 --section 14 --jobs 1 --seed "$1" --json - | jq --compact-output .order; }
  $ order 1 >first && order 1 >again && order 2 >other
  $ cmp first again
  $ cmp --silent first other
  [1]

# A case without its command is not shown, and a run that shows nothing has not passed

  $ sed '/^cancel:/,/^clock:/ { /^clock:/!d }' conformance/tested/oob-issuer.yaml >short.yaml
  $ judge --config short.yaml --case cancel-listed --case approval
  section  passed  failed  not shown
  8             0       0          1
  9             0       0          1
  
  Not shown:
    approval: there is no command for `outcome`, and `purchase` does not print a transStatus
    cancel-listed: there is no command for `cancel`
  
  0 passed, 0 failed, 2 not shown; seed 7, <seconds>
  [2]

# A failed case says what was accepted and shows the exchange

The purchase has another amount than the one that was asked for.

  $ sed 's/dict(i\["transaction"\])/dict(i["transaction"], purchaseAmount="999")/' conformance/tested/oob-issuer.yaml \
  >   >wrong.yaml
  $ judge --config wrong.yaml --case approval --json wrong.json
  section  passed  failed  not shown
  8             0       1          0
  
  Failed:
    approval: asked for purchaseAmount 999 where the purchase has 100; section 6
  
  0 passed, 1 failed; seed 7, <seconds>
  [1]
  $ jq --raw-output '.cases[].exchanges[].sent' wrong.json | sort --unique
  GET http://localhost:<port>/.well-known/oob-authenticator
  GET http://localhost:<port>/jwks.json
  GET http://localhost:<port>/v1/authn-requests
  POST http://localhost:<port>/v1/enrollment-options
  POST http://localhost:<port>/v1/enrollments
  the command for `code`
  the command for `purchase`
  $ grep --only-matching 'accessToken[^,}]*' wrong.json | sort --unique
  accessToken\":\"(redacted)\"

# A command that fails is named and is no pass

  $ for command in false 'kill -9 $$' true "echo '{\"x\": 1}'" 'head -c 2000000 /dev/zero'; do
  >   judge --code-command "$command" --case approval | grep approval: || echo "exit status $?"
  > done
    approval: the command for `code` exited with status 1
  exit status 2
    approval: the command for `code` was ended by signal 9
  exit status 2
    approval: the command for `code` printed no enrollment code: 
  exit status 2
    approval: the command for `code` printed no enrollment code: {"x": 1}
  exit status 2
    approval: the command for `code` printed more than 1048576 bytes
  exit status 2

# A purchase command that does nothing fails the case

  $ judge --purchase-command true --case request
  section  passed  failed  not shown
  6             0       1          0
  
  Failed:
    request: listed no request with the acsTransId <uuid 1> within 15 s of the purchase; section 5
  
  0 passed, 1 failed; seed 7, <seconds>
  [1]

# No form of the outcome has a code of the run or a command's text

  $ judge --code-command "PASSWORD=hunter2-of-the-bank; printf 'Qk3x/9fL+m2V\\n'" --section 4 --json secret.json \
  >   --junit secret.xml --html secret.html >secret.txt 2>&1
  [1]
  $ grep --extended-regexp 'Qk3x|9fL|m2V|hunter2' secret.*
  [1]
  $ for word in 'the command for' '(redacted)' invalid_enrollment_code; do
  >   grep --files-with-matches "$word" secret.*
  > done
  secret.html
  secret.json
  secret.xml
  secret.html
  secret.json
  secret.xml
  secret.html
  secret.json
  secret.txt
  secret.xml

# A run whose time is over says what was not run

The command leaves its process group and keeps its output open, so killing it does not end it.

  $ judge --purchase-command 'setsid sleep 55' --time-limit 2 --jobs 64 --section 8 --json late.json |
  >   grep --only-matching 'the run was over after.*' | uniq
  the run was over after 2 s (--time-limit)
  [2]
  $ jq '(.milliseconds < 45000), any(.cases[]; .verdict == "notRun")' late.json
  true
  true
  $ for limit in 0 86401 x; do judge --time-limit "$limit" 2>&1 | sed -n 1p; done
  Error: --time-limit must be 1 to 86400 (seconds).
  Error: --time-limit must be 1 to 86400 (seconds).
  Error: The value 'x' is invalid for '--time-limit <time-limit>'
  [64]

# Each fault of the sandbox fails the case about that call

  $ stop_sandbox
  $ failing() {
  >   sandbox --test-clock --faults "$1" && judge --case "$2" | grep "^  $2:"
  >   stop_sandbox
  > }
  $ failing garbage=1,path=jwks jwks
    jwks: the JWK Set is not in order: JWK Set: JSON at byte 0: expected a value; section 3
  $ failing 500=1,path=enrollmentOptions options
    options: answered HTTP 500 with text/plain to an enrollment code; section 4.1 says 200
  $ failing drop-after=1,path=enroll enroll
    enroll: the issuer closed the connection before its answer was complete, asked by POST http://localhost:<port>/v1/enrollments
  $ failing truncated=1,path=fetch fetch-empty
    fetch-empty: the issuer answered with what is not HTTP, asked by GET http://localhost:<port>/v1/authn-requests?wait=0
  $ failing endless=1,path=fetch fetch-empty
    fetch-empty: the issuer answered with more than 2097152 bytes, asked by GET http://localhost:<port>/v1/authn-requests?wait=0
  $ failing reorder=1,path=fetch oldest-first
    oldest-first: listed a newer request before an older one; section 5
  $ failing full-list=1,path=fetch fetch-after
    fetch-after: listed a newer request before an older one; section 5
  $ failing 503=1,path=decision approval
    approval: answered HTTP 503 with text/plain to an approval; section 8 says 200
  $ failing garbage=1,path=decision approval
    approval: the answer to a decision is not in order: decision answer: JSON at byte 0: expected a value; section 10
  $ failing 500=1,path=authenticator enroll
    enroll: answered HTTP 500 with text/plain to GET authenticatorEndpoint; section 4.2 says 200
  $ failing drop-before=1,path=unenroll unenroll
    unenroll: the issuer closed the connection before its answer was complete, asked by DELETE http://localhost:<port>/v1/authenticator
