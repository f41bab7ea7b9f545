What the sandbox sends through EMV 3-D Secure in unusual courses. A story has each message without its identifiers.

  $ sandbox --test-clock
  $ agent --test-clock
  $ enroll --authn-type test >/dev/null 2>&1
  $ advance() { oobctl clock advance "$1" && issuer clock advance "$1"; } >/dev/null
  $ app=https://merchant.example/return
  $ messages() { issuer show "$1" | sed -n '/^messages:/,/^[^ ]/ { s/ purchaseDate=[0-9]*//; s/^  //p }'; }

# Seven days of decoupled authentication pass at once and end with one result message

  $ acs="$(purchase --emv deviceChannel=03 --decoupled 10080)"

Each day's request ends undecided at the authenticator, and the issuer has asked again by then.

  $ asked() { issuer show "$acs" --json | jq -c '[.status, (.requests | length)]'; }
  $ for day in 1 2 3 4 5 6; do asked; advance 1d; done
  ["pending",1]
  ["pending",2]
  ["pending",3]
  ["pending",4]
  ["pending",5]
  ["pending",6]
  $ advance 86000s
  $ is_pending() { oobctl fetch; oobctl list --json | grep "$acs"; }
  $ until_true is_pending
  $ approve "$acs"
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ asked
  ["authenticated",7]
  $ messages "$acs"
  AReq messageVersion=2.2.0 deviceChannel=03 messageCategory=01 merchantName=CoffeeHouse2 purchaseAmount=100 purchaseCurrency=840 purchaseExponent=2 threeRIInd=11 threeDSRequestorDecReqInd=Y threeDSRequestorDecMaxTime=10080
  ARes transStatus=D acsChallengeMandated=Y acsDecConInd=Y cardholderInfo=Approve or deny in the authenticator. authenticationType=04
  outOfBand jti=<id 1> result=approved
  RReq messageCategory=01 transStatus=Y authenticationType=04
  RRes resultsStatus=01

# Decoupled authentication ends at the Requestor's time with one result message

  $ acs="$(purchase --emv messageVersion=2.3.1 --decoupled 60)"
  $ advance 30m
  $ asked
  ["pending",1]
  $ advance 30m
  $ messages "$acs"
  AReq messageVersion=2.3.1 deviceChannel=01 messageCategory=01 merchantName=CoffeeHouse2 purchaseAmount=100 purchaseCurrency=840 purchaseExponent=2 threeDSRequestorDecReqInd=Y threeDSRequestorDecMaxTime=00060
  ARes transStatus=D acsChallengeMandated=Y acsDecConInd=Y cardholderInfo={"text":"Approve or deny in the authenticator."} authenticationMethod=["09","12"] threeDSRequestorAppURLInd=Y
  RReq messageCategory=01 transStatus=N authenticationMethod=["09","12"] transStatusReason=24 challengeCancel=03
  RRes resultsStatus=01

# Each return without a result gets the instructions again and is counted

  $ acs="$(requested --app-url "$app")"
  $ issuer creq "$acs" >/dev/null
  $ issuer creq "$acs" >/dev/null
  $ approve "$acs"
  https://merchant.example/return
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y).
  $ messages "$acs"
  AReq messageVersion=2.2.0 deviceChannel=01 messageCategory=01 merchantName=CoffeeHouse2 purchaseAmount=100 purchaseCurrency=840 purchaseExponent=2
  ARes transStatus=C acsChallengeMandated=Y authenticationType=03 acsRenderingType={"acsInterface":"01","acsUiTemplate":"04"}
  CReq sdkCounterStoA=000 threeDSRequestorAppURL=https://merchant.example/return
  CRes acsCounterAtoS=000 acsUiType=04 challengeCompletionInd=N
  CReq sdkCounterStoA=001
  CRes acsCounterAtoS=001 acsUiType=04 challengeCompletionInd=N
  CReq sdkCounterStoA=002
  CRes acsCounterAtoS=002 acsUiType=04 challengeCompletionInd=N
  outOfBand jti=<id 2> result=approved
  CReq sdkCounterStoA=003 oobContinue=true
  RReq messageCategory=01 transStatus=Y authenticationType=03 acsRenderingType={"acsInterface":"01","acsUiTemplate":"04"} interactionCounter=01
  RRes resultsStatus=01
  CRes acsCounterAtoS=003 challengeCompletionInd=Y transStatus=Y
  $ issuer show "$acs" --json | field .challengeRequests
  4

# A CReq after the time-out gets an Erro 402

  $ acs="$(purchase)"
  $ advance 10m
  $ issuer creq "$acs" >/dev/null
  $ messages "$acs" | tail -n 4
  RReq messageCategory=01 transStatus=N authenticationType=03 acsRenderingType={"acsInterface":"01","acsUiTemplate":"04"} interactionCounter=00 transStatusReason=14 challengeCancel=04
  RRes resultsStatus=01
  CReq sdkCounterStoA=001
  Erro errorCode=402 errorComponent=A errorDescription=Transaction timed out errorDetail=the challenge has ended errorMessageType=CReq

# An SDK that comes back after the result fetches it then

  $ acs="$(requested --emv sdk=noReturn)"
  $ approve "$acs"
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ messages "$acs" | tail -n 3
  outOfBand jti=<id 3> result=approved
  RReq messageCategory=01 transStatus=Y authenticationType=03 acsRenderingType={"acsInterface":"01","acsUiTemplate":"04"} interactionCounter=01
  RRes resultsStatus=01
  $ issuer creq "$acs" >/dev/null
  $ messages "$acs" | tail -n 3
  RRes resultsStatus=01
  CReq sdkCounterStoA=001
  CRes acsCounterAtoS=001 challengeCompletionInd=Y transStatus=Y
  $ issuer creq "$acs"
  oob-issuer: the purchase is completed already: authenticated
  [1]

# An issuer's app that does not open is told with oobAppStatus

  $ oob_app=(--emv messageVersion=2.3.1 --emv 'oobAppURL=bank://approve?id=7' --emv oobAppStatus=01)
  $ messages "$(purchase "${oob_app[@]}")" | tail -n +3
  CReq sdkCounterStoA=000 oobAppURLInd=01
  CRes acsCounterAtoS=000 acsUiType=04 challengeCompletionInd=N oobAppURL=bank://approve?id=7
  CReq sdkCounterStoA=001 oobAppStatus=01
  CRes acsCounterAtoS=001 acsUiType=04 challengeCompletionInd=N oobAppURL=bank://approve?id=7

# An invalid CReq ends the authentication with U

  $ acs="$(purchase)"
  $ issuer creq "$acs" --invalid >/dev/null
  $ messages "$acs" | tail -n +5
  CReq sdkCounterStoA=001
  Erro errorCode=203 errorComponent=A errorDescription=Format of one or more data elements is invalid errorDetail=sdkCounterStoA errorMessageType=CReq
  RReq messageCategory=01 transStatus=U acsRenderingType={"acsInterface":"01","acsUiTemplate":"04"} interactionCounter=00 transStatusReason=07 challengeCancel=06
  RRes resultsStatus=01
  $ acs="$(purchase --emv messageVersion=2.3.1)"
  $ issuer creq "$acs" --invalid >/dev/null
  $ messages "$acs" | tail -n +5
  CReq sdkCounterStoA=001
  Erro errorCode=203 errorComponent=A errorDescription=Format of one or more data elements is invalid errorDetail=sdkCounterStoA errorMessageType=CReq
  RReq messageCategory=01 transStatus=U acsRenderingType={"acsInterface":"01","acsUiTemplate":"04","deviceUserInterfaceMode":"01"} interactionCounter=00 transStatusReason=07 challengeCancel=10 challengeErrorReporting={"messageType":"Erro","messageVersion":"2.3.1","threeDSServerTransID":"<uuid 1>","sdkTransID":"<uuid 2>","errorCode":"203","errorComponent":"A","errorDescription":"Format of one or more data elements is invalid","errorDetail":"sdkCounterStoA","errorMessageType":"CReq","acsTransID":"<uuid 3>"}
  RRes resultsStatus=01

# An SDK that waited too long says so with an Erro

  $ acs="$(purchase)"
  $ issuer cancel "$acs" --sdk-timed-out
  <uuid 4> cancelled
  $ messages "$acs" | tail -n +5
  Erro errorCode=402 errorComponent=C errorDescription=Transaction timed out errorDetail=no CRes came in time errorMessageType=CRes
  RReq messageCategory=01 transStatus=N authenticationType=03 acsRenderingType={"acsInterface":"01","acsUiTemplate":"04"} interactionCounter=00 transStatusReason=26 challengeCancel=08
  RRes resultsStatus=01

# A purchase that is listed again stays what its first order made it

  $ again() { post purchases "$(issuer show "$acs" --json | jq ".transaction + $1")"; }
  $ acs="$(purchase --emv sdk=noFirstCReq)"
  $ again '{repeat: 1}' | field .requests
  []
  $ acs="$(purchase --decoupled 60)"
  $ again '{newJti: true}' | field '.requests | length, .[0].exp == .[1].exp'
  2
  true
  $ advance 1h
  $ hour='{threeDSRequestorDecReqInd: "Y", threeDSRequestorDecMaxTime: "00060"}'
  $ again "{newJti: true, emv: $hour}" | field .detail
  the purchase's threeDSRequestorDecMaxTime is over: it takes no request

# A late CReq keeps its oobAppStatus

  $ acs="$(purchase --emv messageVersion=2.3.1 --emv oobAppURL=https://bank.example/oob --expires-in 5)"
  $ advance 60s
  $ post "purchases/$acs/creq" '{"oobAppStatus": "01"}' >/dev/null
  $ messages "$acs" | grep '^CReq' | tail -n 1
  CReq sdkCounterStoA=001 oobAppStatus=01

# An app URL in 2.1.0 is refused with the Erro of an ACS

  $ post purchases '{"threeDSRequestorAppURL": "'"$app"'", "emv": {"messageVersion": "2.1.0"}}' >answer
  $ field .status,.detail <answer
  400
  threeDSRequestorAppURL: a CReq of 2.1.0 does not have it, and an ACS answers it with an Erro 203; 2.2.0 and 2.3.1 have it
  $ jq -c '.erro | [.messageType, .errorCode, .errorComponent, .errorDetail]' answer
  ["Erro","203","A","threeDSRequestorAppURL"]

# What a version or channel does not have is refused with the reason

  $ refused() { post purchases "{\"emv\": $1}" | field '"\(.status) \(.detail)"'; }
  $ refused '{"trustListStatus": "Y"}'
  400 emv/trustListStatus: 2.2.0 has whiteListStatus in its place
  $ refused '{"deviceBindingStatus": "11"}'
  400 emv/deviceBindingStatus: only 2.3.1 has it
  $ refused '{"authenticationMethod": ["07"]}'
  400 emv/authenticationMethod: only 2.3.1, and 2.2.0 with bridging, have it; earlier versions have authenticationType
  $ refused '{"messageVersion": "2.1.0", "whiteListStatus": "Y"}'
  400 emv/whiteListStatus: 2.1.0 does not have it; 2.2.0 does, and 2.3.1 has trustListStatus
  $ refused '{"messageVersion": "2.1.0", "threeDSRequestorDecReqInd": "Y", "threeDSRequestorDecMaxTime": "00001"}'
  400 emv/threeDSRequestorDecReqInd: 2.1.0 has no decoupled authentication; 2.2.0 and 2.3.1 have
  $ refused '{"messageVersion": "2.3.1", "bridging": true}'
  400 emv/bridging: the Bridging extension is one of 2.2.0
  $ refused '{"messageVersion": "2.3.1", "deviceChannel": "02", "oobAppURL": "bank://x"}'
  400 emv/oobAppURL: only the app channel (deviceChannel 01) has it
  $ refused '{"deviceChannel": "03"}'
  400 emv/deviceChannel: in the channel 03 a cardholder is asked decoupled: threeDSRequestorDecReqInd must be Y
  $ refused '{"messageVersion": "2.1.0", "deviceChannel": "03"}'
  400 emv/deviceChannel: in 2.1.0 the channel 03 cannot ask a cardholder: it has no decoupled authentication
  $ refused '{"messageVersion": "2.4.0"}'
  400 emv/messageVersion: must be one of 2.1.0, 2.2.0, 2.3.1
  $ refused '{"messageVersoin": "2.3.1"}'
  400 emv/messageVersoin: no such member; did you mean messageVersion? Allowed are messageVersion, bridging, deviceChannel, messageCategory, threeDSRequestorDecReqInd, threeDSRequestorDecMaxTime, whiteListStatus, trustListStatus, deviceBindingStatus, authenticationMethod, threeDSRequestorAppURLInd, oobAppURL, oobAppLabel, oobContinue, oobAppStatus, sdk
  $ refused '{"threeDSRequestorDecReqInd": "Y"}'
  400 emv/threeDSRequestorDecMaxTime: it must be there if threeDSRequestorDecReqInd is Y
  $ for minutes in 00000 10081 60; do
  >   refused '{"threeDSRequestorDecReqInd": "Y", "threeDSRequestorDecMaxTime": "'"$minutes"'"}'
  > done
  400 emv/threeDSRequestorDecMaxTime: must be five digits, 00001 to 10080 (minutes, at most 7 days)
  400 emv/threeDSRequestorDecMaxTime: must be five digits, 00001 to 10080 (minutes, at most 7 days)
  400 emv/threeDSRequestorDecMaxTime: must be five digits, 00001 to 10080 (minutes, at most 7 days)
  $ refused '{"threeDSRequestorDecMaxTime": "00060"}'
  400 emv/threeDSRequestorDecMaxTime: it takes threeDSRequestorDecReqInd Y
  $ refused '{"messageVersion": "2.3.1", "oobAppURL": "javascript:x"}'
  400 emv/oobAppURL: has a scheme that is not allowed: javascript, data, file, vbscript, blob or about
  $ refused '{"messageVersion": "2.3.1", "oobAppURL": "bank://x", "oobAppLabel": "'"$(printf 'x%.0s' {1..46})"'"}'
  400 emv/oobAppLabel: must have 1 to 45 characters, none of them a control character

# The command names the flag that is wrong

  $ result purchase --decoupled 0
  [64] Error: --decoupled must be 1 to 10080 (minutes, at most 7 days)
  $ result purchase --decoupled 10081
  [64] Error: --decoupled must be 1 to 10080 (minutes, at most 7 days)
  $ result purchase --emv trustListStatus=Y
  [64] Error: --emv trustListStatus: 2.2.0 has whiteListStatus in its place
  $ result purchase --emv messageVersion
  [64] Error: --emv must be NAME=VALUE, such as messageVersion=2.3.1
  $ result purchase --non-payment
  [64] Error: --amount is of a payment, which --non-payment is not
