Purchases drawn as sequence diagrams: oob-issuer show with --diagram and --mermaid.

  $ sandbox
  $ agent
  $ enroll --name payer >/dev/null 2>&1

# A purchase that the programs played is drawn

  $ acs="$(requested --merchant '<script>alert(1)</script> & <!--')"
  $ approve "$acs" 2>/dev/null
  $ issuer show "$acs" --diagram played.svg
  $ sed 's/<[^>]*>/\n/g' played.svg >texts
  $ grep -xE '[AC]Re[qs]|R(Req|Res)|authn request|decision' texts | paste -sd ' '
  AReq ARes CReq CRes authn request decision CReq RReq RRes CRes
  $ grep -o '>&lt;script[^<]*' played.svg
  >&lt;script&gt;alert(1)&lt;/script&gt; &amp; &lt;!-- · USD 1.00
  >&lt;script&gt;alert(1)&lt;/script&gt; &amp; &lt;!-- · USD 1.00

A sandbox that tells one story, of a case file that jq may have changed.

  $ acs=8a5f24a3-7b7a-4d5b-8fd4-1c2f6b0e9a11
  $ mkdir -p told/sandbox/purchases
  $ python3 -u -m http.server --bind 127.0.0.1 --directory told 0 >served 2>&1 </dev/null &
  $ started+=("$!")
  $ until_true grep '^Serving' served
  $ ISSUER="http://localhost:$(sed -n 's/^Serving .* port \([0-9]*\) .*/\1/p' served)"
  $ tell() { jq "${2-.}" "$TESTDIR/../../Fixtures/Cases/diagrams/$1.json" >"told/sandbox/purchases/$acs"; }
  $ show() { issuer show "$acs" "$@"; }

# Mermaid has each message in order with its time

  $ tell app-2.2.0
  $ show --mermaid
  %%{init: {"sequence": {"wrap": true}}}%%
  sequenceDiagram
  participant p0 as authenticator
  participant p1 as ACS
  participant p2 as 3DS Server
  participant p3 as 3DS SDK
  Note over p0,p3: CoffeeHouse2 (Dæmø) #183; USD 1.00<br/>EMV 3-D Secure 2.2.0 #183; app channel #183; authenticated #183; transStatus Y<br/>acsTransID <uuid 1> #183; from 2026-11-23 09#58;31#58;07 UTC<br/>authenticated
  p2->>p1: #43;0 s<br/>AReq<br/>deviceChannel 01, messageCategory 01
  p1-->>p2: ARes<br/>transStatus C, authenticationType 03
  p3->>p1: CReq<br/>threeDSRequestorAppURL https#58;//merchant.example/return#63;transID#61;<uuid 2>
  p1-->>p3: CRes<br/>out of band, acsUiType 04
  p1->>p0: authn request
  p3->>p1: #43;5 s<br/>CReq<br/>no result yet
  p1-->>p3: CRes<br/>out of band, acsUiType 04
  p0->>p1: #43;12 s<br/>decision<br/>approved
  p3->>p1: CReq<br/>back in the merchant#39;s app, oobContinue true
  p1->>p2: RReq<br/>transStatus Y, authenticationType 03, interactionCounter 01
  p2-->>p1: RRes<br/>resultsStatus 01
  p1-->>p3: CRes<br/>transStatus Y

# Days are said and a pause is seen

  $ tell 3ri-decoupled-7-days
  $ show --mermaid | grep -E 'later|Note|23#58;59'
  Note over p0,p2: CoffeeHouse2 (Dæmø) #183; USD 1.00<br/>EMV 3-D Secure 2.2.0 #183; 3RI channel #183; authenticated #183; transStatus Y<br/>acsTransID <uuid 3> #183; from 2026-11-23 09#58;31#58;07 UTC<br/>authenticated
  Note over p0,p2: 1 d 00#58;00#58;00 later
  Note over p0,p2: 1 d 00#58;00#58;00 later
  Note over p0,p2: 1 d 00#58;00#58;00 later
  Note over p0,p2: 1 d 00#58;00#58;00 later
  Note over p0,p2: 1 d 00#58;00#58;00 later
  Note over p0,p2: 1 d 00#58;00#58;00 later
  Note over p0,p2: 23#58;59#58;00 later
  p0->>p1: #43;6 d 23#58;59#58;00<br/>decision<br/>approved
  $ show --diagram days.svg
  $ grep -oE '[^>]* later|\+6 d [^<]*' days.svg
  1 d 00:00:00 later
  1 d 00:00:00 later
  1 d 00:00:00 later
  1 d 00:00:00 later
  1 d 00:00:00 later
  1 d 00:00:00 later
  +6 d 00:00:00
  23:59:00 later
  +6 d 23:59:00

# A file is replaced whole and nothing is left beside it

  $ mkdir alone
  $ echo 'of someone else' >alone/other
  $ ln alone/other alone/purchase.svg
  $ show --diagram alone/purchase.svg
  $ head -c 5 alone/purchase.svg | grep -c '<svg '
  1
  $ cat alone/other
  of someone else
  $ ls -A alone
  other
  purchase.svg

# A picture that cannot be written changes nothing

  $ mkdir directory.svg
  $ show --diagram missing/a.svg
  oob-issuer: --diagram missing: there is no such file or directory; check the path
  [1]
  $ show --diagram directory.svg
  oob-issuer: --diagram directory.svg: rename: Is a directory; check the path and the file system
  [1]
  $ ls -A directory.svg

# Another suffix is refused with what is allowed before anything is asked

  $ echo '{}' >"told/sandbox/purchases/$acs"
  $ for name in purchase.png purchase.txt purchase .svg a.svg/ - -- ./-; do result show --diagram="$name"; done
  [64] Error: --diagram must be a file name that ends in .svg
  [64] Error: --diagram must be a file name that ends in .svg
  [64] Error: --diagram must be a file name that ends in .svg
  [64] Error: --diagram must be a file name that ends in .svg
  [64] Error: --diagram must be a file name that ends in .svg
  [64] Error: --diagram must be a file name that ends in .svg
  [64] Error: --diagram must be a file name that ends in .svg
  [64] Error: --diagram must be a file name that ends in .svg
  $ result show --diagram a.svg --json
  [64] Error: --diagram and --json exclude each other
  $ result show --mermaid --json
  [64] Error: --mermaid and --json exclude each other
  $ result show --diagram a.svg --mermaid
  [64] Error: --diagram and --mermaid exclude each other

# A story that cannot be drawn is told

  $ cannot() { tell app-2.2.0 "$1"; result show --mermaid; }
  $ cannot 'del(.steps)'
  [1] oob-issuer: the answer is not a sandbox's: steps: must be an array
  $ cannot '.steps = 7'
  [1] oob-issuer: the answer is not a sandbox's: steps: must be an array
  $ cannot '.steps[1:] = [7]'
  [1] oob-issuer: the answer is not a sandbox's: steps[1]: must be an object
  $ cannot '.steps[0].at = "noon, or a bit later"'
  [1] oob-issuer: the answer is not a sandbox's: steps[0]: at: must be such as <time>
  $ cannot '.steps[0].to = "mallory\u001b"'
  [1] oob-issuer: the answer is not a sandbox's: steps[0]: to: mallory\u{1B} is no party
  $ cannot '.steps[0].label = 1'
  [1] oob-issuer: the answer is not a sandbox's: steps[0]: /label must be a string
  $ cannot '.steps = [range(1001) as $_ | .steps[0]]'
  [1] oob-issuer: the answer is not a sandbox's: steps: more than 1000

None, and a thousand, are drawn.

  $ tell app-2.2.0 '.steps = []'
  $ show --mermaid
  %%{init: {"sequence": {"wrap": true}}}%%
  sequenceDiagram
  participant p0 as ACS
  Note over p0: CoffeeHouse2 (Dæmø) #183; USD 1.00<br/>EMV 3-D Secure 2.2.0 #183; app channel #183; authenticated #183; transStatus Y<br/>acsTransID <uuid 1><br/>authenticated
  $ tell app-2.2.0 '.steps = [range(1000) as $_ | .steps[0]]'
  $ show --mermaid | grep -c AReq
  1000
