A sandbox that fails on purpose, as a client sees it.

`fetched FAULTS` makes one call under these faults.

  $ fetched() {
  >     sandbox --faults "$1,seed=1"
  >     curl --silent --show-error --max-time 60 --dump-header headers --output body "$ISSUER/jwks.json"
  > }
  $ header() { tr -d '\r' <headers | grep --ignore-case -e '^HTTP' -e "^$1:"; }

# A dropped call has no answer

  $ fetched drop-before=1
  curl: (52) Empty reply from server
  [52]
  $ fetched drop-after=1
  curl: (52) Empty reply from server
  [52]

# A truncated body is shorter than its length says

  $ fetched truncated=1
  curl: (18) transfer closed with 108 bytes remaining to read
  [18]
  $ header content-length
  HTTP/1.1 200 OK
  Content-Length: 215
  $ stat --format=%s body
  107

# An endless body goes on far beyond any answer and never ends

  $ fetched endless=1
  curl: (18) transfer closed with outstanding read data remaining
  [18]
  $ (($(stat --format=%s body) > 8 << 20))

# A client that reads nothing does not keep the sandbox from stopping

  $ sandbox --faults endless=1,seed=1
  $ mkfifo unread
  $ curl --silent --output unread "$ISSUER/jwks.json" & started+=($!)
  $ exec 9<unread
  $ head --bytes=1 <&9 | wc --bytes
  1
  $ kill "$sandbox_pid" && wait "$sandbox_pid"
  $ exec 9<&-

# Garbage says that it is JSON

  $ fetched garbage=1
  $ header content-type
  HTTP/1.1 200 OK
  Content-Type: application/json
  $ jq . body >read 2>&1 || echo 'is no JSON'
  is no JSON

# A busy issuer says when to come again if that was asked for

  $ for faults in 500=1 503=1 503-retry-after=1:7s; do fetched "$faults" && header retry-after; done
  HTTP/1.1 500 Internal Server Error
  HTTP/1.1 503 Service Unavailable
  HTTP/1.1 503 Service Unavailable
  Retry-After: 7

# A slow answer takes its time, and each fault is logged with its number

  $ sandbox --faults slow=1:300ms,500=1,seed=1
  $ curl --silent --output body --write-out '%{http_code} %{time_total}\n' "$ISSUER/jwks.json" >times
  $ awk '{ print $1, ($2 >= 0.3) }' times
  500 1
  $ sed -n 's/.*\(call="jwks 1" .*\)/\1/p' sandbox.log
  call="jwks 1" kind=slow moment=before number=1
  call="jwks 1" kind=500 moment=before number=2

# A specification that is out of order is wrong usage

  $ for faults in '' teapot=1 500=2 slow=0.1; do
  >     oob-issuer serve --listen localhost:0 --faults "$faults" || echo "[$?]"
  > done
  Error: --faults: "" must be NAME=VALUE, such as 500=0.1
  Usage: oob-issuer serve [<options>]
    See 'oob-issuer serve --help' for more information.
  [64]
  Error: --faults: teapot: no such name; allowed are slow, drop-before, drop-after, 500, 503, 503-retry-after, garbage, truncated, endless, duplicate, reorder, full-list, full-list-moving, path, seed
  Usage: oob-issuer serve [<options>]
    See 'oob-issuer serve --help' for more information.
  [64]
  Error: --faults: 500: must be odds of 0 to 1 in at most six decimals, such as 0.1
  Usage: oob-issuer serve [<options>]
    See 'oob-issuer serve --help' for more information.
  [64]
  Error: --faults: slow: must be ODDS:TIME, such as 0.1:2s, with a time of 1ms to 60s
  Usage: oob-issuer serve [<options>]
    See 'oob-issuer serve --help' for more information.
  [64]
